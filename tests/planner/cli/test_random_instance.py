"""planner new --random: what it writes is read and solved, one seed is one file, and numbers must go together."""

from pathlib import Path

import pytest

from planner.model.instance import Instance
from tests.planner.cli.conftest import Planner

SMALL = ("--random", "--accelerators", 64, "--jobs", 12)


@pytest.mark.slow
@pytest.mark.parametrize("fabric", ["lightpath", "fat_tree", "ocs_rail", "torus"])
def test_it_solves_as_written(planner: Planner, tmp_path: Path, fabric: str) -> None:
    path = tmp_path / "new.json"
    assert planner("new", "--fabric", fabric, *SMALL, "-o", path).code == 0
    instance = Instance.load(path)
    assert (instance.cluster.fabric.num_devices, len(instance.jobs)) == (64, 12)
    assert planner("solve", path, "--policy", "first_fit").code == 0


def test_one_seed_is_one_file(planner: Planner) -> None:
    texts = [planner("new", "--fabric", "lightpath", *SMALL, "--seed", seed).out for seed in (3, 3, 4)]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("fabric", ["fat_tree", "lightpath"])
def test_jobs_are_as_large_as_said(planner: Planner, tmp_path: Path, fabric: str) -> None:
    path = tmp_path / "new.yaml"
    sizes = ("--accelerators", 4096, "--jobs", 40, "--most", 1024)
    assert planner("new", "--fabric", fabric, "--random", *sizes, "-o", path).code == 0
    assert 256 < max(max(job.sizes) for job in Instance.load(path).jobs) <= 1024


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--random", "--accelerators", 300), "--accelerators: 300 is no number of full racks; give a multiple of 256"),
        (("--random", "--jobs", "jobs.csv"), "--jobs: 'jobs.csv' is no number of jobs; with --random give one"),
        (("--random", "--jobs", 0), "--jobs: '0' is no number of jobs"),
        (("--random", "--jobs", 5000), "give 20 to 640 jobs"),
        (("--random", "--jobs", 2), "give 20 to 640 jobs"),
        (("--random", "--most", 2000), "--most: a job of 2000 finds 1024 at most on this fabric; give at most 1024"),
        (("--random", "--device", "h1000"), "cluster.device: unknown device 'h1000'"),
        (("--random", "--servers", 4), "--servers: means nothing with --random; its size is --accelerators"),
        (("--seed", 4), "--seed: is of random instances alone; give --random too"),
        (("--most", 4), "--most: is of random instances alone; give --random too"),
    ],
)
def test_numbers_that_do_not_go_together_are_refused(
    planner: Planner, options: tuple[object, ...], problem: str
) -> None:
    outcome = planner("new", "--fabric", "lightpath", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert problem in outcome.err
    assert outcome.err.count("\n") == 1
