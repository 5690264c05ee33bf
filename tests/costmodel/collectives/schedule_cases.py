"""Shared by the tests of `build`, `interpret`, `plan`, `schedule` and `simulate`."""

import pytest

from costmodel.collectives.build import schedule_of
from costmodel.collectives.family import ALGORITHMS
from costmodel.collectives.interpret import interpret
from costmodel.collectives.plan import CollectivePlan
from costmodel.collectives.simulate import simulate

KINDS = [(collective, name) for collective, names in ALGORITHMS.items() for name in names]
TOLERANCE = 0.0025


def holds(plan: CollectivePlan, message_bytes: float, overlap: bool = False) -> None:
    schedule = schedule_of(plan)
    assert interpret(schedule) == ()
    simulated_s = simulate(schedule, plan.limits, message_bytes, overlap=overlap)
    assert simulated_s == pytest.approx(plan.time_s(message_bytes), rel=TOLERANCE)
    assert schedule.num_calls == (2 if plan.order == "alternating" else 1)
