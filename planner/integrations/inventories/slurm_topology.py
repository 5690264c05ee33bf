"""Racks from topology.conf and topology.yaml of Slurm: blocks of topology/block, leaf switches of topology/tree.

A rack is a whole block, whatever the block sizes. Slurm's own `--segment` is no promise of equal parts: a job
that asked for 12 + 12 + 12 nodes got 17 + 17 + 2 without a word (SchedMD/slurm #225).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from planner.integrations.hostlist import hosts_of
from planner.integrations.inventories.documents import items, text, words
from planner.model import files
from planner.model.errors import InputError

_LINE = re.compile(r"^\s*(SwitchName|BlockName|BlockSizes)\s*=", re.IGNORECASE | re.MULTILINE)
_FIELD = re.compile(r"(\w+)\s*=\s*(\S+)")


@dataclass(frozen=True)
class RackTable:
    """Which rack each node is in."""

    kind: str
    """block or leaf switch"""
    of_node: Mapping[str, str]
    notes: tuple[str, ...] = ()


def read_topology(content: str, where: str, wanted: str | None = None) -> RackTable:
    """Racks of a topology file; of topology.yaml the topology `wanted`, that of the cluster, or the first."""
    if _LINE.search(content):
        return _of_lines(content, where)
    data = files.parse_data(content, where)
    if not isinstance(data, list):
        raise InputError(where, "", "is neither topology.conf, topology.yaml nor JSON of nodes; is it the right file?")
    return _of_yaml(items(data, where, ""), where, wanted)


def _of_lines(content: str, where: str) -> RackTable:
    blocks, leaves, sizes = list[tuple[str, str]](), list[tuple[str, str]](), ""
    for number, line in _joined_lines(content):
        fields = {key.lower(): value for key, value in _FIELD.findall(line)}
        nodes, at = fields.get("nodes", ""), f"line {number}"
        if "blockname" in fields:
            blocks.append((fields["blockname"], text(nodes, where, f"{at}, Nodes")))
        elif "switchname" in fields and nodes:
            leaves.append((fields["switchname"], nodes))
        sizes = fields.get("blocksizes", sizes)
    return _racks(blocks, leaves, [size for size in sizes.split(",") if size], where)


def _joined_lines(content: str) -> Iterator[tuple[int, str]]:
    r"""Lines without comments, with the number of the first one where a \ at the end goes on in the next."""
    first, begun = 1, ""
    for number, line in enumerate(content.splitlines(), 1):
        first = first if begun else number
        part = line.partition("#")[0].rstrip()
        begun += part.removesuffix("\\")
        if not part.endswith("\\"):
            yield first, begun
            begun = ""
    yield first, begun


def _of_yaml(topologies: list[Mapping[str, Any]], where: str, wanted: str | None) -> RackTable:
    chosen = [each for each in topologies if wanted in (None, each.get("topology"))]
    if not chosen:
        known = ", ".join(str(each.get("topology")) for each in topologies)
        raise InputError(where, "topology", f"there is no '{wanted}'; there are {known or 'none'}")
    one = next((each for each in chosen if each.get("cluster_default")), chosen[0])
    name = str(one.get("topology"))
    block, tree = one.get("block"), one.get("tree")
    if isinstance(block, dict):
        listed = items(block.get("blocks"), where, f"{name}.block.blocks")
        return _racks(_pairs(listed, "block", where), [], words(block.get("block_sizes")), where)
    if isinstance(tree, dict):
        listed = [each for each in items(tree.get("switches"), where, f"{name}.tree.switches") if each.get("nodes")]
        return _racks([], _pairs(listed, "switch", where), (), where)
    raise InputError(where, f"{name}", "is neither a block nor a tree; choose another by --topology, or leave it out")


def _pairs(listed: Iterable[Mapping[str, Any]], key: str, where: str) -> list[tuple[str, str]]:
    return [
        (text(each.get(key), where, key), text(each.get("nodes"), where, f"{each.get(key)}.nodes")) for each in listed
    ]


def _racks(blocks: list[tuple[str, str]], leaves: list[tuple[str, str]], sizes: Iterable[str], where: str) -> RackTable:
    """Blocks where there are any, else leaf switches; InputError where a node is in two."""
    kind, pairs = ("block", blocks) if blocks else ("leaf switch", leaves)
    of_node: dict[str, str] = {}
    for rack, hosts in pairs:
        try:
            names = hosts_of(hosts)
        except ValueError as error:
            raise InputError(where, f"{rack}.nodes", str(error)) from None
        for node in names:
            if of_node.setdefault(node, rack) != rack:
                raise InputError(where, f"{rack}.nodes", f"{node} is in {of_node[node]}, too; keep one")
    if not of_node:
        raise InputError(where, "", "names no nodes; write the blocks, or the switches that have nodes")
    listed = [*sizes]
    notes = (f"Slurm plans by block sizes {', '.join(listed)}: racks here are whole blocks",) if listed else ()
    return RackTable(kind, of_node, notes)
