"""Nodes and topologies as Slurm writes them: JSON of 22.05 recorded from a running one, newer forms by its manual."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner.integrations.inventories.inventory import Inventory, Known
from planner.integrations.inventories.slurm import read_slurm
from planner.model.errors import InputError

OLD: list[dict[str, Any]] = [
    {"name": "n0", "gres": "gpu:4", "state": "idle", "state_flags": [], "reason": "", "slurmd_version": "22.05.8"},
    {"name": "n1", "gres": "gpu:4", "state": "idle", "state_flags": ["DRAIN"], "reason": "gpu xid 79"},
    {"name": "n2", "gres": "gpu:4", "state": "down", "state_flags": ["NOT_RESPONDING"], "reason": "Not responding"},
]
"""rows of `sinfo --json` of Slurm 22.05.8"""
NEW = [
    {"name": "g10", "gres": "gpu:h100:8(S:0-1),nic:2", "state": ["IDLE", "POWERED_DOWN"]},
    {"name": "g9", "gres": "gpu:h100:8(S:0-1)", "state": ["IDLE", "DRAIN"], "reason": "fan"},
    {"name": "g11", "gres": "gpu:h100:8", "state": ["FUTURE"]},
    {"name": "login", "gres": "", "state": ["IDLE"]},
]
"""of `scontrol show nodes --json`"""
BLOCKS = "# racks\nBlockName=b1 Nodes=n[0-1]\nblockname=b2 nodes=n2 # last\nBlockSizes=2,4\n"


def _read(folder: Path, rows: object, topology: str = "") -> Inventory:
    paths = []
    if rows is not None:
        paths.append(folder / "nodes.json")
        paths[0].write_text(json.dumps({"nodes": rows}), "utf-8")
    if topology:
        paths.append(folder / "topology")
        paths[-1].write_text(topology, "utf-8")
    return read_slurm(paths, Known(accelerators=4))


def test_what_slurm_22_05_says(tmp_path: Path) -> None:
    found = _read(tmp_path, OLD, BLOCKS)
    assert [(node.name, node.rack, node.accelerators, node.down) for node in found.nodes] == [
        ("n0", "b1", 4, ""),
        ("n1", "b1", 4, "DRAIN (gpu xid 79)"),
        ("n2", "b2", 4, "DOWN+NOT_RESPONDING (Not responding)"),
    ]
    assert any("block sizes 2, 4" in note for note in found.notes)


def test_what_newer_ones_say(tmp_path: Path) -> None:
    found = _read(tmp_path, [row for row in NEW if row["name"] != "login"])
    assert [(node.name, node.accelerators, node.product, node.down) for node in found.nodes] == [
        ("g9", 8, "h100", "DRAIN (fan)"),
        ("g10", 8, "h100", ""),
    ]
    assert "g11 of state FUTURE: left out" in found.notes


@pytest.mark.parametrize(
    ("gres", "expected"),
    [
        ("gpu:3090:8(S:0-1)", (8, "3090")),
        ("nic:2,gpu:2080ti:4", (4, "2080ti")),
        ("gpu:a100-sxm4-80gb:8", (8, "a100-sxm4-80gb")),
        ("gpu:8", (8, "")),
        ("gpu:a100", (1, "a100")),
        ("gpu", (1, "")),
    ],
)
def test_a_type_of_gpus_may_begin_with_a_digit_and_one_is_not_counted(
    tmp_path: Path, gres: str, expected: tuple[int, str]
) -> None:
    (node,) = _read(tmp_path, [{"name": "n0", "gres": gres, "state": ["IDLE"]}]).nodes
    assert (node.accelerators, node.product) == expected


def test_a_line_of_a_topology_may_go_on_in_the_next(tmp_path: Path) -> None:
    conf = "SwitchName=s1 Nodes=n0,\\\nn1  # both\nSwitchName=s2 \\\n  Nodes=n2\nSwitchName=top Switches=s[1-2]\\"
    found = _read(tmp_path, None, conf)
    assert [(node.name, node.rack) for node in found.nodes] == [("n0", "s1"), ("n1", "s1"), ("n2", "s2")]


def test_nodes_on_one_side_only_are_told(tmp_path: Path) -> None:
    found = _read(tmp_path, OLD, "BlockName=b1 Nodes=n[0-1,7]\n")
    assert [node.name for node in found.nodes] == ["n0", "n1"]
    assert "n2 in no block: left out" in found.notes
    assert "n7 of the topology in no list of nodes: left out" in found.notes
    alone = _read(tmp_path, None, BLOCKS)
    assert [(node.name, node.accelerators) for node in alone.nodes] == [("n0", 4), ("n1", 4), ("n2", 4)]


@pytest.mark.parametrize(
    ("rows", "topology", "said"),
    [
        ([{"name": "a", "gres": "gpu:h100:4,gpu:a100:4"}], "", "several types"),
        ([*OLD, OLD[0]], "", "given twice"),
        ([{"gres": "gpu:1"}], "", "nodes[0].name"),
        ({"a": 1}, "", "not a list"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, rows: object, topology: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        _read(tmp_path, rows, topology)
    assert said in str(error.value)


def test_groups_of_sinfo_are_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "sinfo.json").write_text('{"sinfo": []}', "utf-8")
    with pytest.raises(InputError, match="scontrol show nodes --json"):
        read_slurm([tmp_path / "sinfo.json"], Known())
