"""What more hardware on the rails would add."""

from planner.explain.marginal import marginal
from planner.model.result import SolveOptions
from tests.planner.checks.plans import job
from tests.planner.fabrics.ocs_rail.step2_cases import instance_of


def test_what_more_hardware_adds() -> None:
    instance = instance_of([job(name, 6) for name in "abc"], health={"failed_switches": ["q0#0"]})
    gains = {m.change: m.gain for m in marginal(instance, options=SolveOptions(workers=1, deterministic_limit=5.0))}
    assert set(gains) == {"one more switch on each rail", "twice the bandwidth of a port", "repair of q0#0"}
    assert all(gain is not None and gain >= 0 for gain in gains.values())
