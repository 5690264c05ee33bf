"""Shared by the tests of `processes`, `run` and `store`."""

import json
from pathlib import Path

from tests.planner.cli.conftest import fields, written
from tests.planner.simulate.grounds import FABRICS, SMALL_DEMAND

KEYS = {cell: f"key{cell}" for cell in range(6)}
SEEDS = 3
"""of commands on Ray"""


def commands(folder: Path, seeds: int) -> dict[str, tuple[list[object], int]]:
    """Replay and compare on small inputs, and how many cells they have."""
    tree, model = folder / "tree.json", folder / "model.json"
    tree.write_text(json.dumps({"device": "h100-sxm", "fabric": FABRICS["fat_tree"]}), encoding="utf-8")
    model.write_text(SMALL_DEMAND.model_dump_json(), encoding="utf-8")
    instance = written(folder, fields())
    replay = ["replay", model, "--cluster", tree, "--load", "0.6,0.9", "--jobs", 80, "--seeds", seeds]
    compare = [
        "compare", instance, "--policies", "cpsat,first_fit,random_fit", "--grid", "cluster.fabric.fibers=1,2",
        "--seeds", seeds, "--threads", 1, "--no-timings",
    ]  # fmt: skip
    return {"replay": (replay, 4 * seeds), "compare": (compare, 6 * seeds)}
