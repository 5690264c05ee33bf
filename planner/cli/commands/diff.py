"""planner diff: what differs between two plans of one instance."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.inputs import AsJson, InstancePath, load_plan, require_not_given, require_writable, write_text
from planner.cli.output import console, plain, print_json, table
from planner.cli.outputs import WEB_PAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from planner.whatif.plan_changes import JobChange

First = Annotated[Path, typer.Argument(metavar="PLAN_A", help="Plan before.")]
Second = Annotated[Path, typer.Argument(metavar="PLAN_B", help="Plan after.")]
Page = Annotated[
    Path | None, typer.Option("--report", "--html", metavar="FILE", help="Write both floor plans as one HTML page.")
]


def diff(instance: InstancePath, first: First, second: Second, html: Page = None, as_json: AsJson = False) -> int:
    """Compare two plans of an instance: who starts, stops and moves, and which circuits are torn down and set up.

    What it says of light is of the plans as they are; `planner reconfigure` keeps as much light as possible.
    """
    require_writable(html, "--report", WEB_PAGE)
    require_not_given(html, "--report", first, second)
    from planner.model.instance import Instance
    from planner.whatif.plan_changes import changes

    loaded = Instance.load(instance)
    found = changes(load_plan(first, loaded), load_plan(second, loaded))
    print_json([document(change) for change in found]) if as_json else _show(found)
    if html is not None:
        from planner.report.plan_diff import diff_html

        write_text(html, diff_html(loaded, found, (first.name, second.name)))
    return 0


def document(change: "JobChange") -> dict[str, Any]:
    """JSON of what becomes of one job."""
    return {
        "job": change.job,
        "change": change.kind,
        "before": None if change.before is None else list(change.before.devices),
        "after": None if change.after is None else list(change.after.devices),
        "torn_down": [circuit.model_dump(mode="json") for circuit in change.torn_down],
        "set_up": [circuit.model_dump(mode="json") for circuit in change.set_up],
    }


def _show(found: "Sequence[JobChange]") -> None:
    from planner.whatif.plan_changes import in_words

    rows = [
        (plain(each.job), each.kind, *map(str, (each.given_up, each.taken, len(each.torn_down), len(each.set_up))))
        for each in found
        if each.kind != "stays"
    ]
    out = console()
    if rows:
        columns = ("job", "change", "accelerators left", "taken", "torn down", "set up")
        out.print(table(columns, rows, right=columns[2:]))
    out.print(in_words(found), soft_wrap=True)
