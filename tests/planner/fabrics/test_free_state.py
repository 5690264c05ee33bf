"""Patterns to plans without a solver: nothing that first fit finds breaks a rule."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.candidates.expand import expand
from planner.checks import check
from planner.cpsat.solve import plan_of
from planner.fabrics.demand import Demand
from planner.fabrics.free_state import FreeState
from planner.fabrics.lightpath.layouts import layouts
from planner.fabrics.pattern import Choice, route_pattern
from planner.fabrics.problem import Problem
from planner.model.instance import Instance
from tests.oracles.tiny_instances import tiny_crossing, tiny_instance
from tests.planner.fabrics.demand_cases import line, plans_of
from tests.planner.small_racks import rack, serving, single, training


def random_pattern(problem: Problem, rng: Random) -> dict[int, Choice]:
    """Counts of blocks that fit into the healthy devices of one rack, for some of the jobs."""
    cluster = problem.cluster
    fabric = cluster.fabric
    free = {s: len(cluster.lit_slots(s)) for s in range(fabric.num_servers)}
    pattern: dict[int, Choice] = {}
    for j, options in enumerate(problem.options):
        if options.can_stay and options.current is not None:
            pattern[j] = Choice(options.current, True, ())
            for name in getattr(options.job, "devices", ()):
                server, slot = fabric.parse_device(name)
                free[server] -= slot in cluster.lit_slots(server)
    for j, options in enumerate(problem.options):
        if j in pattern or not len(options) or options.must_stay:
            continue
        row = rng.randrange(len(options))
        shape = options.shapes[row]
        rack = rng.randrange(fabric.racks)
        servers = [s for s in free if fabric.links_racks or fabric.rack_of(s) == rack]
        rng.shuffle(servers)
        counts: dict[int, int] = {}
        for _ in range(shape.num_blocks):
            fits = [s for s in servers if free[s] >= shape.block]
            if not fits:
                break
            server = rng.choice(fits)
            free[server] -= shape.block
            counts[server] = counts.get(server, 0) + 1
        else:
            pattern[j] = Choice(row, False, tuple(sorted(counts.items())))
            continue
        for server, count in counts.items():
            free[server] += count * shape.block
    return pattern


def violations(problem: Problem, pattern: dict[int, Choice], most_lit: dict[tuple[int, int], int] | None) -> list[str]:
    """What the check finds in the plan of a pattern, but for jobs that the pattern leaves out."""
    found = route_pattern(problem, pattern, most_lit)
    if found is None:
        return []
    plan = plan_of(problem, found)
    assert set(plan.admitted) == {problem.options[j].job.name for j in pattern}
    _has_counts(problem, pattern, plan.admitted, {a.job: a.devices for a in found})
    for pair, most in (most_lit or {}).items():
        lit = {
            fiber
            for a in found
            for held in a.circuits
            for c in held.circuits
            for fiber in c.fibers
            if fiber.startswith("{}>{}#".format(*map(problem.cluster.fabric.server_name, pair)))
        }
        stays = any(choice.stays for choice in pattern.values())
        assert len(lit) <= most or stays
    return [str(v) for v in check(problem.instance, plan) if v.rule != "admission"]


def _has_counts(
    problem: Problem, pattern: dict[int, Choice], names: tuple[str, ...], devices: dict[str, tuple[str, ...]]
) -> None:
    for j, choice in pattern.items():
        if choice.stays:
            continue
        options = problem.options[j]
        counts: dict[int, int] = {}
        for name in devices[options.job.name]:
            server = problem.cluster.fabric.parse_device(name)[0]
            counts[server] = counts.get(server, 0) + 1
        block = options.shapes[choice.row].block
        assert tuple(sorted((s, n // block) for s, n in counts.items())) == choice.blocks


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(0, 400), st.integers(0, 10**6), st.booleans(), st.booleans())
def test_routed_patterns_pass_the_check(seed: int, choice: int, is_limited: bool, is_crossing: bool) -> None:
    problem = expand(tiny_crossing(seed) if is_crossing else tiny_instance(seed))
    rng = Random(choice)
    pattern = random_pattern(problem, rng)
    fabric = problem.cluster.fabric
    servers = range(fabric.num_servers)
    limits = {(a, b): rng.randint(0, 1) for a in servers for b in servers if fabric.num_fibers(a, b)}
    assert violations(problem, pattern, limits if is_limited else None) == []


@pytest.mark.slow
def test_patterns_of_a_larger_rack_pass_the_check() -> None:
    jobs = [training(f"t{i}", {"min": 2, "max": 6}) for i in range(4)] + [serving("s", [1, 2])]
    problem = expand(Instance.parse(rack(*jobs, servers=4, tiles=6, fibers=2)))
    routed = 0
    for seed in range(25):
        pattern = random_pattern(problem, Random(seed))
        routed += route_pattern(problem, pattern) is not None
        assert violations(problem, pattern, None) == []
    assert routed > 5


def test_singles_take_devices_without_a_port_first() -> None:
    data = rack(serving("x", 1), serving("y", 1), servers=1, health={"failed_ports": ["s0.t2"]})
    problem = expand(Instance.parse(data))
    pattern = {j: Choice(0, False, ((0, 1),)) for j in (0, 1)}
    found = route_pattern(problem, pattern)
    assert found is not None
    assert [a.devices for a in found] == [("s0.t2",), ("s0.t0",)]


def test_a_job_that_does_not_fit_leaves_the_board_as_it_was() -> None:
    problem = expand(Instance.parse(rack(training("x", 4), tiles=3)))
    free = FreeState.empty(problem.cluster)
    options = problem.options[0]
    spanning = next(row for row, shape in enumerate(options.shapes) if shape.has_light and shape.block == 1)
    assert free.assign(options, spanning, [(0, 3), (1, 1)]) is None
    assert [*free.slots.lit] == [(0, 1, 2), (0, 1, 2)]
    assert free.assign(options, spanning, [(0, 4)]) is None


def test_stayers_keep_devices_and_circuits() -> None:
    problem = expand(Instance.parse(rack(serving("x", 1), residents=[single("r", "s0.t1")])))
    current = problem.options[0].current
    assert current is not None
    found = route_pattern(problem, {0: Choice(current, True, ()), 1: Choice(0, False, ((0, 1),))})
    assert found is not None
    assert [(a.devices, a.is_moved) for a in found] == [(("s0.t1",), False), (("s0.t0",), False)]
    # Its own devices are free once it does not stay; the same devices again are no move.
    again = route_pattern(problem, {0: Choice(current, False, ((0, 1),))})
    assert again is not None
    assert again[0].is_moved


def test_layouts_keep_counts_and_also_go_stage_by_stage() -> None:
    shape = Demand(1, 2, 2, 1, (line(1), line(2), plans_of(2)[0]))
    found = [*layouts(shape, [(0, 2), (1, 2)])]
    assert found == [[0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 0, 0], [1, 0, 1, 0]]
    assert [*layouts(shape, [(3, 4)])] == [[3, 3, 3, 3]]


def test_fixed_layout_is_used_alone() -> None:
    problem = expand(Instance.parse(rack(training("x", 4), fibers=1)))
    options = problem.options[0]
    row = next(
        row for row, s in enumerate(options.shapes)
        if s.block == 1 and s.plans[0].kind == "ring" and s.plans[0].wavelengths == (1,)
    )  # fmt: skip
    pattern = {0: Choice(row, False, ((0, 2), (1, 2)))}
    found = route_pattern(problem, pattern, fixed={0: [0, 1, 0, 1]})
    assert found is not None
    assert [name[:2] for name in found[0].devices] == ["s0", "s1", "s0", "s1"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_no_pattern_is_an_empty_plan_or_the_stayers(seed: int) -> None:
    problem = expand(tiny_instance(seed))
    assert route_pattern(problem, {}) == []
