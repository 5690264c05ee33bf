"""The live page of a service: the floor plan, the queue and the health of its controller, as one HTML file."""

from planner.report.shell import render

STYLES = ("page.css", "floor.css", "live/live.css", "print.css")
SCRIPTS = (
    "core.js", "header.js", "rack.js", "minis.js", "charts.js", "live/words.js", "live/ask.js", "live/sections.js",
    "live/plan.js", "live/lists.js", "live/log.js", "live/history.js", "live/page.js",
)  # fmt: skip
LIVE_HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""what the server should send with the page; what may run on it, the page says itself"""


def live_html() -> str:
    """The page, the same for every service: it asks the routes beside it, with the token that its reader gives."""
    routes = {"floor": "v1/floor", "history": "v1/history"}
    return render("photonplan – live", "live/body.html", STYLES, SCRIPTS, routes, asks=True)
