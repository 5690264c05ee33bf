"""Jobs on slices: solves against exhaustive search, residents, step 2, policies and what messages say."""

from itertools import product
from math import prod
from random import Random
from typing import Any

import pytest

from costmodel.fabrics import SlicedFabric
from planner.candidates.expand import expand
from planner.checks import check
from planner.explain.capacity import why_unlisted
from planner.fabrics.free_state import Choice
from planner.fabrics.problem import Problem
from planner.fabrics.slices import step1_variables
from planner.fabrics.slices.free_slices import FreeSlices, as_before
from planner.fabrics.slices.shortages import SliceShortages
from planner.fabrics.slices.step2 import SlicedStepTwo
from planner.formulation.step_two import StepTwoLimits
from planner.model.edit import as_residents
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.result import SolveOptions, Status
from planner.pipeline import solve
from planner.whatif.failures import damaged, parse_failures
from planner.whatif.repair import repair
from planner.whatif.repair.damaged_plan import DamagedPlan

SHAPE = {"layers": 4, "hidden": 64, "heads": 4, "kv_heads": 4, "head_dim": 16, "ffn": 128, "vocabulary": 256}
TRAINING = {"kind": "transformer_training", "model": SHAPE, "global_batch": 24, "sequence": 32, "micro_batch": 1}
SERVING = {
    "kind": "transformer_inference", "model": SHAPE, "concurrency": 8, "input_tokens": 16, "output_tokens": 16,
}  # fmt: skip
TORUS: dict[str, Any] = {
    "kind": "torus", "servers": 1, "sides": [3, 2, 2], "link_bandwidth": "1 GB/s", "alpha": "1 us",
    "link_energy": "10 pJ/B",
}  # fmt: skip
CUBES = TORUS | {"servers": 3, "sides": [2, 2, 2], "switches": {"ports": 8, "energy": "20 pJ/B"}}
SIPAC: dict[str, Any] = {
    "kind": "sipac", "servers": 1, "radix": 2, "digits": 4, "bandwidth": "6 GB/s", "alpha": "1 us", "energy": "1 pJ/B",
}  # fmt: skip
OPTIONS = SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=60.0)
Fields = dict[str, Any]
Places = list[frozenset[tuple[int, int]]]


def sliced(fabric: Fields, *jobs: Fields, health: Fields | None = None, residents: Any = (), **more: Any) -> Instance:
    cluster = {"device": "h100-sxm", "fabric": fabric, "health": health or {}}
    data = {"schema_version": 1, "name": "tiny", "cluster": cluster, "jobs": list(jobs), "residents": residents}
    return Instance.parse(data | more)


def job(name: str, accelerators: Any, workload: Fields = TRAINING, **fields: Any) -> Fields:
    return {"name": name, "workload": workload, "accelerators": accelerators, **fields}


def parts_in(instance: Instance, box: tuple[int, ...]) -> Places:
    """Every set of working devices on which one part may lie, from the rules."""
    cluster, fabric = instance.cluster, instance.cluster.fabric
    assert isinstance(fabric, SlicedFabric)
    if fabric.kind == "sipac":
        return [frozenset(p) for p in _subcubes(instance, len(box)) if _works(instance, p)]
    sides = fabric.sides
    failed = set(cluster.health.failed_switches)
    if any(extent > side for extent, side in zip(box, sides, strict=True)):
        count = prod(box) // prod(sides)
        whole = [frozenset(p) for p in _boxes(instance, sides, failed) if _works(instance, p)]
        return [frozenset().union(*some) for some in product(whole, repeat=count) if len(set(some)) == count]
    return [frozenset(p) for p in _boxes(instance, box, failed) if _works(instance, p)]


def _works(instance: Instance, places: set[tuple[int, int]]) -> bool:
    return not places & (instance.cluster.failed_devices | instance.cluster.dark_devices)


def _boxes(instance: Instance, box: tuple[int, ...], failed: set[str]) -> list[set[tuple[int, int]]]:
    fabric = instance.cluster.fabric
    assert fabric.kind == "torus"
    sides, found = fabric.sides, []
    for server, origin in product(range(fabric.num_servers), product(*map(range, sides))):
        at = [[(o + i) % s for i in range(e)] for o, e, s in zip(origin, box, sides, strict=True)]
        if any(e == s and o for o, e, s in zip(origin, box, sides, strict=True)):
            continue
        if fabric.switches and any(o + e > s for o, e, s in zip(origin, box, sides, strict=True)):
            continue
        chips = {*product(*at)}
        needed = {
            f"{'xyz'[axis]}{rest[0] * (sides[1] if axis == 2 else sides[2]) + rest[1]}"
            for axis in range(3)
            if fabric.switches and box[axis] == sides[axis]
            for chip in chips
            for rest in [[c for i, c in enumerate(chip) if i != axis]]
        }
        if not needed & failed:
            found.append({(server, (x * sides[1] + y) * sides[2] + z) for x, y, z in chips})
    return found


def _subcubes(instance: Instance, num_free: int) -> list[set[tuple[int, int]]]:
    fabric = instance.cluster.fabric
    assert fabric.kind == "sipac"
    slots = range(fabric.devices_per_server)
    digits = {s: tuple(s // fabric.radix**d % fabric.radix for d in range(fabric.digits)) for s in slots}
    found: list[set[tuple[int, int]]] = []
    for free in product((False, True), repeat=fabric.digits):
        if sum(free) == num_free:
            groups: dict[object, set[tuple[int, int]]] = {}
            for server, slot in product(range(fabric.num_servers), slots):
                rest = tuple(v for v, f in zip(digits[slot], free, strict=True) if not f)
                groups.setdefault((server, rest), set()).add((server, slot))
            found += groups.values()
    return found


def best_value(instance: Instance) -> float:
    """Most value of any plan, by trying all slices for all rows of all jobs."""
    problem = expand(instance, prune=False)
    rows: list[list[tuple[float, tuple[int, ...], int, int]]] = []
    for options in problem.options:
        best: dict[tuple[tuple[int, ...], int, int], float] = {}
        for row in range(len(options)):
            configuration = options.candidates.configuration(row)
            box = box_of(instance, configuration)
            parts = configuration.num_devices // prod(box)
            together = max(1, configuration.block // prod(box))
            key = box, parts, together
            best[key] = max(best.get(key, 0.0), float(options.value[row]))
        rows.append([(value, *key) for key, value in best.items()] + [(0.0, (), 0, 1)])
    combinations = sorted(product(*rows), key=lambda c: -sum(choice[0] for choice in c))
    places: dict[tuple[int, ...], Places] = {}
    for combination in combinations:
        sizes = sum(prod(box) * parts for _, box, parts, _ in combination)
        if sizes <= instance.cluster.num_healthy and _fits(instance, places, [*combination], frozenset()):
            return sum(choice[0] for choice in combination)
    raise AssertionError("nothing at all is a plan")


def box_of(instance: Instance, configuration: Any) -> tuple[int, ...]:
    radices = [getattr(configuration, f"{d}_collective").radices for d in ("tensor", "pipeline", "data")]
    if instance.cluster.fabric.kind == "sipac":
        return tuple(r for each in radices for r in each)
    return tuple(prod((each or (1, 1, 1))[axis] for each in radices) for axis in range(3))


def _fits(instance: Instance, known: dict[tuple[int, ...], Places], choices: list[Any], used: frozenset[Any]) -> bool:
    """Whether all parts find a place, those of one block on one server."""
    choices = [choice for choice in choices if choice[2]]
    if not choices:
        return True
    (value, box, parts, together), *rest = sorted(choices, key=lambda c: -prod(c[1]))
    if prod(box) == 1:
        free = [d for d in parts_in(instance, (1, 1, 1) if box else box) if not d & used]
        return len(free) >= sum(c[2] for c in choices) and all(c[3] == 1 for c in choices)
    if box not in known:
        known[box] = parts_in(instance, box)
    for place in known[box]:
        if place & used:
            continue
        if together == 1:
            if _fits(instance, known, [(value, box, parts - 1, 1), *rest], used | place):
                return True
            continue
        (server,) = {server for server, _ in place}
        others = [p for p in known[box] if not p & (used | place) and {s for s, _ in p} == {server}]
        for other in others:
            if _fits(instance, known, [(value, box, parts - 2, together), *rest], used | place | other):
                return True
    return False


def tiny(seed: int) -> Instance:
    """Two or three jobs of two or more ranks that do not all fit."""
    rng = Random(seed)
    fabric = rng.choice((TORUS, CUBES, SIPAC))
    sizes = {"torus": (2, 3, 4, 6, 8, 12, 16), "sipac": (2, 4, 8, 16)}[fabric["kind"]]
    largest = 24 if fabric is CUBES else 12 if fabric is TORUS else 16
    jobs = []
    for number in range(rng.choice((2, 3))):
        workload = SERVING if rng.random() < 0.3 else TRAINING
        allowed = [size for size in sizes if size <= largest and (workload is TRAINING or size <= 6)]
        chosen = sorted(rng.sample(allowed, min(len(allowed), rng.choice((1, 2, 3)))))
        jobs.append(job(f"j{number}", chosen, workload, weight=rng.choice((1, 2, 3))))
    probe = sliced(fabric, *jobs).cluster.fabric
    names = [probe.device_name(s, d) for s in range(probe.num_servers) for d in range(probe.devices_per_server)]
    health: Fields = {"failed_tiles": rng.sample(names, rng.choice((0, 1, 2)))}
    if fabric is CUBES:
        health["failed_switches"] = rng.sample(["x0", "y3", "z1"], rng.choice((0, 0, 1)))
    return sliced(fabric, *jobs, health=health, objectives=["value"])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_value_is_that_of_exhaustive_search(seed: int) -> None:
    instance = tiny(seed)
    result = solve(instance, options=OPTIONS)
    assert result.status is Status.OPTIMAL
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    assert result.levels[0].value == pytest.approx(best_value(instance), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 3, 7, 11])
def test_without_literals_of_slices_step_two_packs_them(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = tiny(seed)
    expected = solve(instance, options=OPTIONS)
    monkeypatch.setattr(step1_variables, "MOST_CELLS", 0)
    found = solve(instance, options=OPTIONS)
    assert found.levels[0].value == pytest.approx(expected.levels[0].value)
    assert found.plan is not None
    assert check(instance, found.plan, starts=True) == []


def pattern_of_slabs(count: int) -> tuple[Problem, dict[int, Choice]]:
    """So many jobs that each take three chips in a row of a torus of 3 x 2 x 2, along x, and one of 2 x 2 x 2."""
    jobs = [job(f"j{k}", 3) for k in range(count)] + [job("cube", 8)]
    problem = expand(sliced(TORUS, *jobs), prune=False)
    pattern = {}
    for j, options in enumerate(problem.options):
        cut = (2, 2, 2) if j == count else (3, 1, 1)
        row = next(r for r, shape in enumerate(options.shapes) if shape.cut == cut and shape.num_parts == 1)
        pattern[j] = Choice(row, False, ((0, 1),))
    return problem, pattern


def test_what_does_not_fit_together_is_refuted() -> None:
    limits = StepTwoLimits(10.0, None, 1, 0)
    problem, pattern = pattern_of_slabs(1)
    assert SlicedStepTwo().realize(problem, pattern, limits).nogood == (0, 1)
    del pattern[1]
    packed = SlicedStepTwo().realize(problem, pattern, limits).assignments
    assert packed is not None
    (assignment,) = packed
    slots = sorted(problem.cluster.fabric.parse_device(name) for name in assignment.devices)
    assert [(server, slot // 4) for server, slot in slots] == [(0, 0), (0, 1), (0, 2)]


def test_first_fit_and_usable_slices() -> None:
    instance = sliced(CUBES, job("j", 2), health={"failed_tiles": ["s0.c0"], "failed_switches": ["x3"]})
    cuts = FreeSlices(instance.cluster)
    assert [each.slots for each in cuts.usable(0, (2, 1, 1))] == [(1, 5), (2, 6)]
    assert [each.slots for each in cuts.usable(1, (2, 1, 1))] == [(0, 4), (1, 5), (2, 6)]
    assert cuts.usable(1, (2, 2, 2)) == []
    assert [each.slots for each in cuts.disjoint(0, (1, 2, 2))] == [(4, 5, 6, 7)]
    cuts.take([(0, 6)])
    assert [each.slots for each in cuts.disjoint(0, (1, 1, 2))] == [(2, 3), (4, 5)]


def test_slices_that_stay_keep_their_parts() -> None:
    now = [(0, (0, 1)), (2, (4, 5)), (1, (2, 3))]
    assert as_before([(1, (2, 3)), (3, (0, 1)), (0, (0, 1))], now) == [(0, (0, 1)), (3, (0, 1)), (1, (2, 3))]


POLICIES = ("first_fit", "best_fit", "server_aligned", "random_fit")


@pytest.mark.slow
@pytest.mark.parametrize("fabric", [TORUS, CUBES, SIPAC], ids=["torus", "cubes", "sipac"])
def test_heuristics_give_good_plans(fabric: Fields) -> None:
    sizes = [2, 4, 8, 16] if fabric is SIPAC else [2, 3, 8]
    instance = sliced(fabric, job("a", sizes), job("b", [2, 4], SERVING), job("c", 1))
    own = "bcube_slices" if fabric is SIPAC else "torus_slices"
    for policy in (*POLICIES, own):
        plan = solve(instance, policy=policy).plan
        assert plan is not None
        assert plan.admitted
        assert check(instance, plan, starts=True) == []
    other = "torus_slices" if fabric is SIPAC else "bcube_slices"
    with pytest.raises(InputError, match="a torus has its own torus_slices, a sipac its own bcube_slices"):
        solve(instance, policy=other)


@pytest.mark.slow
@pytest.mark.parametrize("fabric", [TORUS, CUBES, SIPAC], ids=["torus", "cubes", "sipac"])
def test_residents_stay_where_they_are(fabric: Fields) -> None:
    instance = sliced(fabric, job("a", 8), job("b", 2, SERVING))
    plan = solve(instance, options=OPTIONS).plan
    assert plan is not None
    again = as_residents(instance, plan)
    result = solve(again, options=OPTIONS)
    assert result.plan is not None
    assert result.plan.objectives["moves"] == 0
    assert [a.devices for a in result.plan.assignments] == [a.devices for a in plan.assignments]
    assert check(again, result.plan) == []


def running(fabric: Fields, **changes: Any) -> Fields:
    """A resident of eight chips as a plan has it, with changes."""
    plan = solve(sliced(fabric, job("a", 8)), options=OPTIONS).plan
    assert plan is not None
    written = plan["a"].model_dump(mode="json", include={"devices", "configuration", "circuits"}, by_alias=True)
    return job("a", 8, **(written | changes))


def test_residents_on_no_slices_are_refused() -> None:
    devices = running(CUBES)["devices"]
    shuffled = [devices[1], devices[0], *devices[2:]]
    with pytest.raises(InputError, match=r"devices: these are no slices of 2x2x2 by rank"):
        sliced(CUBES, residents=[running(CUBES, devices=shuffled)])
    with pytest.raises(InputError, match="these are not the circuits of its slices"):
        sliced(CUBES, residents=[running(CUBES, circuits=[])])
    wired = [{"dimension": "slice", "circuits": [{"from": "s0.a0", "to": "s0.a1", "wavelengths": [0]}]}]
    with pytest.raises(InputError, match="a sipac has no circuits"):
        sliced(SIPAC, residents=[running(SIPAC, circuits=wired)])


def test_residents_leave_a_failed_switch() -> None:
    fabric = CUBES | {"sides": [2, 3, 2]}
    resident = running(fabric | {"servers": 1})
    used = {name for held in resident["circuits"] for circuit in held["circuits"] for name in circuit["fibers"]}
    assert used
    instance = sliced(fabric, residents=[resident], health={"failed_switches": [min(used)]})
    result = solve(instance, options=OPTIONS)
    assert result.plan is not None
    assert result.plan["a"].is_moved
    assert check(instance, result.plan, starts=True) == []
    with pytest.raises(InputError, match="on failed part"):
        sliced(fabric, residents=[resident | {"movable": False}], health={"failed_switches": [min(used)]})


def test_a_cube_that_fails_is_replaced_and_the_others_stay() -> None:
    instance = sliced(CUBES | {"servers": 4, "switches": {"ports": 8, "energy": 0}}, job("a", 16))
    plan = solve(instance, options=OPTIONS).plan
    assert plan is not None
    lost = plan["a"].devices[0]
    found = repair(instance, plan, [lost])
    assert found.plan is not None
    assert check(found.instance, found.plan) == []
    assert len(found.moves) == 8


def test_a_failed_switch_touches_the_jobs_whose_circuits_it_carries() -> None:
    instance = sliced(CUBES, job("a", 8), job("b", 2))
    plan = solve(instance, options=OPTIONS).plan
    assert plan is not None
    down = damaged(instance, parse_failures(instance.cluster, ["x3"]))
    wreck = DamagedPlan(down, plan)
    used = {a.job for a in plan.assignments for held in a.circuits for c in held.circuits if "x3" in c.fibers}
    assert "a" in used
    assert wreck.touched == used
    assert wreck.least_changes == sum(
        "x3" in c.fibers for a in plan.assignments for held in a.circuits for c in held.circuits
    )


def test_fragmentation_is_not_defined() -> None:
    instance = sliced(TORUS, job("a", 2))
    assert [objective.name for objective in instance.objectives] == ["value", "moves", "energy"]
    with pytest.raises(InputError, match="fragmentation is not defined on a torus; leave it out"):
        sliced(TORUS, job("a", 2), objectives=["value", "fragmentation"])


def test_left_out_jobs_are_told_the_sizes() -> None:
    result = solve(sliced(SIPAC, job("a", 6), job("b", 2)), options=OPTIONS)
    (left,) = result.left_out
    assert left.reason.endswith("sizes of slices are 1, 2, 4, 8, 16")


def test_explanations_name_slices_and_sizes() -> None:
    instance = sliced(CUBES, job("a", 16), health={"failed_switches": ["x0"]})
    assert SliceShortages().counted(instance, "a", 16) == (
        "needs slices of working accelerators and switches: 2 of 2 x 2 x 2 (0 found)"
    )
    assert SliceShortages().counted(sliced(CUBES, job("a", 16)), "a", 16) is None
    assert why_unlisted(sliced(SIPAC, job("a", 6)), "a", 6) == (
        "no slice has 6 accelerators as the job divides; sizes of slices are 1, 2, 4, 8, 16"
    )
