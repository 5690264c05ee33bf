"""Variants: which stay, how they compare, and their pages."""

import pytest

from planner.api import Instance, Problem, expand, repair, solve
from planner.model.errors import InputError, UnknownError
from planner.model.files import parse_text
from planner.model.result import Result, Status
from planner.studio import variants as module
from planner.studio.variants import (
    SolvedVariant,
    VariantList,
    page_of_two,
    repair_data,
    result_of_repair,
    row_of_result,
)
from tests.planner.studio.served import GOLDEN


def _variant(number: int, **changes: str) -> SolvedVariant:
    text = GOLDEN
    for old, new in changes.items():
        text = text.replace(f"{old}: ", f"{old}: {new} #", 1)
    instance = Instance.parse(parse_text(text, "golden"))
    problem = expand(instance)
    result = solve(problem, policy="best_fit")
    return SolvedVariant(number, f"plan {number}", text, instance, result, row_of_result(problem, result))


@pytest.mark.slow
def test_the_newest_and_what_is_kept_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    held, one = VariantList(), _variant(1)
    for number in (held.next_number(), held.next_number(), held.next_number()):
        held.add(SolvedVariant(number, f"plan {number}", one.text, one.instance, one.result, one.row))
        if number == 1:
            held.keep(1, "base")
    assert [(each["number"], each["name"], each["is_kept"]) for each in held.data] == [
        (1, "base", True),
        (3, "plan 3", False),
    ]
    with pytest.raises(UnknownError, match="solve anew"):
        held[2]
    with pytest.raises(InputError, match="is the name of another variant"):
        held.keep(3, "base")
    monkeypatch.setattr(module, "MOST_KEPT", 1)
    with pytest.raises(InputError, match="one too many"):
        held.keep(3, "more")
    held.keep(1, "base again")
    held.add(SolvedVariant(4, "repaired", one.text, one.instance, one.result, one.row), beside=3)
    assert [each["number"] for each in held.data] == [1, 3, 4]
    held.drop(1)
    with pytest.raises(UnknownError):
        held.drop(1)


@pytest.mark.slow
def test_a_repair_is_a_variant_whose_page_and_difference_show() -> None:
    before = _variant(1)
    plan = before.result.plan
    assert plan is not None
    lost = plan.assignments[0].devices[0]
    found = repair(before.instance, plan, [lost])
    result = result_of_repair(before.result, found)
    row = row_of_result(Problem(found.instance, ()), result)
    after = SolvedVariant(2, "repaired", before.text, found.instance, result, row, repair=found)
    assert result.status is Status.FEASIBLE
    assert row.violations == 0
    assert row.value == pytest.approx(sum(a.value for a in result.plan.assignments))  # type: ignore[union-attr]
    told = after.data["repair"]
    assert told == repair_data(found)
    assert f"accelerator {lost} has failed" in told["failures"]
    assert {move[3] for move in told["moves"]} == {move.destination for move in found.moves}
    assert "<!doctype html>" in after.page
    assert "plan 1" in page_of_two(before, after)
    gone = SolvedVariant(3, "none", before.text, before.instance, Result(Status.NO_PLAN, "cpsat"), row)
    with pytest.raises(InputError, match="one of them has no plan"):
        page_of_two(before, gone)
    assert not gone.data["has_plan"]
    with pytest.raises(InputError, match="other accelerators"):
        page_of_two(before, _variant(4, tiles_per_server="4"))
