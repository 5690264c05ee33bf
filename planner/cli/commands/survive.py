"""planner solve --survive: what is printed of plans that outlive the loss of any one part."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.cli.inputs import naming
from planner.cli.output import number, percent, plain, to_json

if TYPE_CHECKING:
    from planner.fabrics.problem import Problem
    from planner.whatif.survive import Survival

MOST_NAMED = 5
"""unrepairable failures that are named"""


def search_surviving(path: Path, problem: "Problem", policy: str, options: dict[str, Any]) -> "Survival":
    """The best plan found that survives any one failure."""
    from planner.model.result import SolveOptions
    from planner.whatif.survive import survive

    with naming(path, problem.instance):
        return survive(problem, policy=policy, options=SolveOptions(**options))


def document(survival: "Survival") -> dict[str, Any]:
    """The key `survival` of what --json prints."""
    return {
        "cost": survival.cost,
        "value_without": to_json(survival.base.plan and sum(a.value for a in survival.base.plan.assignments)),
        "status_without": survival.base.status.value,
        "reserve": list(survival.reserve),
        "failures_tested": survival.num_tested,
        "rounds": survival.rounds,
        "weaknesses": [
            {"part": each.failure.part, "kind": each.failure.kind, "is_proven": each.is_proven}
            for each in survival.weaknesses
        ],
    }


def survival_line(survival: "Survival") -> str:
    """The reserve and its cost in value, or the failures that no plan tried survives."""
    if survival.base.plan is None:
        return "without a reserve there is no plan either"
    if survival.result.plan is None:
        named = ", ".join(each.failure.name for each in survival.weaknesses[:MOST_NAMED])
        more = len(survival.weaknesses) - MOST_NAMED
        rest = f" and {more} more" if more > 0 else ""
        return plain(f"no plan found that survives any one failure; the last one does not survive: {named}{rest}")
    cost = survival.cost
    status = survival.base.status.value.lower()
    before = sum(a.value for a in survival.base.plan.assignments)
    share = percent(abs(cost) / before) if cost is not None and before else "-"
    kept = f"planned without {', '.join(survival.reserve)}" if survival.reserve else "no reserve is needed"
    return plain(
        f"survives the loss of any one tile, port or fiber ({survival.num_tested} failures stand for all); {kept}; "
        f"costs {number(cost)} of value {number(before)} without it ({share}; that one {status})"
    )
