"""Shared by the tests of wirings."""

from typing import Any

from costmodel.fabrics import FabricBase
from planner.api import solve
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.plan import Plan
from tests.fabrics import FABRICS
from tests.planner.fabrics.joined_racks.racks import FABRIC as RACKS
from tests.planner.fabrics.joined_racks.racks import FIBERS, SWITCHES
from tests.planner.simulate.grounds import BERT

WITH_SWITCHES = ("ocs_rail", "torus", "sipam")
JOINED = {"lightpath-switches": RACKS | {"upper": SWITCHES}, "lightpath-fibers": RACKS | {"upper": FIBERS}}
"""lightpath racks that light joins"""


def given_of(kind: str) -> dict[str, Any]:
    """A fabric as files have it, by its kind or the name of racks that are joined."""
    return JOINED[kind] if kind in JOINED else FABRICS[kind]


def cluster_of(kind: str) -> Cluster:
    return Cluster.model_validate({"device": "h100-sxm", "fabric": given_of(kind)})


def fabric_of(kind: str) -> FabricBase:
    fabric: FabricBase = cluster_of(kind).fabric
    return fabric


def planned(kind: str, sizes: tuple[int, ...] = (16, 16)) -> tuple[Instance, Plan]:
    """Two jobs of BERT on a small cluster."""
    jobs = [{"name": f"j{i}", "workload": BERT, "accelerators": n} for i, n in enumerate(sizes)]
    cluster = {"device": "h100-sxm", "fabric": FABRICS[kind]}
    instance = Instance.parse({"schema_version": 2, "name": "n", "cluster": cluster, "jobs": jobs})
    plan = solve(instance, policy="best_fit").plan
    assert plan is not None
    return instance, plan
