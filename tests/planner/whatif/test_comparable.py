"""Values of edited instances compare with those of the original."""

import pytest

from planner.candidates.expand import expand
from planner.explain.marginal import marginal
from planner.model.edit import pinned, with_fabric
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.pipeline import solve
from planner.whatif.comparable import expand_as, references
from planner.whatif.repair import repair
from planner.whatif.survive import survive
from tests.paths import ROOT
from tests.planner.explain.marginal_cases import OPTIONS
from tests.planner.small_racks import rack, serving, training


def test_step_utility_keeps_its_threshold_on_a_faster_fabric() -> None:
    """Every row that reaches the old threshold is worth the weight, far behind the new fastest one or not."""
    job = training("x", 8, utility="step", step_at=0.99)
    data = rack(job, servers=1, tiles=8, max_peers=2, reconfiguration="9 ms")
    instance = Instance.parse(data)
    measured = references(instance)
    problem = expand_as(with_fabric(instance, reconfiguration_s=0.0), measured)
    options = problem.options[0]
    assert set(options.value) == {0.0, 1.0}
    assert ((options.scores.speed >= 0.99 * measured["x"].speed) == (options.value == 1.0)).all()


def test_pinned_jobs_keep_one_configuration_and_their_value() -> None:
    data = rack(serving("a", [1, 2]), serving("x", 2), servers=1)
    instance = Instance.parse(data)
    plan = solve(instance, options=OPTIONS).plan
    assert plan is not None
    derived = pinned(instance, plan, "x")
    problem = expand_as(derived, references(instance))
    assert [len(options) for options in problem.options] == [1, len(expand(instance).options[1])]
    assert problem.options[0].value[0] == pytest.approx(plan["a"].value)
    with pytest.raises(InputError, match="does not fit this instance"):
        pinned(Instance.parse(rack(serving("a", 1), serving("x", 1), tiles=1)), plan, "x")


@pytest.mark.slow
def test_what_prices_by_scores_alone_refuses_placed_steps() -> None:
    instance = Instance.load(ROOT / "instances" / "joint" / "nodes.yaml")
    empty = Plan(instance=instance.name)
    for asked in (lambda: repair(instance, empty, ["s0.d0"]), lambda: survive(instance), lambda: marginal(instance)):
        with pytest.raises(InputError, match=r"placed_steps: .* prices steps by their scores alone"):
            asked()
