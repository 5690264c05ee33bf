"""The line of progress, not too often and with every plan."""

import io
import re

import pytest
from rich.console import Console

from planner.candidates.expand import expand
from planner.cli.progress import Progress, pricing
from planner.model.instance import Instance
from planner.model.result import Incumbent
from tests.planner.small_racks import rack, serving, training


def test_progress_throttles_bounds_and_keeps_every_plan() -> None:
    lines: list[str] = []
    progress = Progress(lines.append, ("value", "moves"))
    progress(Incumbent(0.1, "value", 41.8, None, "first_fit"))
    progress(Incumbent(0.2, "value", 41.8, 60.0, "bound"))
    progress(Incumbent(0.3, "value", 41.8, 59.0, "bound"))
    progress(Incumbent(0.4, "value", 47.12, None, "cpsat"))
    progress(Incumbent(0.9, "value", 47.12, 49.9, "bound"))
    progress(Incumbent(1.5, "value", 47.12, 49.9, "bound"))
    progress(Incumbent(1.9, "value", 49.9, 49.9, "proven"))
    assert [" ".join(line.split()) for line in lines] == [
        "0.1 s value 41.80 first_fit",
        "0.2 s value 41.80 bound 60 gap 30.3 %",
        "0.4 s value 47.12 bound 59 gap 20.1 % cpsat",
        "0.9 s value 47.12 bound 49.90 gap 5.6 %",
        "1.9 s value 49.90 bound 49.90 gap 0 % proven",
    ]


def test_pricing_is_told_on_a_terminal_and_its_line_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    told = io.StringIO()
    terminal = Console(file=told, force_terminal=True, highlight=False, width=200)
    monkeypatch.setattr("planner.cli.progress.console", lambda stderr: terminal)
    monkeypatch.setattr("planner.cli.progress.SHOWN_EVERY_S", -1.0)
    instance = Instance.parse(rack(training("a", 2), training("b", 3), serving("c", 2)))
    with pricing() as on_priced:
        expand(instance, on_priced=on_priced)
    lines = re.sub(r"\x1b\[[\d;]*[mK]", "", told.getvalue()).split("\r")
    assert [line for line in lines if "pricing" in line] == [
        "pricing candidates of a, 0 of 2 done", "pricing candidates of c, 1 of 2 done",
    ]  # fmt: skip
    assert [line[-13:] for line in lines if "comparing" in line] == [f", {done} of 3 done" for done in range(3)]
    assert lines[-1].strip() == ""
