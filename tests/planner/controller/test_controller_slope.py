"""What one decision costs does not grow with the number of jobs that run."""

import time
from typing import Any

import pytest

from planner.controller import Controller
from tests.fabrics import PORTS
from tests.planner.controller.sites import controller, request

SITES: dict[str, tuple[str, dict[str, Any]]] = {
    "fat_tree": ("fat_tree", {}),
    "memory_ring": ("memory_ring", {}),
    "divided_ports": ("fat_tree", PORTS),
    "ocs_rail": ("ocs_rail", {}),
    "torus": ("torus", {}),
    "sipac": ("sipac", {}),
    "lightpath": ("lightpath", {}),
    "shared waveguides": ("lightpath", {"waveguides": "shared", "fibers": 2}),
    "light over third servers": ("lightpath", {"transit": 1}),
    "sipam": ("sipam", {"switch_ports": 256}),
}
FEW, MANY, PROBES = 20, 80, 60
MOST = 2.0
"""times as much CPU with MANY running jobs: the whole plan of 80 jobs costs four times that of 20 to check, and ten
times a single decision"""


def _fill(controlled: Controller, number: int) -> None:
    first = len(controlled.running)
    controlled.submit_all([request(f"j{i}", 1 + i % 2) for i in range(first, number)])
    assert len(controlled.running) == number


def _cpu_s(controlled: Controller) -> float:
    """Of one job that comes and goes, the least of several."""
    least = float("inf")
    for _ in range(PROBES):
        started = time.process_time_ns()
        controlled.submit(request("probe", 2))
        least = min(least, (time.process_time_ns() - started) / 1e9)
        assert "probe" in controlled.running
        controlled.cancel("probe")
    return least


@pytest.mark.slow
@pytest.mark.parametrize("name", SITES)
def test_cpu_of_a_decision_does_not_grow_with_running_jobs(name: str) -> None:
    kind, changes = SITES[name]
    controlled = controller(kind, {"moves": False}, **(changes | {"servers": 24}))
    _fill(controlled, FEW)
    few_s = _cpu_s(controlled)
    _fill(controlled, MANY)
    assert _cpu_s(controlled) < MOST * few_s
