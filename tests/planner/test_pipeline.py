"""The public call `solve`: wrong arguments are told at once."""

import math
import time
from typing import Any

import pytest

from planner import InputError, Instance, solve
from planner.model.clock import Clock
from planner.model.instance import Objective
from planner.pipeline import listing, searching_s
from tests.benchmarks.random_pools import random_pool
from tests.planner.cli.conftest import fields

INSTANCE = Instance.parse(fields())


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"time_limit_s": -1}, "time_limit_s: must be 0 or more, and finite (got -1)"),
        ({"time_limit_s": math.nan}, "time_limit_s: must be 0 or more"),
        ({"deterministic_limit": math.inf}, "deterministic_limit: must be 0 or more"),
        ({"pages_time_limit_s": -0.1}, "pages_time_limit_s: must be 0 or more"),
        ({"workers": 0}, "workers: must be at least 1"),
        ({"hint": "plan.json"}, "hint: is a str, not a Plan; read it by Plan.load(path)"),
        ({"time_limit": 3}, "time_limit: is no option; options are: policy, time_limit_s"),
        ({"policy": "magic"}, "magic: is unknown; policies are: cpsat"),
    ],
    ids=str,
)
def test_a_wrong_option_is_told(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem.replace("(", r"\(").replace(")", r"\)")):
        solve(INSTANCE, **arguments)


def test_a_policy_that_returns_no_result_is_told_so() -> None:
    with pytest.raises(InputError, match=r"policy: returned NoneType; a policy returns a planner.Result"):
        solve(INSTANCE, policy=lambda *_: None)  # type: ignore[arg-type]


def test_a_path_is_no_instance() -> None:
    with pytest.raises(InputError, match=r"is a str, not an Instance; read the file first: Instance.load\(path\)"):
        solve("rack64.yaml")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="is a dict, not an Instance; give an Instance"):
        solve(fields())  # type: ignore[arg-type]


def test_a_check_is_given_as_long_as_listing_or_its_jobs_take_but_never_most_of_a_limit() -> None:
    assert searching_s(Clock.of(10.0), 10.0, 12) == pytest.approx(10.0, abs=0.1), "few jobs are checked at once"
    assert searching_s(Clock.of(10.0), 10.0, 400) == pytest.approx(9.1, abs=0.1)
    assert searching_s(Clock.of(8.0), 10.0, 12) == pytest.approx(6.0, abs=0.1), "listed for two seconds"
    assert searching_s(Clock.of(10.0), 10.0, 100_000) == pytest.approx(7.0, abs=0.1)
    assert searching_s(Clock.of(0.0), 10.0, 12) == 0.0


def test_of_a_short_limit_more_is_kept_where_jobs_take_long_to_place() -> None:
    few, many = random_pool(32, 2, 0), random_pool(4096, 400, 0)
    for limit_s in (1.0, 2.0, 10.0):
        (whole, last), kept = listing(Clock.of(limit_s), many), listing(Clock.of(limit_s), few)
        now_s = time.perf_counter()
        assert whole.ends_s <= last.ends_s <= now_s + max(limit_s - 1.0, 0.0)
        assert max(last.lasts_s, last.ends_s) <= max(kept[1].lasts_s, kept[1].ends_s)
        assert last.lasts_s > now_s + 0.3
    assert last.ends_s == pytest.approx(kept[1].ends_s, abs=0.1), "a long limit is enough for both"


def test_large_pools_list_few_candidates_under_a_short_limit_where_value_alone_counts() -> None:
    large = random_pool(1024, 100, 0)
    frugal = large.model_copy(update={"objectives": (*large.objectives, Objective(name="energy"))})
    for instance, limit_s, is_short in (
        (large, 10.0, True), (large, 60.0, False), (frugal, 10.0, False), (random_pool(256, 40, 0), 10.0, False),
    ):  # fmt: skip
        whole, last = listing(Clock.of(limit_s), instance)
        assert whole.is_over == is_short
        assert not last.is_over
