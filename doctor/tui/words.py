"""The app's own words in both languages; what it shares with the other faces it takes from `doctor.locale`."""

from __future__ import annotations

from collections.abc import Mapping

from doctor.locale import Speak, room_speaker
from doctor.words import Words

WORDS: Mapping[str, Words] = {
    # Columns and states
    "column_state": Words("State", "状态"),
    "column_what": Words("What was found", "发现"),
    "column_rule": Words("Rule", "规则"),
    "column_fix": Words("Fix", "处理"),
    "PASS": Words("pass", "通过"),
    "ERROR": Words("ERROR", "ERROR 未知错误"),
    "new": Words("new", "新"),
    "safe_short": Words("safe", "安全"),
    "ask_short": Words("with care", "需确认"),
    "show_short": Words("by hand", "手工"),
    "no_fix": Words("none", "无"),
    "not_so": Words("not the case: {title}", "未出现：{title}"),
    "unknown_error": Words("No rule explains: {text}", "没有规则能解释：{text}"),
    # Counts
    "count_skipped": Words("{count} skipped", "{count} 跳过"),
    "count_passed": Words("{count} passed", "{count} 通过"),
    "count_broken": Words("{count} broken", "{count} 出错"),
    "count_new": Words("{count} new, {gone} gone", "新增 {count}，消失 {gone}"),
    "checked": Words("checked {time} in {seconds:.1f} s", "{time} 检查，用时 {seconds:.1f} 秒"),
    "checking": Words("checking {done} of {total}  {seconds:.0f} s", "正在检查 {done}/{total}  {seconds:.0f} 秒"),
    "starting": Words("starting", "正在启动"),
    "reading": Words("{megabytes} MB read", "已读 {megabytes} MB"),
    "doing": Words("{what} {seconds:.1f} s", "{what} {seconds:.1f} 秒"),
    "areas": Words("areas:", "领域:"),
    "filtered": Words("filter: {text} ({count} shown)", "筛选：{text}（显示 {count} 条）"),
    # Detail
    "reason": Words("not looked", "未检查"),
    "took": Words("took", "用时"),
    "about": Words("the cause", "所查原因"),
    "looked_clear": Words("The rule looked and found nothing.", "该规则已检查，未发现问题。"),
    "links": Words("links", "参考资料"),
    "follows": Words("follows from", "起因"),
    "all_skipped": Words("why rules could not look", "规则未能检查的原因"),
    "nothing_matches": Words("No row matches the filter.", "没有符合筛选条件的行。"),
    "still_running": Words("Rules are running; what they find appears here.", "规则正在运行，发现的问题会显示在这里。"),
    # Keys
    "key_open": Words("Details", "详情"),
    "key_fold": Words("Fold", "折叠"),
    "key_areas": Words("Only the causes of an area, by its number; 0 for all", "只看某一领域（按编号）；0 为全部"),
    "key_rerun": Words("Run again", "重新检查"),
    "key_rerun_one": Words("Run only this rule again", "只重新运行此规则"),
    "key_filter": Words("Filter", "筛选"),
    "key_logs": Words("Logs", "日志"),
    "key_explain": Words("Explain", "说明"),
    "key_evidence": Words("Evidence", "证据"),
    "key_passed": Words("Passed", "通过项"),
    "key_skipped": Words("Skipped", "跳过项"),
    "key_copy": Words("Copy", "复制"),
    "key_copy_commands": Words("Copy commands", "复制命令"),
    "key_save": Words("Save", "保存"),
    "key_save_svg": Words("Save the screen as SVG", "将屏幕保存为 SVG"),
    "key_language": Words("中文", "English"),
    "key_theme": Words("Next theme", "切换主题"),
    "key_help": Words("Help", "帮助"),
    "key_palette": Words("Search commands, rules and error codes", "搜索命令、规则和错误码"),
    "key_quit": Words("Quit", "退出"),
    "key_back": Words("Back", "返回"),
    "key_next": Words("Next", "下一个"),
    "key_previous": Words("Previous", "上一个"),
    "key_detail_down": Words("Scroll the detail down", "向下滚动详情"),
    "key_detail_up": Words("Scroll the detail up", "向上滚动详情"),
    "key_down": Words("Down", "下移"),
    "key_up": Words("Up", "上移"),
    "key_top": Words("To the top", "到开头"),
    "key_bottom": Words("To the end", "到末尾"),
    "key_diagnose": Words("Diagnose", "诊断"),
    "key_clear": Words("Clear the text", "清空文本"),
    "key_search": Words("Search", "搜索"),
    "key_wrap": Words("Wrap", "折行"),
    # Help
    "help_title": Words("Keys of this screen", "本屏幕的按键"),
    "help_filter": Words(
        "Filter: words must all occur; !word must not; area:NAME and state:fail|warn|note|skip|broken|pass|error choose rows. "
        "Skipped and passed rules are shown as well where state: asks for them.",
        "筛选：各词须全部出现；!词 表示不得出现；area:领域 与 state:fail|warn|note|skip|broken|pass|error 用于选择行。用 state: 指定时，跳过和通过的规则也会显示。",
    ),
    "help_nothing_changes": Words("Nothing here changes the machine.", "这里的任何操作都不会改动机器。"),
    # Notes
    "copied": Words("Sent to the terminal's clipboard: {lines} lines.", "已发送到终端剪贴板：{lines} 行。"),
    "nothing_to_copy": Words("There is nothing to copy here.", "这里没有可复制的内容。"),
    "saved": Words("Saved: {path}", "已保存：{path}"),
    "not_saved": Words("Not saved: {why}", "未能保存：{why}"),
    "not_yet": Words("The rules are still running.", "规则仍在运行。"),
    "failed": Words("The examination ended: {why}", "检查中断：{why}"),
    "theme_is": Words("Theme: {name}", "主题：{name}"),
    "palette_placeholder": Words("A command, a rule, an error code...", "命令、规则或错误码……"),
    "no_source": Words("Not to be opened from here: {source}", "无法在此打开：{source}"),
    "no_evidence": Words("This cause has no evidence that lies in a file.", "该原因没有来自文件的证据。"),
    # Logs
    "logs_title": Words("Diagnose a log or a pasted report", "诊断日志或粘贴的报告"),
    "logs_path": Words("File or folder", "文件或目录"),
    "logs_path_hint": Words("/path/to/vllm.log, then enter", "/path/to/vllm.log，然后回车"),
    "logs_paste": Words("Or paste text here, then ctrl+r", "或在此粘贴文本，然后按 ctrl+r"),
    "logs_kept": Words("{size:,} characters in {lines:,} lines were pasted; their start is shown. ctrl+r diagnoses them.", "已粘贴 {size:,} 个字符，共 {lines:,} 行；仅显示开头。按 ctrl+r 诊断。"),
    "logs_nothing": Words("Name a file or paste a text first.", "请先给出文件或粘贴文本。"),
    "pasted": Words("pasted text", "粘贴的文本"),
    # Evidence
    "evidence_at": Words("{source}  line {line}", "{source}  第 {line} 行"),
    "evidence_search": Words("Search (a regular expression or a text)", "搜索（正则表达式或文本）"),
    "evidence_none": Words("Not found: {text}", "未找到：{text}"),
    "evidence_match": Words("match {number} of {count}", "第 {number}/{count} 处匹配"),
}


def speaker(language: str) -> Speak:
    """speak(key, **values): the app's words, else those that all faces share."""
    return room_speaker(WORDS, language)


__all__ = ["WORDS", "speaker"]
