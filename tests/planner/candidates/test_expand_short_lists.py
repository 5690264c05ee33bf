"""A short list of a job stands for all its candidates: bounds on value hold for those that are missing, too."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.fabrics import Sipam
from planner.candidates.expand import Undominated, expand, list_options
from planner.candidates.knapsack_bounds import KnapsackBounds
from planner.candidates.listing import Listings
from planner.cli.new_instance import instance_text
from planner.fabrics import fabrics, plugin_of
from planner.fabrics.lightpath.shortlist import shortlist
from planner.fabrics.problem import Problem, must_run
from planner.fabrics.sipam.placeable import are_placeable
from planner.model.clock import Clock
from planner.model.instance import Instance
from planner.pipeline import solve
from planner.studies.random_instances import random_datacenter
from tests.oracles.tiny_pools import phased_pool, tiny_pool, tiny_tiered_pool
from tests.planner.fabrics.joined_racks.racks import KINDS, racks
from tests.planner.fabrics.sipam.joined_pools import joined_pools
from tests.planner.optimum import OPTIONS

MAKERS = (tiny_pool, tiny_tiered_pool, phased_pool)


def shortly(instance: Instance) -> Problem:
    """Short lists of all jobs but those that must run."""
    pruned, listings = Undominated(instance), Listings(instance.cluster, instance.all_jobs)
    options = (
        list_options(instance, job, listings) if must_run(job) else pruned.few_of(job, listings)
        for job in instance.all_jobs
    )
    return Problem(instance, tuple(options))


def assert_every_missing_row_has_a_stand_in(instance: Instance) -> None:
    """That is worth no less, and takes no more of anything that bounds on value charge; rows that no servers of a pool
    have uplinks for need none."""
    short, whole = shortly(instance), expand(instance, prune=False)
    if isinstance(fabric := instance.cluster.fabric, Sipam):
        options = (each.take(np.flatnonzero(are_placeable(each.candidates, fabric))) for each in whole.options)
        whole = Problem(instance, tuple(options))
    usage = plugin_of(instance.cluster.fabric).shared_amounts.usage
    for few, used, every, uses in zip(short.options, usage(short), whole.options, usage(whole), strict=True):
        for value, amounts in zip(every.value, uses, strict=True):
            assert ((few.value >= value) & (used <= amounts).all(axis=1)).any()


@given(st.sampled_from(MAKERS), st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_in_pools_some_row_that_is_here_stands_for_each_that_is_missing(maker: object, seed: int) -> None:
    assert callable(maker)
    assert_every_missing_row_has_a_stand_in(maker(seed))


@pytest.mark.parametrize("seed", [11, 81])
def test_a_setting_of_its_own_for_prompts_stands_for_no_row_with_less_memory(seed: int) -> None:
    assert_every_missing_row_has_a_stand_in(phased_pool(seed))


@pytest.mark.parametrize("kind", fabrics())
def test_on_every_fabric_some_row_that_is_here_stands_for_each_that_is_missing(kind: str) -> None:
    text = instance_text("new", fabric=kind, servers=2, tiles=8, fibers=2, device="h100-sxm")
    assert_every_missing_row_has_a_stand_in(Instance.parse(yaml.safe_load(text)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_no_plan_is_above_the_bound_of_short_lists(seed: int) -> None:
    instance = tiny_pool(seed, objectives=["value"])
    bound, result = KnapsackBounds.of(shortly(instance)).bound, solve(instance, options=OPTIONS)
    assert result.objective is None or bound >= result.objective - 1e-9


@pytest.mark.parametrize("seed", [2, 5, 11])
def test_a_short_list_bounds_its_job_by_what_accelerators_hold(seed: int) -> None:
    """Not by what the job would be worth alone, as one is that is not listed at all."""
    instance = Instance.parse(random_datacenter("sipam", 64, 12, seed))
    late = KnapsackBounds.of(shortly(instance)).bound
    never = KnapsackBounds.of(expand(instance, clock=Clock.of(0.0))).bound
    whole = KnapsackBounds.of(expand(instance)).bound
    assert 0.999 * whole <= late <= 1.02 * whole
    assert never > 1.1 * whole


def test_a_short_list_has_rows_of_each_number_of_racks() -> None:
    """A job for which the racks have no room together may lie in one of them."""
    instance = joined_pools(4)
    (few,), (every,) = shortly(instance).options, expand(instance, prune=False).options
    kept, listed = (set(each.candidates.racks.tolist()) for each in (few, every))
    assert kept == listed > {1}
    assert not few.is_listed
    assert few.num_listed == len(every) > len(few)


@pytest.mark.parametrize("upper", KINDS.values(), ids=KINDS.keys())
def test_each_row_over_racks_has_one_that_stands_for_it_over_as_many_links(upper: dict[str, Any]) -> None:
    """So that prices of links bound what is missing, too."""
    instance = racks(upper, 12, 6, 4)
    short, whole = shortly(instance), expand(instance, prune=False)
    for few, every in zip(short.options, whole.options, strict=True):
        assert len(few) < len(every)
        mine, theirs = few.candidates, every.candidates
        rows = zip(every.value, theirs.num_devices, theirs.racks, every.links, strict=True)
        for value, devices, number, links in {tuple(map(float, row)) for row in rows}:
            is_alike = (mine.num_devices == devices) & (mine.racks == number) & (few.links == links)
            assert (few.value[is_alike] >= value).any()


def test_many_jobs_over_joined_racks_have_short_lists_from_the_start() -> None:
    """Whatever the time limit: they have more candidates than can be compared; of few jobs all are there."""
    many = Instance.parse(random_datacenter("lightpath", 1024, 30, 0, most=512))
    alone = Instance.parse(random_datacenter("lightpath", 1024, 30, 0))
    starts = plugin_of(many.cluster.fabric).starts
    assert not starts.lists_few(many, 600.0)
    larger = Instance.parse(random_datacenter("lightpath", 4096, 40, 0, most=1024))
    assert starts.lists_few(larger, 600.0)
    assert not starts.lists_few(alone, 600.0)


def test_short_lists_of_some_sizes_are_those_found_of_all_sizes() -> None:
    """Jobs that ask for other sizes of the same workload share one list, whatever they weigh."""
    instance = Instance.parse(random_datacenter("lightpath", 1024, 30, 0, most=512))
    options = shortly(instance).options
    assert any(not each.short.all() for each in options if each.short is not None)
    for each in options:
        assert each.short is not None
        assert np.array_equal(shortlist(each), shortlist(replace(each, short=None)))


def test_a_short_list_that_leaves_nothing_out_has_all(monkeypatch: pytest.MonkeyPatch) -> None:
    pools = joined_pools(4)
    starts = type(plugin_of(pools.cluster.fabric).starts)
    monkeypatch.setattr(starts, "few_rows", lambda _, listed: np.arange(len(listed)))
    assert all(options.is_listed for options in shortly(pools).options)
