"""planner check of a placement of pages."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from costmodel.wording import counted
from planner.cli import exits
from planner.cli.output import console, print_json, quantity, table
from planner.model.errors import InputError

if TYPE_CHECKING:
    from planner.model.page_instance import PageInstance
    from planner.model.page_plan import PagePlan
    from planner.model.violation import Violation

MOST_VIOLATIONS = 30
"""that are shown; all are in the JSON"""


def check_page_plan(path: Path, data: dict[str, Any], plan: Path, *, as_json: bool) -> int:
    """Print what the placement in `plan` breaks of the rules for pages; the exit code."""
    from planner.model.page_instance import PageInstance
    from planner.model.page_plan import PagePlan
    from planner.pages.rule_pages import PAGE_RULES, check_pages

    instance, given = PageInstance.parse(data, str(path)), PagePlan.load(plan)
    _require_known_jobs(instance, given, plan)
    violations = check_pages(instance, given)
    broken = {rule: sum(v.rule == rule for v in violations) for rule in PAGE_RULES}
    if as_json:
        print_json({
            "ok": not violations,
            "rules": broken,
            "violations": [vars(violation) for violation in violations],
            "steps": {each.job: each.step_s for each in given.jobs},
        })  # fmt: skip
    else:
        _show(instance, given, broken, violations)
    return exits.VIOLATIONS if violations else exits.PLAN


def _require_known_jobs(instance: "PageInstance", plan: "PagePlan", path: Path) -> None:
    names = {job.name for job in instance.jobs}
    for each in plan.jobs:
        if each.job not in names:
            problem = f"'{instance.name}' has no such job; give the placement of this instance"
            raise InputError(str(path), f"jobs[{each.job}]", problem)


def _show(instance: "PageInstance", plan: "PagePlan", broken: dict[str, int], violations: "list[Violation]") -> None:
    from planner.pages.rule_pages import TIME

    out = console()
    verdicts = [(rule, counted(found, "violation") if found else "ok") for rule, found in broken.items()]
    if violations and not broken[TIME]:
        verdicts[-1] = (TIME, "not judged")
    out.print(table(("rule", "verdict"), verdicts))
    out.print()
    if violations:
        rows = [(v.rule, v.where, v.message, f"{v.excess:g}") for v in violations[:MOST_VIOLATIONS]]
        out.print(table(("rule", "where", "what is wrong", "by"), rows, right=("by",), wrap=("what is wrong",)))
        if len(violations) > MOST_VIOLATIONS:
            out.print(f"and {len(violations) - MOST_VIOLATIONS} more; `--json` lists all", soft_wrap=True)
        out.print()
    weights = {job.name: job.weight for job in instance.jobs}
    steps = [(each.job, quantity(each.step_s, "s"), f"{weights[each.job]:g}") for each in plan.jobs]
    out.print(table(("job", "step claimed" if violations else "step, simulated", "weight"), steps, right=("weight",)))
    out.print(f"{counted(len(violations), 'violation')}: the placement {'is broken' if violations else 'holds'}")
