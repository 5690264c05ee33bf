"""The report of a replay: which policy and which fabric do best on a demand, and how sure that is, as one HTML file."""

from collections.abc import Mapping

from planner.report.replay.data import page_data
from planner.report.shell import render
from planner.simulate.measures import Measure
from planner.simulate.run_one import Outcome, SimulationRun, Study

STYLES = ("page.css", "floor.css", "study/study.css", "print.css")
SCRIPTS = (
    "core.js", "header.js", "rack.js", "minis.js", "charts.js", "study/words.js", "study/runs.js", "study/caveats.js",
    "replay/verdict.js", "study/tables.js", "study/intervals.js", "study/front.js", "replay/series.js",
    "replay/floors.js", "replay/page.js",
)  # fmt: skip


def replay_html(
    study: Study,
    outcomes: Mapping[SimulationRun, Outcome],
    measures: Mapping[str, Measure],
    *,
    command: str,
    versions: Mapping[str, str],
    inputs: Mapping[str, str],
) -> str:
    """The report as the text of one HTML file, the same bytes for the same outcomes.

    The first cluster with the first policy is what others are compared with. `command` is what was typed, `versions`
    maps programs to their versions and `inputs` files to the SHA-256 of their bytes, so that it can be done again.
    """
    data = page_data(study, outcomes, measures, command=command, versions=versions, inputs=inputs)
    return render(f"{data['name']} – replay", "replay/body.html", STYLES, SCRIPTS, data)
