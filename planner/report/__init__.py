"""One page for people: a plan, how good it is, and why, in a single HTML file that needs no network."""

import base64
import hashlib
import html
import importlib.resources
import json
from collections.abc import Mapping, Sequence
from string import Template

from planner.checks.violation import Violation
from planner.instance import Instance
from planner.report.data import page_data
from planner.result import Result

STYLES = ("page.css", "floor.css", "print.css")
SCRIPTS = (
    "core.js", "floor.js", "circuits.js", "fibers.js", "roofline.js", "job.js", "convergence.js",
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
) -> str:
    """The report as the text of one HTML file.

    `violations` are what the checker found in the plan. `command` is what was typed and `versions` maps
    names of programs to their versions, so that the run can be repeated.
    `reasons` maps a job that was left out to a sentence, in place of the short reason of the result.
    """
    data = page_data(instance, result, violations, command=command, versions=versions, reasons=reasons or {})
    style = "\n".join(_asset(name) for name in STYLES)
    script = '(() => {\n"use strict";\n' + "\n".join(_asset(name) for name in SCRIPTS) + "})();\n"
    return Template(_asset("page.html")).substitute(
        title=html.escape(instance.name),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        data=_embedded(data),
    )


def _asset(name: str) -> str:
    return importlib.resources.files("planner.report").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    """What the content security policy calls the inline text: nothing else on the page may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _embedded(data: object) -> str:
    """JSON that no HTML parser takes for markup."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
