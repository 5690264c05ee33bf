"""Jobs that ask for as many accelerators of each of their servers, on fabrics of all kinds, against enumeration."""

from collections import Counter
from functools import cache
from itertools import combinations, product
from math import prod
from random import Random
from typing import Any

import pytest

from costmodel.fabrics import SlicedFabric
from costmodel.parallelism.configuration import Configuration
from costmodel.pricing.candidates import candidates_of
from planner.candidates.expand import expand, list_options
from planner.checks import check
from planner.explain import explain
from planner.model.edit import edited
from planner.model.instance import Instance
from planner.model.result import SolveOptions
from planner.pipeline import solve
from planner.whatif.repair import repair
from tests.oracles import pool_search, rails, tiny_shares
from tests.oracles.tiny_pools import tiny_pool
from tests.planner.checks.plans import FAT_TREE, TRAINING, instance_of, job
from tests.planner.fabrics.ocs_rail.step2_cases import tiny as tiny_rails
from tests.planner.fabrics.slices.clusters import tiny as tiny_slices
from tests.planner.fabrics.slices.plugin_cases import box_of, parts_in
from tests.planner.optimum import assert_pruning_changes_no_level, assert_solved_to
from tests.planner.simulate.grounds import FABRICS

HEURISTICS = ("first_fit", "best_fit", "server_aligned", "random_fit", "torus_slices", "bcube_slices")


def even(instance: Instance, seed: int) -> Instance:
    """The instance with a number for each server, and sizes that it mostly divides, in all its jobs."""
    rng, fabric, jobs = Random(seed), instance.cluster.fabric, []
    for each in instance.jobs:
        number = rng.choice([n for n in (1, 2, 2, 3, 4, fabric.devices_per_server) if n <= fabric.devices_per_server])
        sizes = [n for n in (number, 2 * number, 2 * number, 3 * number) if n <= fabric.most_devices_of_a_job]
        asked = edited(each.constraints, per_server=number)
        jobs.append(edited(each, constraints=asked, accelerators=tuple(rng.sample(sizes, rng.randint(1, len(sizes))))))
    return edited(instance, jobs=tuple(jobs))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_values_on_rails_are_the_enumerated_ones(seed: int) -> None:
    instance = even(tiny_rails(seed), seed)
    assert_solved_to(instance, rails.best_value(instance))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_values_on_divided_ports_are_the_enumerated_ones(seed: int) -> None:
    instance = even(tiny_shares.tiny_shares(seed, objectives=["value"]), seed)
    assert_solved_to(instance, tiny_shares.best_value(instance))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_values_in_pools_are_the_enumerated_ones(seed: int) -> None:
    instance = even(tiny_pool(seed, objectives=["value"]), seed)
    assert_solved_to(instance, pool_search.best_value(instance))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 106))
def test_no_dominated_row_of_a_pool_is_missed(seed: int) -> None:
    assert_pruning_changes_no_level(even(tiny_pool(seed), seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_values_on_slices_are_the_enumerated_ones(seed: int) -> None:
    instance = even(tiny_slices(seed), seed)
    assert_solved_to(instance, best_on_slices(instance))


def best_on_slices(instance: Instance) -> float:
    """Servers of each job in every way; then each server is packed by itself."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, SlicedFabric)
    choices = []
    for options in expand(instance, prune=False).options:
        best: dict[Any, float] = {None: 0.0}
        for row in range(len(options)):
            configuration = options.candidates.configuration(row)
            key = box_of(instance, configuration), configuration.num_devices, options.job.constraints.per_server
            best[key] = max(best.get(key, 0.0), float(options.value[row]))
        choices.append([(value, key) for key, value in best.items()])

    @cache
    def packs(server: int, wanted: tuple[tuple[int, ...], ...], used: frozenset[Any] = frozenset()) -> bool:
        if not wanted:
            return True
        places = parts_in(instance, wanted[0])
        free = (p for p in places if {s for s, _ in p} == {server} and not p & used)
        return any(packs(server, wanted[1:], used | place) for place in free)

    def fits(asked: list[Any]) -> bool:
        servers = range(fabric.num_servers)
        for chosen in product(*(combinations(servers, size // each) for _, size, each in asked)):
            wanted: list[list[tuple[int, ...]]] = [[] for _ in servers]
            for (box, _, each), on in zip(asked, chosen, strict=True):
                inside = getattr(fabric, "sides", box) if prod(box) > fabric.devices_per_server else box
                for server in on:
                    wanted[server] += [inside] * (each // prod(inside))
            if all(packs(s, tuple(sorted(boxes, key=prod, reverse=True))) for s, boxes in enumerate(wanted)):
                return True
        return False

    for combination in sorted(product(*choices), key=lambda each: -sum(value for value, _ in each)):
        if fits([key for _, key in combination if key is not None]):
            return sum(value for value, _ in combination)
    raise AssertionError("nothing at all is a plan")


@pytest.mark.slow
@pytest.mark.parametrize("kind", FABRICS)
def test_every_policy_gives_what_is_asked_of_each_server(kind: str) -> None:
    asked = [(8, 4), (4, 2), (16, 8), (2, 2), (6, 3), (4, 1), (8, 8)]
    asked = asked[:4] if kind == "lightpath" else asked  # all of them take a minute there
    jobs = [job(f"j{i}", n, workload=TRAINING, constraints={"per_server": k}) for i, (n, k) in enumerate(asked)]
    instance = Instance.parse(
        {"schema_version": 2, "name": "even", "cluster": {"device": "h100-sxm", "fabric": FABRICS[kind]}, "jobs": jobs}
    )
    own = {"torus": {"bcube_slices"}, "sipac": {"torus_slices"}, "sipam": {"torus_slices", "bcube_slices"}}
    for policy in HEURISTICS if kind == "sipam" else (*HEURISTICS, "cpsat"):
        if policy in own.get(kind, ()):
            continue
        plan = solve(
            instance, policy=policy, options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=1.0)
        ).plan
        assert plan is not None
        assert plan.assignments
        assert check(instance, plan, starts=True) == []
        for assignment in plan.assignments:
            given = Counter(name.rpartition(".")[0] for name in assignment.devices)
            assert set(given.values()) == {instance.job(assignment.job).constraints.per_server}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fat_tree", "lightpath", "ocs_rail", "memory_ring"])
def test_what_is_listed_are_natural_configurations_in_blocks_of_the_number(kind: str) -> None:
    """All of them, and nothing else: each listed one is priced as a configuration of a file."""
    cluster = {"device": "h100-sxm", "fabric": FABRICS[kind]}
    for size, number in ((8, 4), (8, 2), (12, 6), (6, 4), (8, 8)):
        plain = Instance.parse({"schema_version": 2, "name": "x", "cluster": cluster, "jobs": [job("j", size)]})
        asked = edited(plain, jobs=(edited(plain.jobs[0], constraints={"per_server": number}),))
        natural, found = (_configurations(each) for each in (plain, asked))
        assert {c for c in natural if c.block == number} <= found
        blocks = {c.degrees: set[int]() for c in natural}
        for c in natural:
            blocks[c.degrees].add(c.block)
        for c in found:
            assert (c.block, c.num_devices % number) == (number, 0)
            assert any(number % block == 0 for block in blocks[c.degrees])
            candidates_of([c], plain.jobs[0].workload, plain.cluster.device, plain.cluster.fabric)
        if kind == "fat_tree" and size % number == 0:
            wanted = {degrees for degrees, each in blocks.items() if any(number % block == 0 for block in each)}
            assert {c.degrees for c in found} == wanted


def _configurations(instance: Instance) -> set[Configuration]:
    listed = list_options(instance, instance.jobs[0]).candidates
    return {listed.configuration(row) for row in range(len(listed))}


def test_whole_cubes_are_what_each_server_gives() -> None:
    cluster = {"device": "h100-sxm", "fabric": FABRICS["torus"]}
    jobs = [job("whole", 16, constraints={"per_server": 8}), job("half", 16, constraints={"per_server": 4})]
    instance = Instance.parse({"schema_version": 2, "name": "cubes", "cluster": cluster, "jobs": jobs})
    free = edited(instance, jobs=(edited(instance.jobs[0], constraints={}),))
    whole, plain = ({c.model_copy(update={"block": 1}) for c in _configurations(each)} for each in (instance, free))
    assert whole == plain
    assert not len(list_options(instance, instance.jobs[1]))


def words(instance: Instance, name: str) -> str:
    said = explain(instance, name, options=SolveOptions(workers=1, deterministic_limit=2.0))
    return " | ".join([said.headline, *(statement.text for statement in said.statements)])


def test_a_spare_lies_on_a_server_of_its_own() -> None:
    """The nearest free accelerator is on the other server of the job."""
    pair = job("pair", 2, constraints={"per_server": 1, "collective": "ring"})
    instance = instance_of(pair, job("full", 3), fabric=FAT_TREE | {"servers": 3})
    result = solve(instance, policy="first_fit")
    assert result.plan is not None
    assert result.plan["pair"].devices == ("s0.g0", "s1.g0")
    found = repair(instance, result.plan, ["s0.g0"])
    assert found.plan is not None
    assert check(found.instance, found.plan) == []
    assert [(move.source, move.destination) for move in found.moves] == [("s0.g0", "s2.g0")]


@pytest.mark.slow
def test_explain_says_what_each_server_lacks() -> None:
    fabric = FAT_TREE | {"servers": 3}
    health = {"failed_tiles": ["s1.g0", "s2.g3"]}
    instance = instance_of(job("pair", 8, constraints={"per_server": 4}), fabric=fabric, health=health)
    said = words(instance, "pair")
    assert "needs 2 times 4 accelerators free on a server of its own; there is 1, most is 4 on s0" in said
    assert "if its servers need not give as many each" in said
    odd = instance_of(job("odd", 6, constraints={"per_server": 4}), fabric=fabric)
    assert "6 accelerators do not come from servers that give 4 each, of 4" in words(odd, "odd")
    cluster = {"device": "h100-sxm", "fabric": FABRICS["torus"]}
    torn = job("torn", 16, constraints={"per_server": 4})
    cubes = Instance.parse({"schema_version": 2, "name": "cubes", "cluster": cluster, "jobs": [torn]})
    assert "the job does not divide into blocks of 4 accelerators, one on each server" in words(cubes, "torn")
