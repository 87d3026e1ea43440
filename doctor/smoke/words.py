"""The smoke test's own words in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from doctor.locale import Speak, room_speaker
from doctor.words import Words

WORDS: Mapping[str, Words] = {
    # Help
    "help_smoke": Words("Prove step by step that this machine can infer, and name the cause where it cannot.", "逐步验证本机能否推理；不能时指出原因。"),
    "help_level": Words("1 device only (under 30 s), 2 up to the engine, 3 graph mode, tensor parallel and a server too.", "1 仅设备（30 秒内），2 直到推理引擎，3 再加图模式、张量并行与服务。"),
    "help_device": Words("What is tested; auto: an NPU where there is one or torch_npu is installed.", "测试对象；auto：有 NPU 或已安装 torch_npu 时为 NPU。"),
    "help_cards": Words("Cards as in ASCEND_RT_VISIBLE_DEVICES, \"0,1\" (default: all that are visible and free).", "卡号，与 ASCEND_RT_VISIBLE_DEVICES 相同，如 \"0,1\"（默认：所有可见且空闲的卡）。"),
    "help_model_path": Words("Your model, served with your own vLLM flags after --.", "您的模型；-- 之后写您自己的 vLLM 参数。"),
    "help_url": Words("A server that runs already (default: the vLLM server found here).", "已在运行的服务（默认：在本机发现的 vLLM 服务）。"),
    "help_load": Words("Put the server under load with N requests at once.", "以 N 个并发请求对服务加压。"),
    "help_load_seconds": Words("How long the load lasts.", "加压时长（秒）。"),
    "help_key_env": Words("Variable that holds the server's API key (default: VLLM_API_KEY).", "保存服务 API key 的环境变量（默认 VLLM_API_KEY）。"),
    "help_key_file": Words("File that holds the server's API key.", "保存服务 API key 的文件。"),
    "help_use_busy": Words("Use cards that others use.", "允许使用已被占用的卡。"),
    "help_plan": Words("Only say what would be done and what it occupies.", "只说明将做什么、占用什么，不执行。"),
    "help_smoke_report": Words("Print a text to send to the project after a run: no host names, no addresses, no paths of yours.", "输出可发给项目的文本：不含主机名、地址和您的路径。"),
    # Refusals
    "refused_no_python": Words("No Python interpreter was found to test. Name the one in which vLLM is installed: --python PATH.", "未找到可测试的 Python 解释器。请用 --python PATH 指定安装了 vLLM 的解释器。"),
    "refused_no_card": Words("There is no card {cards} here; npu-smi shows {there}.", "没有卡 {cards}；npu-smi 显示的卡为 {there}。"),
    "refused_busy": Words("Card {card} is in use by {user}. Free cards: {free}. Choose with --cards, or say --use-busy to share it.", "卡 {card} 正被 {user} 使用。空闲的卡：{free}。请用 --cards 另选，或用 --use-busy 共用。"),
    "refused_no_python_file": Words("{python} is no program that can be run. Name the interpreter in which vLLM is installed.", "{python} 不是可执行程序。请指定安装了 vLLM 的解释器。"),
    "refused_cards": Words("--cards takes numbers: \"0,1\", each once.", "--cards 需要卡号，如 \"0,1\"，不可重复。"),
    "refused_flags": Words("What stands after -- are flags for vLLM: name the model with --model PATH.", "-- 之后是 vLLM 参数：请用 --model PATH 指定模型。"),
    "refused_key": Words("The key cannot be read from {where}.", "无法从 {where} 读取 key。"),
    "refused_key_flag": Words("A key on the command line can be seen by everyone on this machine. Put it into a variable (--key-env) or a file (--key-file).", "命令行中的 key 会被本机所有人看到。请放入环境变量（--key-env）或文件（--key-file）。"),
    "refused_quotes": Words("The flags have a quote that does not end.", "参数中有未闭合的引号。"),
    "refused_load": Words("The load is a number of requests at once, at most {most}; 0 for none.", "并发须为不超过 {most} 的整数；0 表示不加压。"),
    "refused_load_seconds": Words("A load lasts 1 to {most} seconds.", "加压时间须在 1 至 {most} 秒之间。"),
    "refused_url": Words("{url} is no address of a server; it looks like http://127.0.0.1:8000.", "{url} 不是服务地址；形如 http://127.0.0.1:8000。"),
    # Steps
    "step_device": Words("device", "设备"),
    "step_operators": Words("operators", "算子"),
    "step_cards": Words("cards together", "多卡通信"),
    "step_engine": Words("engine", "推理引擎"),
    "step_model": Words("model behind a server", "模型与服务"),
    "step_server": Words("running server", "运行中的服务"),
    # Reasons
    "skip_level": Words("from level {level} on", "从级别 {level} 起"),
    "skip_one_card": Words("only one card is used", "只使用一张卡"),
    "skip_no_model": Words("no --model", "未给出 --model"),
    "skip_no_server": Words("no server runs here, and no --url", "本机没有运行中的服务，也未给出 --url"),
    "skip_busy": Words("card {card} is in use by {user}", "卡 {card} 正被 {user} 使用"),
    "skip_after": Words("{step} did not pass", "{step} 未通过"),
    "skip_stopped": Words("stopped before it", "在此之前已停止"),
    # States and endings
    "passed": Words("pass", "通过"),
    "failed": Words("FAIL", "FAIL 失败"),
    "skipped": Words("SKIP", "SKIP 跳过"),
    "stopped": Words("STOP", "STOP 已停止"),
    "how_finished": Words("a check failed", "检查未通过"),
    "how_failed": Words("ended with exit code {exit} in: {stage}", "退出码 {exit}，阶段：{stage}"),
    "how_crashed": Words("crashed with {signal} in: {stage}", "因 {signal} 崩溃，阶段：{stage}"),
    "how_hung": Words("hung for more than {seconds:.0f} s in: {stage}", "超过 {seconds:.0f} 秒无结果（挂起），阶段：{stage}"),
    "how_stopped": Words("stopped in: {stage}", "已停止，阶段：{stage}"),
    "how_not started": Words("could not be started", "无法启动"),
    # The plan
    "plan_head": Words("Smoke test, level {level}, on {device}, with {python}", "冒烟测试，级别 {level}，对象 {device}，解释器 {python}"),
    "plan_steps": Words("steps: {steps}", "步骤：{steps}"),
    "plan_left_out": Words("left out: {step} ({why})", "不执行：{step}（{why}）"),
    "plan_takes": Words("takes about {usual}, {deadline} at the most; ctrl+c ends it at once", "约 {usual}，最长 {deadline}；ctrl+c 可立即停止"),
    "plan_cards": Words("occupies cards {cards}", "占用卡 {cards}"),
    "plan_card_memory": Words("up to {mb} MB of memory on each card", "每卡最多 {mb} MB 显存"),
    "plan_host_memory": Words("up to {mb} MB of host memory, {cpus} CPU cores", "最多 {mb} MB 主机内存，{cpus} 个 CPU 核"),
    "plan_model_memory": Words("memory as your model and flags take it", "内存与显存取决于您的模型与参数"),
    "plan_npu_untested": Words("note: this test has not yet run on a real NPU; please send back what `doctor smoke --report` prints", "注意：本测试尚未在真实 NPU 上运行过；请将 `doctor smoke --report` 的输出发给项目"),
    "minutes": Words("{count:.0f} min", "{count:.0f} 分钟"),
    "seconds": Words("{count:.0f} s", "{count:.0f} 秒"),
    # Results
    "hint_python": Words("There is no {module} in this interpreter. Name the one in which vLLM is installed: --python PATH.", "该解释器中没有 {module}。请用 --python PATH 指定安装了 vLLM 的解释器。"),
    "cause": Words("cause", "原因"),
    "no_cause": Words("no rule explains it", "没有规则能解释"),
    "seen": Words("seen", "证据"),
    "first_error": Words("first error", "首个错误"),
    "todo": Words("what to do", "处理"),
    "check_failed": Words("not so", "不符"),
    "should": Words("indication: {expected:g}", "参考值 {expected:g}"),
    "last_lines": Words("last lines", "末尾输出"),
    "left_nothing": Words("Left behind: nothing (looked for processes, shared memory, ports, files{cards}).", "未留下任何东西（已检查进程、共享内存、端口、文件{cards}）。"),
    "and_cards": Words(", memory of the cards", "、卡上显存"),
    "left_something": Words("Left behind: {what}", "有残留：{what}"),
    "left_removed": Words("Freed shared memory that libraries had left: {what}", "已释放程序库残留的共享内存：{what}"),
    "verdict_passed": Words("{passed} passed, {skipped} skipped: what was tried works.", "{passed} 通过，{skipped} 跳过：已测试部分正常。"),
    "verdict_failed": Words("{failed} failed, {passed} passed, {skipped} skipped.", "{failed} 失败，{passed} 通过，{skipped} 跳过。"),
    "verdict_stopped": Words("Stopped.", "已停止。"),
    "report_head": Words(
        "Report of a smoke test, to paste into an issue of the project. Secrets, names, addresses, your own paths and models are masked; look through it before you send it.",
        "冒烟测试报告，可直接粘贴到项目的 issue 中。密钥、主机名与用户名、地址以及您自己的路径和模型名已脱敏；发送前请自行查看。",
    ),
}


def speaker(language: str) -> Speak:
    """speak(key, **values) of this room."""
    return room_speaker(WORDS, language)
