"""What is read of a host to record it: paths, how much of each file, and commands. A test holds every question of the facts against it.

Contract: standard library only, in the grammar of Python 3.6. In a pattern, `*` and the like list a folder, `<3>` takes its first three
entries, and `{name}` stands for each value of a variable that `recorder` finds out (homes, interpreters, CANN's folders …).
"""

from __future__ import annotations

KIB, MIB = 1024, 1024 * 1024

READ = (
    # pattern, bytes
    ("/proc/self/{status,mountinfo,cgroup,limits}", 4 * MIB),
    ("/proc/{1,self}/cgroup", 64 * KIB),
    ("/proc/{vllm}/{status,limits,cgroup}", 64 * KIB),
    ("/proc/{cpuinfo,meminfo,modules,stat,cmdline,version,uptime,loadavg,mounts,buddyinfo}", 4 * MIB),
    ("/proc/net/{fib_trie,if_inet6}", 4 * MIB),
    ("/proc/sys/vm/*", 4 * KIB),
    ("/proc/sys/kernel/{numa_balancing,pid_max,threads-max,sched_migration_cost_ns,dmesg_restrict,shmmax,shmall,shmmni,core_pattern,osrelease,ostype,sem,hung_task_timeout_secs,panic,randomize_va_space,perf_event_paranoid,sysrq}", 4 * KIB),
    ("/proc/sys/kernel/yama/ptrace_scope", 4 * KIB),
    ("/proc/sys/kernel/random/boot_id", 4 * KIB),
    ("/proc/sys/net/ipv4/{ip_local_port_range,ip_local_reserved_ports,tcp_tw_reuse,tcp_mem,tcp_rmem,tcp_wmem,ip_forward,tcp_max_syn_backlog,tcp_fin_timeout,tcp_keepalive_time}", 4 * KIB),
    ("/proc/sys/net/core/{somaxconn,rmem_max,wmem_max,rmem_default,wmem_default,netdev_max_backlog}", 4 * KIB),
    ("/proc/sys/net/netfilter/nf_conntrack_max", 4 * KIB),
    ("/proc/sys/fs/{file-max,nr_open,file-nr,aio-max-nr}", 4 * KIB),
    ("/proc/sys/fs/inotify/{max_user_instances,max_user_watches}", 4 * KIB),
    ("/sys/kernel/debug/sched/migration_cost_ns", 4 * KIB),
    ("/sys/bus/pci/devices/*/{vendor,device,class,current_link_speed,max_link_speed,current_link_width,max_link_width,numa_node}", KIB),
    ("/sys/class/dmi/id/{sys_vendor,product_name}", 4 * KIB),
    ("/sys/devices/system/cpu/*/cpufreq/scaling_governor", KIB),
    ("/sys/devices/system/node/online", KIB),
    ("/sys/devices/system/cpu/{online,possible}", KIB),
    ("/sys/fs/cgroup/{memory.max,memory.current,cpuset.cpus.effective,cpu.max}", KIB),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", KIB),
    ("/sys/fs/cgroup{cgroup}/{memory.max,memory.limit_in_bytes,memory.current,cpu.max}", KIB),
    ("/sys/fs/cgroup/memory{cgroup}/memory.limit_in_bytes", KIB),
    ("/sys/kernel/mm/transparent_hugepage/{enabled,defrag}", KIB),
    ("/etc/{os-release,passwd,group,environment,sysctl.conf,hccn.conf,ascend_install.info,profile,bashrc,bash.bashrc,ld.so.conf,hostname}", 4 * MIB),
    ("/usr/lib/os-release", 64 * KIB),
    ("/{etc,run,usr/local/lib,usr/lib,lib}/sysctl.d/*.conf", 64 * KIB),
    ("/etc/systemd/system/*.service", 64 * KIB),
    ("/etc/systemd/system/*.service.d/*.conf", 64 * KIB),
    ("/etc/profile.d/*.sh", 64 * KIB),
    ("/etc/default/*", 64 * KIB),
    ("{home}/{.bashrc,.bash_profile,.profile}", 64 * KIB),
    ("{start}", 64 * KIB),
    ("/{usr/lib,lib}/systemd/system/*vllm*.service", 64 * KIB),
    ("{unit}", 64 * KIB),
    ("{ascend}/{driver,firmware}/{version.info,*/version.info}", 64 * KIB),
    ("{ascend}/mindie/*/version.info", 64 * KIB),
    ("{ascend}/mindie/*/*/version.info", 64 * KIB),
    ("{atb}/version.info", 64 * KIB),
    ("{cann}/{version.cfg,version.info}", 64 * KIB),
    ("{cann}/{opp,opp_kernel,runtime,compiler,toolkit,hccl,ops,nnal}/version.info", 64 * KIB),
    ("{cann}/share/info/*/version.info", 64 * KIB),
    ("{cann}/*-linux/*install.info", 64 * KIB),
    ("{cann}/*/ascend_*install.info", 64 * KIB),
    ("{opp}/vendors/config.ini", 64 * KIB),
    ("{prefix}/pyvenv.cfg", 16 * KIB),
    ("/etc/environment", 64 * KIB),
    ("/sys/fs/cgroup/{pids.current,pids.max,pids/pids.current,pids/pids.max}", KIB),
    ("/proc/sys/net/netfilter/nf_conntrack_count", 4 * KIB),
    ("{site}/vllm/model_executor/models/registry.py", 512 * KIB),
    ("{site}/vllm_ascend/models/__init__.py", 512 * KIB),
    ("{site}/*vllm*.dist-info/entry_points.txt", 64 * KIB),
    ("{site}/*.dist-info/direct_url.json", 64 * KIB),
    ("{site}/{vllm,vllm_ascend,torch,torch_npu,~}*.dist-info/{METADATA,WHEEL}", 64 * KIB),
    ("{site}/*.egg-link", 64 * KIB),
    ("{site}/*.egg-info/PKG-INFO", 64 * KIB),
    ("{site}/*.egg-info", 64 * KIB),
    ("{site}/torch/version.py", 16 * KIB),
    ("{site}/torch/share/cmake/Torch/TorchConfig.cmake", 64 * KIB),
    ("{source}/{vllm_ascend,torch,vllm}/{version.py,_build_info.py,_version.py}", 64 * KIB),
    ("{source}/*.egg-info/PKG-INFO", 64 * KIB),
    ("{site}/vllm_ascend/_build_info.py", 16 * KIB),
    ("{site}/{vllm,vllm_ascend}/{envs.py,_version.py}", MIB),
    ("{model}/{config.json,generation_config.json,tokenizer_config.json,quant_model_description*.json,model.safetensors.index.json,*index.json}", 32 * MIB),
    ("{script}", 64 * KIB),
)
"""Text files."""

TAILS = (("/proc/{server}/maps", MIB),)
"""Of these the last bytes."""

RAW = (("{model}/*.safetensors", 2 * MIB), ("{model}/*.json", 64))
"""Bytes of the start: headers of weight files."""

LIST = (
    "/*", "/dev/{davinci*,davinci_manager,devmm_svm,hisi_hdc,vdavinci*,shm}", "/{.dockerenv}", "/run/.containerenv", "/sys/class/net/*", "/sys/bus/pci/devices/*/physfn", "/lib/modules/*/{modules.dep,modules.order}",
    "/lib/modules/*/updates/drv_*.ko*", "/lib/modules/*/{extra,updates/dkms,kernel/drivers/davinci}/drv_*.ko*", "/proc/{vllm}/fd/{1,2}", "/home/*", "{ascend}/{*,ascend-toolkit/*,nnae/*,nnal/*,nnal/atb/*,nnal/*/*,latest/*,cann/*,mindie/*}", "{ascend}/driver/{lib64/*,lib64/*/*,tools/*}",
    "/usr/local/dcmi/libdcmi.so", "{bin}/{npu-smi,hccn_tool,python3,python,vllm,docker,ascend-docker-runtime}", "{path}/{python3,python}", "{ld}/libascendcl.so", "{ld}/*", "{ld}", "{cann}/*", "{cann}/{lib64/*,*-linux/lib64/*,opp/*,lib64,bin/*}", "{cann}/*/*",
    "{opp}/{vendors/*,vendors/*/*}", "{opp}/built-in/op_impl/ai_core/tbe/*", "{opp}/built-in/op_impl/ai_core/tbe/kernel/*", "{opp}/built-in/op_impl/ai_core/tbe/kernel/*/<8>/<8>", "{opp}/built-in/op_impl/ai_core/tbe/kernel/config/*/<8>/<8>",
    "{cann}/python/site-packages/*", "{atb}/*", "{atb}/atb/*/lib/*", "{atb}/atb/cxx_abi_*", "{prefix}/{bin/*,lib/*,lib64/*,conda-meta/*}", "{prefix}/lib*/python3*/{site-packages,dist-packages}", "{prefix}/lib/python3/dist-packages", "{site}/*", "{site}/*.dist-info/{METADATA,WHEEL,direct_url.json}", "{site}/google/protobuf",
    "{site}/vllm_ascend/*", "{site}/vllm_ascend/{lib/*,_cann_ops_custom/vendors/*/op_api/lib/*}", "{source}/*", "{source}/vllm_ascend/*", "{source}/vllm_ascend/{lib/*,_cann_ops_custom/vendors/*/op_api/lib/*}", "{pythonpath}/*", "{model}/*", "{model}/.cache/huggingface/download/*",
    "{starts}/*.y*ml", "{starts}/*.sh", "{starts}/*.py", "/{etc,usr/lib,lib}/systemd/system/*.service", "/etc/systemd/system/*.service.d/*.conf",
    "/usr/local/Ascend/driver/topo", "/usr/lib/*/libavcodec.so*", "/usr/{lib64,local/lib}/libavcodec.so*", "{home}/{.cache,.triton}", "{home}/.cache/vllm", "{home}/.cache/huggingface/hub/models--*/snapshots/*/config.json",
    "/etc/kubeedge/config/edgecore.yaml", "/{etc,lib}/systemd/system/edgecore.service", "{unlink}",
)  # fmt: skip
"""Folders and files that are only looked at."""

START_FOLDERS = ("/opt", "/opt/*", "/workspace", "/data", "/srv", "/etc/vllm")
"""Where starts of vLLM are written, beside homes and working folders; as `doctor.facts.start_files` looks."""
START_NAMES = r"(?i)\.sh$|(?:vllm|serv|infer|deploy|compose|k8s|kube|start|run|launch|ascend|npu|llm|model|pod|main|app|demo|config|api)[^/]*$"
MOST_STARTS = 40
"""Files of one pattern."""

RUN = (
    # words, seconds; {npu} and {chip}: every one that `npu-smi info` lists; {device}: every /dev/davinciN
    (("npu-smi", "info"), 20.0), (("npu-smi", "info", "-m"), 10.0), (("npu-smi", "info", "-t", "board", "-i", "{npu}"), 10.0), (("npu-smi", "info", "-t", "health", "-i", "{npu}", "-c", "{chip}"), 10.0), (("npu-smi", "info", "-t", "health", "-i", "{npu}"), 10.0),
    (("npu-smi", "info", "-t", "ecc", "-i", "{npu}"), 10.0), (("npu-smi", "info", "-t", "board", "-i", "{npu0}", "-c", "0"), 10.0), (("lspci", "-Dn", "-d", "19e5:"), 10.0), (("lscpu",), 10.0), (("uname", "-m"), 10.0), (("uname", "-r"), 10.0), (("getconf", "PAGESIZE"), 10.0),
    (("getconf", "GNU_LIBC_VERSION"), 10.0), (("ldd", "--version"), 10.0), (("df", "-kP", "/", "/dev/shm"), 5.0), (("df", "-kP"), 5.0), (("gcc", "--version"), 5.0), (("clang", "--version"), 5.0), (("cmake", "--version"), 5.0),
    *((("hccn_tool", "-i", "{device}", "-" + what, "-g"), 5.0) for what in ("link", "net_health", "tls", "fec", "ip", "vnic")),
)  # fmt: skip
"""Commands that only ask."""

BUDGET = 120.0
"""Seconds for all commands together."""

LOGS = (
    # pattern, how many of the newest that match it, in all places together
    ("{logs}/debug/plog/*.log", 6),
    ("{logs}/run/plog/*.log", 6),
    ("{logs}/plog/*.log", 6),
    ("{logs}/debug/device-*/*.log", 6),
    ("{logs}/run/device-*/*.log", 3),
    ("/var/log/npu/slog/debug/*/*.log", 6),
    ("/var/log/npu/slog/run/*/*.log", 3),
    ("/var/log/npu/slog/*/*.log", 3),
    ("/var/log/ascend_seclog/ascend_install.log", 1),
    ("/var/log/kern.log", 1),
    ("/var/log/dmesg", 1),
)
"""Logs that are taken where they lie, and no others: those of CANN, of the devices and of the kernel. `{logs}` is $HOME/ascend/log and what
ASCEND_PROCESS_LOG_PATH and ASCEND_WORK_PATH name; the places are those of CANN's log reference (8.5 and 9.0, "Ascend EP" and "Ascend RC").
Its logs of security, and the logs of other daemons (messages, syslog), hold what is nobody's business here."""

KERNEL_LOG = (("dmesg", "-T"), ("dmesg",))
"""The first that answers. With clock times where the program can: a failure of last month is no news."""
KERNEL_LOG_SECONDS = 5.0

MOST_LOGS = 24
MOST_LOG_BYTES = 8 * MIB
"""Of all logs together."""
MOST_OF_ONE_LOG = MIB
"""Of a longer one the start, what stands around its first error, and the end are taken."""

FIRST_ERROR = rb"(?:\b(?:ERROR|CRITICAL|FATAL)\b|Traceback \(most recent call last\)|\bE[A-Z]\d{4}\b|\b[A-Z][A-Za-z]{2,40}Error: |Segmentation fault|Killed|Out of memory|\b[Oo]ops\b|blocked for more than)"
"""What a log's first error begins with, a kernel's included."""
