"""What the room of bundles says, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from doctor.words import Words

WORDS: Mapping[str, Words] = {
    # Help
    "help_bundle": Words("Write what was seen into one masked file for others", "把检查所见脱敏后打包成一个文件，供他人分析"),
    "help_collect": Words("The one-file recorder for a host on which nothing can be installed", "单文件采集脚本，用于无法安装软件的主机"),
    "help_ticket": Words("The text of an issue: versions, hardware, environment, what was found", "生成提交 issue 用的文本：版本、硬件、环境与检查结果"),
    "help_diff": Words("What differs between machines, snapshots and bundles (`live` is this one)", "对比多台机器、快照或诊断包（live 表示本机）"),
    "help_redaction": Words("support: names and addresses become pseudonyms; public: also paths, ports, models; raw: nothing is masked", "support：名称和地址替换为化名；public：另外隐藏路径、端口和模型名；raw：不脱敏"),
    "help_dry_run": Words("Only show what would be in it", "只显示将包含的内容，不写文件"),
    "help_leave_out": Words("Leave an item out, by its name or a pattern (may be given several times)", "不包含某一项，可用名称或通配符（可多次指定）"),
    "help_include": Words("Put a result of a smoke test or a watch in as well (may be given several times)", "一并放入冒烟测试或监测结果文件（可多次指定）"),
    "help_write": Words("Write it to a new FILE instead of standard output", "写入新文件 FILE，而不是标准输出"),
    "help_ticket_format": Words("Markdown for GitHub, or one self-contained HTML page", "GitHub 用的 Markdown，或单个自包含的 HTML 页面"),
    # Bundle
    "preview": Words("What the bundle would hold ({profile}):", "诊断包将包含（{profile}）："),
    "item": Words("item", "项目"),
    "size": Words("size", "大小"),
    "masked": Words("masked", "已脱敏"),
    "lacking": Words("not had", "未取得"),
    "left_out_mark": Words("left out", "不包含"),
    "kind_secret": Words("secrets", "密钥口令"),
    "kind_address": Words("addresses", "地址"),
    "kind_name": Words("names", "主机/用户名"),
    "kind_serial": Words("serial numbers", "序列号"),
    "kind_id": Words("ids", "唯一标识"),
    "kind_prompt": Words("prompts and answers", "提示词与回答"),
    "kind_variable": Words("other variables", "其他环境变量"),
    "kind_path": Words("paths", "路径"),
    "kind_port": Words("ports", "端口"),
    "lines_left_out": Words("{count} lines left out", "省略 {count} 行"),
    "written": Words("{file}: {size}, {members} members, profile {profile}. Read it with: doctor check --from {quoted}", "{file}：{size}，共 {members} 个成员，脱敏级别 {profile}。查看：doctor check --from {quoted}"),
    "unredacted": Words("Nothing in this file is masked: give it to nobody whom you would not let onto the machine.", "该文件未做任何脱敏：请只交给有权登录该机器的人。"),
    "not_masked": Words("Something could not be masked ({what}), so no bundle was written. Leave the item out, or report this.", "有内容无法脱敏（{what}），因此没有写出诊断包。请排除该项或反馈此问题。"),
    "no_such_item": Words("no item is named {name}; doctor bundle --dry-run lists them", "没有名为 {name} 的项目；可用 doctor bundle --dry-run 查看列表"),
    "not_readable": Words("{file}: {why}", "{file}：{why}"),
    "record_is_raw": Words("record keeps everything as it is, passwords included; to pass it on: doctor bundle --from {folder}", "record 会原样保存所有内容（含口令）；要交给他人请用：doctor bundle --from {folder}"),
    "only_logs": Words("{name} holds logs and tables only: use check --from, or unpack it and name its logs: doctor log FOLDER", "{name} 只有日志和表格：请用 check --from，或解包后执行 doctor log 目录"),
    # Diff
    "nothing_differs": Words("Nothing differs in what is known ({same} facts).", "已知内容没有差异（共 {same} 项）。"),
    "differs": Words("{count} differences, {same} facts the same.", "{count} 处差异，{same} 项相同。"),
    "one_side": Words("name two or more things to compare, or one to compare with this machine", "请给出两个或更多对比对象；只给一个时与本机对比"),
    "section_findings": Words("Findings", "检查结果"),
    "section_versions": Words("Versions", "版本"),
    "section_firmware": Words("Firmware per card", "各卡固件"),
    "section_packages": Words("Packages", "Python 包"),
    "section_environment": Words("Environment", "环境变量"),
    "section_settings": Words("Settings", "系统设置"),
    "section_serving": Words("How vLLM is started", "vLLM 启动参数"),
    "section_hardware": Words("Hardware and system", "硬件与系统"),
    "matters": Words("Touches what was found", "与已发现的问题有关"),
    "looked_at": Words("Looked at by rules", "有规则检查"),
    "rest": Words("The rest", "其他"),
    "odd": Words("odd one out", "与多数不同"),
    "rules_touching": Words("rules: {names}", "规则：{names}"),
    "more_rules": Words("and {count} more", "另有 {count} 条"),
    "not_told": Words("{label} does not tell: {sections}", "{label} 未提供：{sections}"),
    # Ticket
    "ticket_title": Words("Environment", "环境信息"),
    "ticket_findings": Words("What doctor found", "doctor 检查结果"),
    "ticket_none": Words("No cause was found.", "未发现原因。"),
    "ticket_summary": Words("Environment as ascend-doctor saw it", "ascend-doctor 采集的环境信息"),
    "ticket_expected": Words("What happened, and what was expected", "问题描述与预期"),
    "ticket_write_here": Words("(write here)", "（请填写）"),
    "unknown_value": Words("not known", "未知"),
    "more_causes": Words("and {count} more", "另有 {count} 项"),
}

__all__ = ["WORDS"]
