"""Repairs of tiny plans after random failures: fewest moved ranks and fewest changed circuits, against enumeration."""

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.fabrics import Lightpath
from planner.checks import check
from planner.cpsat.repair import RepairLimits
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import SolveOptions
from planner.pipeline import solve
from planner.whatif.repair import Repair, repair
from tests.oracles.repair import fewest
from tests.oracles.tiny_even import tiny_even
from tests.oracles.tiny_instances import tiny_crossing, tiny_instance
from tests.seeds import seeds

LIMITS = RepairLimits(deterministic=20.0, workers=1)
NUM_SEEDS = 60
NUM_CROSSINGS = 30
TEMPTING = (108, 121, 229, 251, 267, 272, 295, 380, 428, 531, 589, 594, 595, 671, 677, 693)
"""seeds in which fewest ranks would move to a server that the job uses already"""


def failures(instance: Instance, rng: Random, *, wavelengths: bool = False) -> list[str]:
    """One failure, at times two, of any kind of part; `wavelengths`: often of single lasers and receivers."""
    fabric = instance.cluster.fabric
    devices = [fabric.device_name(s, i) for s in range(fabric.num_servers) for i in range(fabric.devices_per_server)]
    servers = range(fabric.num_servers)
    fibers = [
        f"{fabric.server_name(a)}>{fabric.server_name(b)}#{i}"
        for a in servers for b in servers for i in range(fabric.num_fibers(a, b))
    ]  # fmt: skip
    parts = devices + [f"{device}:{end}" for device in devices for end in ("port", "tx")] + 2 * fibers
    if wavelengths and isinstance(fabric, Lightpath):
        numbers = range(fabric.wavelengths_per_tile)
        parts += [f"{device}:{end}w{w}" for device in devices for end in ("", "rx:") for w in numbers]
    return rng.sample(parts, min(len(parts), rng.choice((1, 1, 1, 2))))


def repaired(seed: int, make: Callable[[int], Instance]) -> tuple[Instance, Plan, Repair] | None:
    """A random instance, a plan of it and its repair; None where there is no plan, or no job may leave a part."""
    rng, instance = Random(seed), make(seed)
    plan = solve(instance, policy=rng.choice(("first_fit", "best_fit", "random_fit")), options=SolveOptions(seed=seed))
    if plan.plan is None or not plan.plan.assignments:
        return None
    failed = failures(instance, rng, wavelengths=make is tiny_crossing)
    try:
        return instance, plan.plan, repair(instance, plan.plan, failed, limits=LIMITS)
    except InputError:
        assert any(not resident.movable for resident in instance.residents)
        return None


def agrees(seed: int, make: Callable[[int], Instance] = tiny_instance) -> None:
    found = repaired(seed, make)
    if found is None:
        return
    _, plan, mended = found
    expected = fewest(mended.instance, plan)
    if mended.plan is not None:
        assert check(mended.instance, mended.plan) == []
    if expected is None:
        assert mended.outcome in ("reduced", "none")
        assert mended.is_impossible
        return
    assert mended.outcome in ("intact", "repaired")
    assert (len(mended.moves), mended.least_moves) == (expected.moves, expected.moves)
    assert not mended.dropped
    assert not mended.resized
    if expected.changes is not None:
        assert mended.changed_circuits == expected.changes
        assert mended.is_fewest


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(NUM_SEEDS))
def test_a_repair_is_the_least_one(seed: int) -> None:
    agrees(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(NUM_CROSSINGS))
def test_a_repair_is_the_least_one_where_light_crosses_servers_or_lasers_fail(seed: int) -> None:
    agrees(seed, tiny_crossing)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(12), *TEMPTING])
def test_a_repair_is_the_least_one_where_each_server_gives_as_many(seed: int) -> None:
    agrees(seed, tiny_even)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_any_repair_is_the_least_one(seed: int) -> None:
    agrees(seed)
