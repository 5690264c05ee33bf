"""The page of the studio: an editor of one instance beside its plans, as one HTML file that asks its own server."""

from planner.report.live import LIVE_HEADERS
from planner.report.shell import render

STYLES = ("page.css", "floor.css", "studio/studio.css")
SCRIPTS = (
    "core.js", "header.js", "charts.js", "convergence.js", "studio/ask.js", "studio/editor.js", "studio/jobs.js",
    "studio/fields.js", "studio/solve.js", "studio/plan.js", "studio/variants.js", "studio/save.js", "studio/page.js",
)  # fmt: skip
STUDIO_HEADERS = LIVE_HEADERS
"""what the server should send with the page; what may run on it, the page says itself"""
FRAMED_HEADERS = LIVE_HEADERS | {
    "Content-Security-Policy": LIVE_HEADERS["Content-Security-Policy"].replace("'none'", "'self'", 1)
}
"""with the pages of plans, which the page shows in a frame"""


def studio_html() -> str:
    """The page, the same for every session: it asks `api/state` beside it, and shows pages of plans from there."""
    return render("photonplan – studio", "studio/body.html", STYLES, SCRIPTS, {"studio": True}, asks=True, frames=True)
