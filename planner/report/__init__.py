"""One page for people: a plan, how good it is, and why, in a single HTML file that needs no network."""

from collections.abc import Mapping, Sequence

from planner.fabrics.switch_ports import End
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import Result
from planner.model.violation import Violation
from planner.report.compact import compact
from planner.report.data import page_data
from planner.report.shell import render

STYLES = ("page.css", "floor.css", "print.css")
SCRIPTS = (
    "core.js", "unpack.js", "pages.js", "header.js", "selection.js", "rack.js", "minis.js", "view.js", "overview.js",
    "search.js", "floor.js", "circuits.js", "jobmatrix.js", "fibers.js", "wavelengths.js", "trays.js", "fabric.js",
    "racklinks.js", "roofline.js", "tiers.js", "job.js", "pool.js", "portmaps.js", "charts.js", "convergence.js",
    "tables.js", "page.js",
)  # fmt: skip


def report_html(
    instance: Instance,
    result: Result,
    violations: Sequence[Violation],
    *,
    command: str,
    versions: Mapping[str, str],
    reasons: Mapping[str, str] | None = None,
    port_of: Mapping[End, str] | None = None,
    best_fit: Plan | None = None,
) -> str:
    """The report as the text of one HTML file.

    `violations` are what the checker found in the plan. `command` is what was typed and `versions` maps
    names of programs to their versions, so that the run can be repeated.
    `port_of`: ports of optical switches by a wiring, which are then shown. `best_fit`: what that policy would run,
    to be compared with.
    `reasons` maps a job that was left out to a sentence, in place of the short reason of the result.
    """
    data = page_data(
        instance,
        result,
        violations,
        command=command,
        versions=versions,
        reasons=reasons or {},
        port_of=port_of,
        best_fit=best_fit,
    )
    return render(f"{instance.name} – plan", "plan.html", STYLES, SCRIPTS, compact(instance.cluster, data))
