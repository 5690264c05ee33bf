"""Accelerators that share no rail are of no use together."""

from planner.explain import explain
from planner.model.result import SolveOptions
from tests.planner.checks.plans import job
from tests.planner.fabrics.ocs_rail.step2_cases import instance_of


def test_devices_that_share_no_rail_are_of_no_use_together() -> None:
    health = {"failed_tiles": ["s0.g0", "s1.g1"]}
    instance = instance_of([job("pair", 2)], servers=2, gpus_per_server=2, health=health)
    told = explain(instance, "pair", options=SolveOptions(workers=1, deterministic_limit=5.0))
    assert told.tag == "impossible alone"
    assert told.statements[0].text == "with 2 accelerators: needs 1 rail free on the same 2 servers"
