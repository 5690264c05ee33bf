"""Nodes of a Slurm: JSON of `scontrol show nodes` (23.02 and newer) or of `sinfo` (22.05), and its topology files."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from planner.integrations.inventories.documents import count, items, text, words
from planner.integrations.inventories.inventory import Inventory, InventoryNode, Known, some
from planner.integrations.inventories.slurm_topology import RackTable, read_topology
from planner.model import files
from planner.model.errors import InputError

DOWN = {
    "DOWN", "ERROR", "UNKNOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "NOT_RESPONDING", "NO_RESPOND",
    "INVALID_REG", "INVALID", "MAINT", "MAINTENANCE", "REBOOT_ISSUED",
}  # fmt: skip
"""states and flags in which a node starts nothing; one that only sleeps to save power can start at any time"""
FUTURE = "FUTURE"
"""state of a node that is configured for later"""
_GPUS = re.compile(r"(?:^|,)gpu(?::(?P<kind>[\w.-]*[A-Za-z][\w.-]*|[\w.-]+(?=:)))?(?::(?P<number>\d+))?(?=,|$)")
"""a number alone counts GPUs, before another one it is their type; where there is none Slurm has one"""
REMEDY = "write it by `scontrol show nodes --json`, with Slurm 22.05 by `sinfo --json`"


def read_slurm(paths: Sequence[Path], known: Known) -> Inventory:
    """Nodes of all files that list some, racks of the topology file among them; InputError names file and field."""
    rows: list[InventoryNode] = []
    racks: RackTable | None = None
    notes: list[str] = []
    for path in paths:
        content = files.read_text(path, wanted="JSON of nodes, topology.conf or topology.yaml", remedy=REMEDY)
        if content.lstrip().startswith("{"):
            found, said = _nodes(files.parse_text(content, str(path)), str(path), known)
            rows, notes = rows + found, notes + said
        elif racks is not None:
            raise InputError(str(path), "", "is a second topology; give one")
        else:
            racks = read_topology(content, str(path), known.topology)
    where = ", ".join(map(str, paths))
    if racks is None:
        notes.append("no topology: all nodes are one rack")
        return Inventory.of(where, rows, notes)
    if not rows:
        rows = [InventoryNode(name, known.accelerators or 0) for name in racks.of_node]
        notes.append("no JSON of nodes: what is down is not known")
    return placed(where, rows, racks, notes)


def placed(where: str, rows: Sequence[InventoryNode], racks: RackTable, notes: Sequence[str]) -> Inventory:
    """Nodes in the racks of a topology; those of either alone are left out, which is told."""
    named = {row.name for row in rows}
    outside = [row.name for row in rows if row.name not in racks.of_node]
    unknown = [name for name in racks.of_node if name not in named]
    said = [f"{some(outside)} in no {racks.kind}: left out"] if outside else []
    said += [f"{some(unknown)} of the topology in no list of nodes: left out"] if unknown else []
    kept = [replace(row, rack=racks.of_node[row.name]) for row in rows if row.name in racks.of_node]
    return Inventory.of(where, kept, (*notes, *racks.notes, *said))


def _nodes(data: Mapping[str, Any], where: str, known: Known) -> tuple[list[InventoryNode], list[str]]:
    if "nodes" not in data:
        why = "groups nodes as `sinfo` of 23.02 and newer does" if "sinfo" in data else "has no list of nodes"
        raise InputError(where, "nodes", f"{why}; {REMEDY}")
    found, later = [], []
    for index, row in enumerate(items(data["nodes"], where, "nodes")):
        name = text(row.get("name"), where, f"nodes[{index}].name")
        states = _states(row)
        if FUTURE in states:
            later.append(name)
            continue
        number, product = _gpus(str(row.get("gres") or ""), f"nodes[{name}].gres", where)
        down = "+".join(sorted(states & DOWN))
        if down and row.get("reason"):
            down += f" ({row['reason']})"
        found.append(InventoryNode(name, number or known.accelerators or 0, product, "", down))
    return found, [f"{some(later)} of state FUTURE: left out"] if later else []


def _states(row: Mapping[str, Any]) -> set[str]:
    """State and flags: text and a list in 22.05, one list from 23.02 on."""
    return {each.upper() for key in ("state", "state_flags") for each in words(row.get(key))}


def _gpus(gres: str, field: str, where: str) -> tuple[int, str]:
    """Number and type of Gres such as gpu:h100:8(S:0-1),nic:2."""
    found = [(each["kind"] or "", each["number"] or "1") for each in _GPUS.finditer(re.sub(r"\([^)]*\)", "", gres))]
    products = {product for product, _ in found}
    if len(products) > 1:
        raise InputError(where, field, f"'{gres}' has several types of GPUs in a node; servers have one: leave it out")
    return sum(count(number, where, field) for _, number in found), next(iter(products), "")
