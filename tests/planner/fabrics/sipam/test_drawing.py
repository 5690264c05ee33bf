"""What the page says of a memory pool: where each job stands against its ridge, and what the loop would have given."""

import math
import re
from pathlib import Path

import pytest

from planner import SolveOptions, solve
from planner.model.instance import Instance
from planner.model.result import Result
from planner.report import report_html
from planner.report.data import page_data
from tests.benchmarks.random_pools import random_pool
from tests.planner.report import rack
from tests.planner.report.browser import chart_texts, dom_of


@pytest.fixture(scope="module")
def solved() -> tuple[Instance, Result]:
    instance = random_pool(32, 4, seed=3, units=3)
    return instance, solve(instance, options=SolveOptions(time_limit_s=60, workers=1, deterministic_limit=3.0))


@pytest.mark.slow
def test_gains_by_job_add_up_to_the_gain_of_the_plan(solved: tuple[Instance, Result]) -> None:
    data = page_data(*solved, (), command="", versions={}, reasons={})
    pool = data["pool"]
    by_loop = [0.0 if share is None else share["value"] for share in pool["by_loop"]]
    here = [job["plan"]["value"] if job["plan"] else 0.0 for job in data["jobs"]]
    assert math.isclose(sum(by_loop), pool["loop"], rel_tol=1e-9)
    assert math.isclose(sum(here), pool["value"], rel_tol=1e-9)
    assert pool["value"] >= pool["loop"] > 0
    loop = {a.job: a.configuration for a in solved[1].starts["sipam_loop"].assignments}
    for job, share in zip(data["jobs"], pool["by_loop"], strict=True):
        assert (share is None) == (job["name"] not in loop)
        if share is not None:
            assert share["memory_units"] == loop[job["name"]].memory_units


def test_the_ridge_is_that_of_the_units_given(solved: tuple[Instance, Result]) -> None:
    instance, _ = solved
    unit = instance.cluster.fabric.memory_unit.stack.bandwidth_bytes_per_s  # type: ignore[union-attr]
    own = instance.cluster.device.memory_bytes_per_s
    jobs = [job for job in page_data(*solved, (), command="", versions={}, reasons={})["jobs"] if job["plan"]]
    assert jobs
    for job in jobs:
        roofline = job["plan"]["roofline"]
        given = roofline["peak_bytes_per_s"] / roofline["own_peak_bytes_per_s"]
        assert math.isclose(given, job["plan"]["memory_units"] * unit / own, rel_tol=1e-9)


def test_other_fabrics_have_no_pool() -> None:
    assert page_data(rack.instance(), rack.result(), (), command="", versions={}, reasons={})["pool"] is None


@pytest.mark.slow
@pytest.mark.chromium
def test_the_page_draws_a_ridge_for_each_job_that_runs(tmp_path: Path, solved: tuple[Instance, Result]) -> None:
    instance, result = solved
    assert result.plan is not None
    dom = dom_of(tmp_path, report_html(instance, result, (), command="planner solve", versions={}))
    assert len(re.findall('class="ridge"', dom)) == len(result.plan.assignments)
    assert "over the SiPAM loop come from" in dom


@pytest.mark.slow
@pytest.mark.chromium
def test_the_ridges_can_be_read_on_a_narrow_screen(tmp_path: Path, solved: tuple[Instance, Result]) -> None:
    page = report_html(*solved, (), command="", versions={})
    texts = chart_texts(tmp_path, page, "svg.ridges", 500)
    assert [text for text in texts if not text.is_whole or text.height_px < 10] == []
    numbers = [float(text.text.replace(",", "")) for text in texts if re.fullmatch(r"[\d.,]+", text.text)]
    assert len(numbers) >= 3
    assert numbers == sorted(set(numbers))
