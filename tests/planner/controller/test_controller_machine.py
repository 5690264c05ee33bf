"""Random events against a plain replay of the journal: nothing is held twice, nothing is lost, each state is explained.

CI takes a thirtieth of the events. CONTROLLER_EVENTS=100000 in the environment takes all.
"""

import os
from collections import Counter
from itertools import count

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import (
    run_state_machine_as_test,
)

from tests.planner.controller.machine import RUNS, STEPS, Machine

EVENTS = int(os.environ.get("CONTROLLER_EVENTS", "3300"))
SHARES = {"lightpath": 0.64, "fat_tree": 0.3, "ocs_rail": 0.03, "torus": 0.03}
"""of the events on each fabric; rails and slices are checked by all checks after each start, which is slow"""


@pytest.mark.slow
@pytest.mark.parametrize("fabric", SHARES)
def test_random_events_agree_with_a_plain_replay(fabric: str) -> None:
    machine = type("On", (Machine,), {"fabric": fabric, "events": 0, "counts": Counter()})
    limits = settings(
        max_examples=RUNS[fabric], stateful_step_count=STEPS, deadline=None, database=None,
        suppress_health_check=list(HealthCheck), print_blob=False,
        phases=(Phase.generate,),
    )  # fmt: skip
    for number in count():
        run_state_machine_as_test(seed(number)(machine), settings=limits)  # type: ignore[no-untyped-call]
        if machine.events >= EVENTS * SHARES[fabric]:
            break
    assert machine.counts["refused"] == 0
    if machine.events >= 2000:
        often = {"greedy": 0.12, "preempted": 0.012, "moves": 0.0025, "rescued": 0.00125, "joint": 0.00125}
        least = {name: share * min(machine.events, 4000) for name, share in often.items()}
        assert {name for name, number in least.items() if machine.counts[name] < number} == set(), machine.counts
