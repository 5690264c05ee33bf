"""Caveats of a replay follow what was set."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.report.replay.caveats import caveats
from planner.report.replay.sheet import Sheet
from planner.simulate.measures import MEASURES
from planner.simulate.rules import Rules
from planner.whatif.failure_model import FailureModel
from tests.planner.report.replay import small
from tests.planner.simulate.grounds import cluster, ground, trace

TORUS = ground("t", cluster("torus"), [3, 4])
CAVEATS = [
    (lambda study: study, "Failures are off", "Failures are sampled"),
    (lambda study: replace(study, failures=FailureModel()), "Failures are sampled", "Failures are off"),
    (lambda study: replace(study, rules=Rules(migrate=True, downtime_s=30)), "pause for 30 s", "never move"),
    (lambda study: replace(study, failures=FailureModel()), "move after failures alone: those that lost", "never move"),
    (lambda study: replace(study, rules=Rules("fifo")), "never move", "Backfill knows"),
    (lambda study: study, "Backfill knows", "Every job takes its recorded time"),
    (lambda study: study, "demand model 'small'", "consecutive jobs"),
    (lambda study: study, "Deciding takes no time", "hold more than they ask for"),
    (lambda study: replace(study, grounds={"t": TORUS}), "hold more than they ask for (4 for 3)", "cannot run"),
]


@pytest.mark.parametrize(("change", "told", "untold"), CAVEATS)
def test_caveats_follow_what_was_set(change: Any, told: str, untold: str) -> None:
    text = " ".join(caveats(change(small.study()), Sheet(small.outcomes()), MEASURES))
    assert told in text
    assert untold not in text


@pytest.mark.parametrize(
    ("response", "told"),
    [
        ("requeue", "Running jobs never move."),
        ("spare_server", "Running jobs move after failures alone: those that lost a part."),
        ("repair", "those that lost a part, and under repair others that make room for them."),
    ],
)
def test_moves_after_failures_are_not_denied(response: str, told: str) -> None:
    found = {cell._replace(policy=f"{cell.policy}:{response}"): outcome for cell, outcome in small.outcomes().items()}
    said = caveats(replace(small.study(), failures=FailureModel()), Sheet(found), MEASURES)
    assert [text for text in said if "Running jobs" in text and text.endswith(told)]


def test_caveats_of_a_trace() -> None:
    jobs = trace([0.0, 50.0, 90.0, 100.0], [600.0, 60, 60, 60], [16, 16, 4, 8])
    study = small.study()
    recorded = study.demand.mix.model_copy(update={"durations": "recorded"})
    whole = replace(study, demand=replace(study.demand, source=jobs, jobs=None, mix=recorded), warm_up=0.0)
    at_load = {cell._replace(load=0.3): outcome for cell, outcome in small.outcomes().items() if cell.load == 0.6}
    text = " ".join(caveats(whole, Sheet(at_load), MEASURES))
    assert "Every seed replays the same jobs" in text
    assert "Every job takes its recorded time" in text
    told = re.search(r"first seed: by ([\d.]+) at load 0.3", text)
    assert told is not None
    end_s = 100 * float(told[1])
    held_s = 16 * min(600, end_s) + 16 * min(60, end_s / 2) + 4 * min(60, end_s / 10)
    assert held_s / (32 * end_s) == pytest.approx(0.3, rel=1e-2)
    part = replace(whole, demand=replace(whole.demand, jobs=3))
    assert "a stretch of 3 consecutive jobs of 4" in " ".join(caveats(part, Sheet(at_load), MEASURES))
    named = replace(whole, demand=replace(whole.demand, source=replace(jobs, workload=np.array(["bert"] * 4))))
    assert "does not say what its jobs run" not in " ".join(caveats(named, Sheet(at_load), MEASURES))
