"""planner check: is this plan allowed, and what is it worth?"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from costmodel.wording import counted
from planner.cli import exits
from planner.cli.inputs import AsJson, InstancePath, naming
from planner.cli.output import console, number, print_json, table

if TYPE_CHECKING:
    from planner.model.plan import Plan
    from planner.model.violation import Violation


def check(
    instance: InstancePath,
    plan: Annotated[
        Path, typer.Argument(metavar="PLAN", help="Plan, or the JSON of `planner solve` or `planner pages`.")
    ],
    as_json: AsJson = False,
) -> int:
    """Judge a plan from the files alone: every rule, and every objective recomputed; of pages every step simulated.

    Shares nothing with the solver. The table has the rules that speak of this instance, the JSON those of all
    fabrics. Exit code 0 if all rules hold, 1 if one is broken.
    """
    from planner.checks import CHECKS, objective_values
    from planner.checks import check as find_violations
    from planner.checks.spoken import rules_that_speak_of
    from planner.model import files
    from planner.model.instance import Instance

    data = files.parse_text(files.read_text(instance), str(instance))
    if data.get("kind") == "pages":
        from planner.cli.commands.check_pages import check_page_plan

        return check_page_plan(instance, data, plan, as_json=as_json)
    problem = Instance.of_file(data, instance)
    given = _plan_of(problem.name, instance, plan)
    with naming(instance, problem):
        violations = list(find_violations(problem, given))
        objectives = objective_values(problem, given)
    if as_json:
        print_json({
            "ok": not violations,
            "rules": {rule: sum(v.rule == rule for v in violations) for rule in CHECKS},
            "violations": [vars(violation) for violation in violations],
            "objectives": objectives,
            "claimed": given.objectives,
        })  # fmt: skip
    else:
        _show(rules_that_speak_of(problem, given), violations, objectives, given)
    return exits.VIOLATIONS if violations else exits.PLAN


def _plan_of(name: str, instance: Path, path: Path) -> "Plan":
    """The plan of a file; InputError where it is that of another instance."""
    from planner.model.errors import InputError
    from planner.model.plan import Plan

    plan = Plan.load(path)
    if plan.instance != name:
        raise InputError(str(path), "instance", f"is '{plan.instance}', but {instance} is '{name}'; give its plan")
    return plan


def _show(rules: Sequence[str], violations: "Sequence[Violation]", objectives: dict[str, float], plan: "Plan") -> None:
    from planner.cli.tables.summary import violation_line

    out = console()
    broken = Counter(violation.rule for violation in violations)
    shown = dict.fromkeys((*rules, *broken))
    verdicts = [(rule, counted(broken[rule], "violation") if broken[rule] else "ok") for rule in shown]
    out.print(table(("rule", "verdict"), verdicts))
    for violation in violations:
        out.print(violation_line(violation), soft_wrap=True)
    rows = [(name, number(value), number(plan.objectives.get(name))) for name, value in objectives.items()]
    out.print()
    out.print(table(("objective", "recomputed", "claimed"), rows, right=("recomputed", "claimed")))
    out.print(f"{counted(len(violations), 'violation')}: the plan {'is broken' if violations else 'holds'}")
