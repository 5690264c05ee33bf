"""One page for two plans of an instance: who moved, what was torn down, what started, on the floor plan of both."""

from collections.abc import Sequence
from typing import Any

from planner.fabrics.drawing import place_of
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.plan import Assignment, Circuit
from planner.report.columns import packed, runs
from planner.report.floor import fabric_facts, floor, number_of
from planner.report.shell import render
from planner.whatif.plan_changes import JobChange, in_words

STYLES = ("page.css", "floor.css", "diff.css", "print.css")
SCRIPTS = (
    "core.js", "unpack.js", "pages.js", "header.js", "selection.js", "rack.js", "minis.js", "view.js", "overview.js",
    "search.js", "diff.js",
)  # fmt: skip


def diff_html(instance: Instance, changes: Sequence[JobChange], names: tuple[str, str]) -> str:
    """The page as the text of one HTML file; `names` of both plans, such as those of their files."""
    data = diff_data(instance, changes, names)
    return render(f"{instance.name} – two plans", "diff.html", STYLES, SCRIPTS, data)


def diff_data(instance: Instance, changes: Sequence[JobChange], names: tuple[str, str]) -> dict[str, Any]:
    """All that the page shows, fit for JSON; jobs that run in neither plan are left out."""
    cluster = instance.cluster
    jobs = [
        {
            "name": change.job,
            "kind": change.kind,
            "before": _devices(cluster, change.before),
            "plan": None if change.after is None else {"devices": _devices(cluster, change.after), "circuits": []},
            "torn_down": [_words(circuit) for circuit in change.torn_down],
            "set_up": [_words(circuit) for circuit in change.set_up],
            "power_w": [0.0 if each is None else each.power_w for each in (change.before, change.after)],
            "value": [0.0 if each is None else each.value for each in (change.before, change.after)],
        }
        for change in changes
    ]
    return {
        "name": instance.name,
        "plans": list(names),
        "headline": in_words(changes),
        "fabric": fabric_facts(cluster),
        "floor": floor(cluster),
        "jobs": packed(jobs),
        "memory": packed([]),
        "ways": packed([]),
        "left_out": packed([]),
    }


def _devices(cluster: Cluster, assignment: Assignment | None) -> list[int]:
    """Numbers of its accelerators by rank, as runs."""
    places = [] if assignment is None else [place_of(cluster, name) for name in assignment.devices]
    return runs([None if place is None else number_of(cluster, place) for place in places])


def _words(circuit: Circuit) -> str:
    over = ", ".join(circuit.fibers)
    return f"{circuit.source} to {circuit.destination}" + (f" over {over}" if over else "")
