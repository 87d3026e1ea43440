"""Words that name nobody, and variables whose values say something about serving.

Contract: standard library only, in the grammar of Python 3.6 (see `pseudonyms`).
"""

from __future__ import annotations

SYSTEM_USERS = frozenset((
    "root", "hwhiaiuser", "hwbaseuser", "hwdmuser", "hwmindie", "daemon", "bin", "sys", "sync", "adm", "lp", "mail", "news", "uucp", "proxy", "nobody",
    "sshd", "systemd", "messagebus", "dbus", "polkitd", "ubuntu", "ec2-user", "centos", "openeuler", "admin", "user", "username", "users", "name",
    "lost+found", "linuxbrew", "none", "null", "id", "group", "all", "any", "the", "a", "an", "ma-user",
))  # fmt: skip
"""Names that every server has: they name nobody. What a rule knows (HwHiAiUser) is among them."""
COMMON_WORDS = frozenset((
    "ascend", "atlas", "npu", "cann", "vllm", "torch", "python", "server", "master", "worker", "node", "head", "model", "models", "data", "test", "work",
    "home", "user", "host", "local", "localhost", "docker", "kubernetes", "pod", "default", "main", "serve", "root", "ray", "rank", "card", "chip",
    "driver", "runtime", "engine", "system", "linux", "ubuntu", "euler", "openeuler", "kylin", "debian", "centos", "container", "image", "train", "infer",
    "inference", "serving", "admin", "service", "public", "private", "share", "shared", "work", "workspace", "opt", "usr", "var", "tmp", "log", "logs",
    "info", "error", "debug", "warning", "qwen", "deepseek", "llama", "huawei", "notebook", "jupyter", "none", "null", "true", "false", "api", "core",
    "dev", "prod", "localdomain", "localhost.localdomain", "ip6-localhost", "ip6-loopback", "ip6-allnodes", "ip6-allrouters", "ip6-localnet",
    "ip6-mcastprefix",
))  # fmt: skip
"""Words of logs: where a host or user is called so, the name is masked where it stands for one, and left elsewhere."""
KEPT_VARIABLES = (
    "PATH", "HOME", "PWD", "USER", "LOGNAME", "SHELL", "LANG", "LC_", "LANGUAGE", "TZ", "HOSTNAME", "VIRTUAL_ENV", "CONDA_", "PYTHON", "LD_", "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_",
    "MALLOC_", "JEMALLOC_", "TORCH", "PYTORCH_", "NPU_", "ASCEND_", "ASDOPS_", "ATB_", "ACL", "CANN_", "HCCL_", "HCCS_", "LCCL_", "LCAL_", "TASK_QUEUE_ENABLE", "COMBINED_ENABLE", "CPU_AFFINITY_CONF", "MULTI_STREAM_", "INF_NAN_",
    "VLLM_", "HF_", "HUGGINGFACE_", "TRANSFORMERS_", "MODELSCOPE_", "USE_MODELSCOPE_", "LMCACHE_", "MOONCAKE_", "MC_", "MINDIE_", "MIES_", "RAY_", "NCCL_", "GLOO_", "TP_SOCKET_", "MASTER_", "RANK", "WORLD_SIZE", "LOCAL_RANK", "NODE_RANK",
    "CUDA_", "TRITON_", "TBE_", "TUNE_BANK_", "BENCHMARK_", "GE_", "DUMP_", "ENABLE_", "DISABLE_", "PROFILING_", "NODE_NAME", "POD_", "KUBERNETES_SERVICE_", "container", "TMPDIR", "XDG_CACHE_HOME", "TOOLCHAIN_HOME", "WORK_PATH", "no_proxy", "NO_PROXY", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy", "TERM", "SHLVL", "_", "OLDPWD", "NVIDIA_VISIBLE_DEVICES", "TOKENIZERS_PARALLELISM", "DP_", "SERVER_", "PIP_", "UV_",
)  # fmt: skip
"""Names, and beginnings that end in "_", of variables whose value says something about serving. The value of any other becomes a stand-in."""


def is_kept(name: str) -> bool:
    """Whether the value of this variable is kept (masked)."""
    beginning = any(name == kept or (kept.endswith("_") and len(kept) > 1 and name.startswith(kept)) for kept in KEPT_VARIABLES)
    return beginning or name.startswith(("PYTHON", "TORCH", "ACL", "RANK", "LMCACHE"))


__all__ = ["COMMON_WORDS", "KEPT_VARIABLES", "SYSTEM_USERS", "is_kept"]
