"""Shared by the tests of `rule_rails`."""

from typing import Any

from costmodel.parallelism.configuration import Collective, Configuration
from planner.model.instance import Instance
from planner.model.plan import Plan
from tests.planner.checks.plans import (
    assign,
    collective,
    held,
    job,
    plan_of,
)

RAILS: dict[str, Any] = {
    "kind": "ocs_rail", "servers": 4, "gpus_per_server": 3, "nvlink_bandwidth": "400 GB/s", "nvlink_alpha": "1 us",
    "nvlink_energy": "10 pJ/B", "switches": 3, "ports": 4, "port_bandwidth": "1 GB/s", "port_energy": "20 pJ/B",
    "alpha": "2 us", "reconfiguration": "20 ms",
}  # fmt: skip


def rails(*jobs: dict[str, Any], health: dict[str, Any] | None = None, residents: Any = (), **fabric: Any) -> Instance:
    cluster = {"device": "h100-sxm", "fabric": RAILS | fabric, "health": health or {}}
    data = {"schema_version": 2, "name": "tiny", "cluster": cluster, "jobs": list(jobs), "residents": list(residents)}
    return Instance.parse(data)


def ring() -> tuple[Instance, Plan]:
    """Three data ranks on rail 1, two switches wide."""
    instance = rails(job("ring", 3))
    circuits = held("data", "s0.g1 s1.g1 0,1", "s1.g1 s3.g1 0,1", "s3.g1 s0.g1 0,1")
    configuration = Configuration(data=3, data_collective=collective("ring", 2))
    return instance, plan_of(instance, assign("ring", configuration, "s0.g1 s1.g1 s3.g1", circuits))


def in_turns(**changes: Any) -> tuple[Instance, Plan]:
    """Two stages and two replicas across servers, whose circuits take turns at all three ports of each rank."""
    instance = rails(job("turns", 4), switching="phases")
    pairs = Collective(kind="exchange", radices=(2,), held=(1,), wavelengths=(3,))
    wide = {"pipeline_collective": collective("line", 3), "data_collective": pairs}
    configuration = Configuration(pipeline=2, data=2, turns=("pipeline", "data"), **wide)
    circuits = (
        held("pipeline", *(f"s{a}.g1 s{b}.g1 0,1,2" for a, b in ((0, 1), (1, 0), (2, 3), (3, 2)))),
        held("data", *(f"s{a}.g1 s{b}.g1 0,1,2" for a, b in ((0, 2), (2, 0), (1, 3), (3, 1)))),
    )
    named = tuple(each.model_copy(update={"phase": changes.get(each.dimension, each.dimension)}) for each in circuits)
    return instance, plan_of(instance, assign("turns", configuration, "s0.g1 s1.g1 s2.g1 s3.g1", *named))
