"""Policies for pages on the shipped instances and on the cases of paper 004."""

import pytest

from planner.model.page_instance import PageInstance
from planner.model.result import SolveOptions, Status
from planner.pages.policies import RULES, cpsat, rule_values_s
from planner.pages.problem import PageProblem
from planner.pages.rule_pages import check_pages
from tests.planner.page_cases import FOLDER, NODES, fields
from tests.planner.pages.policies_cases import HOST, case, solved

BROKEN = [{"memory": "node 0", "links": 3, "failed_links": 1}, {"memory": "node 1", "links": 3}]


@pytest.mark.slow
def test_halves_are_nearly_optimal_where_nothing_failed_and_nothing_stays() -> None:
    result, rules = solved(case("GoogLeNet", may_remake=False))
    assert result.value_s is not None
    assert result.gap is not None
    assert result.gap <= 0.03
    assert rules["bw_aware"] <= 1.002 * result.value_s


@pytest.mark.slow
@pytest.mark.parametrize(("network", "gain"), [("GoogLeNet", 0.05), ("VGG-E", 0.05)])
def test_a_failed_link_pays(network: str, gain: float) -> None:
    result, rules = solved(case(network, ways=BROKEN, may_remake=False))
    assert result.value_s is not None
    assert rules["bw_aware"] / result.value_s - 1 >= gain
    assert rules["proportional"] <= result.value_s * 1.01


@pytest.mark.slow
def test_keeping_and_making_again_pays() -> None:
    result, rules = solved(case("GoogLeNet", local="197 MiB"))
    assert result.value_s is not None
    assert result.gap is not None
    assert rules["bw_aware"] / result.value_s - 1 >= 0.057
    assert result.gap <= 0.03


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "local", "ratio"), [("VGG-E", "951 MB", 375 / 151), ("ResNet", "240 MB", 108 / 52)]
)
def test_behind_the_host_it_pays_most(network: str, local: str, ratio: float) -> None:
    data = case(network, ways=HOST, local=local)
    data["jobs"][0]["step"]["system"] = "DC-DLA"
    result, rules = solved(data)
    assert result.value_s is not None
    assert rules["bw_aware"] / result.value_s >= ratio


@pytest.mark.slow
@pytest.mark.parametrize("name", ["failed_link", "failed_node", "host_only", "keep", "shared_nodes"])
def test_shipped_instances_are_better_than_by_any_rule(name: str) -> None:
    data = PageInstance.load(FOLDER / f"{name}.yaml").model_dump(by_alias=True)
    result, rules = solved(data)
    assert result.value_s is not None
    assert result.bound_s is not None
    assert result.gap is not None
    assert rules
    assert result.value_s < 0.95 * min(rules.values())
    assert result.bound_s <= result.value_s
    assert result.gap <= 0.05


@pytest.mark.slow
def test_a_deterministic_limit_gives_the_same_twice() -> None:
    data = PageInstance.load(FOLDER / "host_only.yaml").model_dump(by_alias=True)
    first, second = (solved(data)[0] for _ in range(2))
    assert (first.value_s, first.bound_s) == (second.value_s, second.bound_s)
    assert first.plan == second.plan


@pytest.mark.slow
def test_jobs_that_share_nothing_are_as_good_as_alone() -> None:
    """Two tenants without a memory in common: the bound of both is the sum of their bounds."""
    both = fields(local="40 MiB", name="a")
    other = fields("AlexNet", local="20 MiB", name="b", may_remake=False)["jobs"][0]
    alone = [solved(both | {"jobs": [job]})[0] for job in (both["jobs"][0], other)]
    together, _ = solved(both | {"jobs": [both["jobs"][0], other]})
    assert together.value_s == pytest.approx(sum(each.value_s or 0.0 for each in alone), rel=0.01)
    assert together.bound_s == pytest.approx(sum(each.bound_s or 0.0 for each in alone), rel=0.01)


@pytest.mark.slow
def test_a_thousand_tensors_are_placed_in_time_with_a_bound() -> None:
    instance = PageInstance.load(FOLDER / "transformer.yaml")
    problem = PageProblem.of(instance)
    assert len(problem.tasks[0].count) == 1000
    result = cpsat(problem, SolveOptions(time_limit_s=4, workers=2))
    assert result.plan is not None
    assert check_pages(instance, result.plan) == []
    assert result.gap is not None
    assert result.gap <= 0.01
    best = min(problem.value_s(placed) for rule in RULES.values() if (placed := rule(problem)) is not None)
    assert result.value_s is not None
    assert result.value_s <= best


def test_where_pages_fit_nowhere_it_is_proven() -> None:
    data = fields(may_remake=False)
    data["memories"] = {"node 0": {"capacity": "8 MiB"}, "node 1": {"capacity": "4 MiB"}}
    result = cpsat(PageProblem.of(PageInstance.parse(data)), SolveOptions(time_limit_s=10, workers=1))
    assert result.status is Status.INFEASIBLE
    assert (result.plan, result.value_s, result.bound_s) == (None, None, None)


@pytest.mark.slow
def test_the_order_of_the_ways_does_not_matter() -> None:
    one, other = (case("VGG-E", ways=ways, may_remake=False) for ways in (NODES, NODES[::-1]))
    values = [solved(data, 3.0)[0].value_s for data in (one, other)]
    assert values[0] == pytest.approx(values[1], rel=3e-3)


@pytest.mark.slow
def test_weights_and_optimizer_state_go_home() -> None:
    problem = PageProblem.of(PageInstance.load(FOLDER / "optimizer_state.yaml"))
    assert len(problem.tasks[0].count) > 800
    result = cpsat(problem, SolveOptions(time_limit_s=8, workers=2))
    rules = [value_s for value_s in rule_values_s(problem).values() if value_s is not None]
    assert result.value_s is not None
    assert result.bound_s is not None
    assert result.bound_s <= result.value_s < min(rules)
    assert result.gap is not None
    assert result.gap <= 0.06
