"""The fleet's own words in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from doctor.words import Words

WORDS: Mapping[str, Words] = {
    "help_fleet": Words(
        "Record every node of an Ansible inventory, judge all of them here, and compare them. With --from, judge snapshots that are here already.",
        "按 Ansible inventory 采集所有节点，在本机统一诊断并相互比较；使用 --from 时直接诊断已有的快照。",
    ),
    "help_inventory": Words("Ansible inventory: a file, a folder, or host names with a comma behind each.", "Ansible inventory：文件、目录，或以逗号结尾的主机名列表。"),
    "help_from": Words("A folder of snapshots and bundles, or single ones; may be repeated.", "存放快照与 bundle 的目录，或单个文件；可重复。"),
    "help_keep": Words("Keep the snapshots in this folder (a new or empty one).", "将快照保留在该目录（新目录或空目录）。"),
    "help_limit": Words("Only these hosts, as a pattern of Ansible.", "仅这些主机（Ansible 的 pattern）。"),
    "help_forks": Words("Nodes that are recorded at once.", "同时采集的节点数。"),
    "help_become": Words("Record as root (Ansible's --become); more can be read then.", "以 root 采集（Ansible 的 --become），可读取更多信息。"),
    "help_ask": Words("Ask for the password of --become.", "询问 --become 的密码。"),
    "help_log": Words("Logs on the nodes to bring along, bounded; a path or glob; may be repeated.", "同时取回节点上的日志（有大小上限）；路径或通配符；可重复。"),
    "help_mask": Words("How much is masked before anything leaves a node.", "数据离开节点前的脱敏程度。"),
    "need_one": Words("Name an inventory, or snapshots with --from.", "请给出 inventory，或用 --from 给出快照。"),
    "not_both": Words("An inventory and --from were given: name one of them.", "同时给出了 inventory 和 --from，请只用一个。"),
    "no_ansible": Words(
        "ansible-playbook was not found. Install it with: pip install 'ascend-doctor[fleet]', or put ansible-core on PATH.",
        "找不到 ansible-playbook。请执行 pip install 'ascend-doctor[fleet]'，或将 ansible-core 加入 PATH。",
    ),
    "no_inventory": Words("{name}: there is no such inventory", "{name}：没有这个 inventory"),
    "no_snapshots": Words("{name}: there is no snapshot and no bundle in it", "{name}：其中没有快照或 bundle"),
    "no_hosts": Words("The inventory names no host{why}", "inventory 中没有主机{why}"),
    "ansible_failed": Words("ansible-playbook ended with {code}: {why}", "ansible-playbook 以 {code} 退出：{why}"),
    "not_answered": Words("Ansible said nothing of this node", "Ansible 没有返回该节点的结果"),
    "keep_not_empty": Words("{folder} is not empty: name a new folder for the snapshots", "{folder} 不为空，请为快照指定新目录"),
    "recording": Words("recording {name}: {state}", "采集 {name}：{state}"),
    "recorded": Words("recorded", "完成"),
    "judging": Words("judged {done} of {total}", "已诊断 {done}/{total}"),
    "summary": Words("{judged} of {total} nodes judged", "{total} 个节点，已诊断 {judged} 个"),
    "unreachable": Words("unreachable", "不可达"),
    "failed": Words("not recorded", "采集失败"),
    "unreadable": Words("not readable", "无法读取"),
    "between": Words("Only between nodes", "仅在节点之间可见"),
    "common": Words("Causes", "原因"),
    "on_all": Words("on all nodes", "所有节点"),
    "on_some": Words("on {count}: {names}", "{count} 个节点：{names}"),
    "odd": Words("The odd ones out", "与多数节点不同"),
    "usual": Words("most have {value}", "多数为 {value}"),
    "first": Words("Who failed first", "最先出错的节点"),
    "no_time": Words("without a time", "无时间"),
    "rank": Words("rank {rank}", "rank {rank}"),
    "nodes": Words("Nodes", "节点"),
    "node_clear": Words("nothing found", "未发现问题"),
    "and_more": Words("and {count} more", "另有 {count} 项"),
    "end": Words("{fail} FAIL, {warn} WARN, {note} NOTE on {judged} nodes; {between} between them; {missing} nodes missing; {seconds:.1f} s.", "{judged} 个节点共 {fail} FAIL、{warn} WARN、{note} NOTE；节点间 {between} 项；缺失节点 {missing} 个；用时 {seconds:.1f} 秒。"),
    "package_differs": Words("The nodes have different versions of <name>.", "各节点的 <name> 版本不同。"),
    "variable_differs": Words("The nodes have different values of <name>.", "各节点的 <name> 取值不同。"),
    "address_twice": Words("Several NPUs have the same address.", "多个 NPU 使用了相同的地址。"),
    "tables_differ": Words("The nodes do not have the same rank table.", "各节点的 rank table 不一致。"),
    "table_strange": Words("A rank table names addresses that no NPU of these nodes has.", "rank table 中的地址不属于这些节点的任何 NPU。"),
    "clocks_differ": Words("The clocks of these nodes are wrong (seconds against this machine).", "这些节点的时钟不准（相对本机的秒数）。"),
}

__all__ = ["WORDS"]
