"""planner new: what it writes can be solved, and bad rows of a CSV file are named."""

from pathlib import Path

import pytest

from planner.model.instance import Instance
from tests.paths import ROOT
from tests.planner.cli.commands.new_cases import HEADER
from tests.planner.cli.conftest import Planner


@pytest.mark.slow
@pytest.mark.parametrize(
    "fabric", ["lightpath", "fat_tree", "ocs_rail", "torus", "sipam", "divided_ports", "memory_ring"]
)
@pytest.mark.parametrize(("servers", "tiles"), [(1, 1), (2, 4)])
def test_it_solves_as_written(planner: Planner, tmp_path: Path, fabric: str, servers: int, tiles: int) -> None:
    path = tmp_path / "new.yaml"
    assert planner("new", "--fabric", fabric, "--servers", servers, "--tiles", tiles, "-o", path).code == 0
    instance = Instance.load(path)
    assert instance.cluster.fabric.num_devices == servers * tiles
    assert path.read_text("utf-8").count("#") > 8
    assert planner("solve", path, "--policy", "first_fit").code == 0


@pytest.mark.slow
@pytest.mark.parametrize(("tiles", "lines"), [(64, ("radix: 4 ", "digits: 3 ")), (8, ("radix: 2 ", "digits: 3 "))])
def test_a_sipac_has_as_many_devices_as_asked(
    planner: Planner, tmp_path: Path, tiles: int, lines: tuple[str, ...]
) -> None:
    path = tmp_path / "new.yaml"
    assert planner("new", "--fabric", "sipac", "--servers", 1, "--tiles", tiles, "-o", path).code == 0
    assert all(line in path.read_text("utf-8") for line in lines)
    assert Instance.load(path).cluster.fabric.num_devices == tiles
    outcome = planner("new", "--fabric", "sipac", "--tiles", 1)
    assert (outcome.code, "give 2 or more" in outcome.err) == (2, True)


def test_stdout_is_the_instance_alone(planner: Planner, tmp_path: Path) -> None:
    outcome = planner("new", "--fabric", "lightpath")
    path = tmp_path / "new.yaml"
    path.write_text(outcome.out, encoding="utf-8")
    assert Instance.load(path).name == "lightpath-8x8"
    assert outcome.err == ""


def test_nothing_is_overwritten_unless_forced(planner: Planner, tmp_path: Path) -> None:
    path = tmp_path / "new.yaml"
    path.write_text("mine", encoding="utf-8")
    outcome = planner("new", "--fabric", "lightpath", "-o", path)
    assert outcome.code == 2
    assert "--force" in outcome.err
    assert path.read_text("utf-8") == "mine"
    assert planner("new", "--fabric", "lightpath", "-o", path, "--force").code == 0
    assert path.read_text("utf-8") != "mine"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "place", "problem"),
    [
        ("a,t,bert-large,training,lots,1,,,,,,", "line 2, column 'accelerators'", "write 8, 4-16 or 4;8"),
        ("a,t,bert-large,training,4-,1,,,,,,", "line 2, column 'accelerators'", "write 8"),
        ("a,t,bert-large,training,-8,1,,,,,,", "line 2, column 'accelerators'", "cannot read '-8'; write 8"),
        ("a,t,bert-large,training,8-4,1,,,,,,", "line 2, column 'accelerators'", "min 8 is above max 4"),
        ("a,t,bert-large,training,4-8;16,1,,,,,,", "line 2, column 'accelerators'", "write 8"),
        ("a,t,bert-large,training,0,1,,,,,,", "line 2, column 'accelerators'", "above 0"),
        ("a,t,bert-large,training,500,1,,,,,,", "line 2, column 'accelerators'", "more than the 64"),
        ("a,t,bert,training,8,1,,,,,,", "line 2, column 'model'", "did you mean bert-base or bert-large"),
        ("a,t,bert-large,dancing,8,1,,,,,,", "line 2, column 'kind'", "training or inference"),
        ("a,t,bert-large,training,8,-1,,,,,,", "line 2, column 'weight'", "must be above 0"),
        ("a,t,bert-large,training,8,heavy,,,,,,", "line 2, column 'weight'", "a number"),
        ("a,t,bert-large,training,8,1,maybe,,,,,", "line 2, column 'required'", "true or false"),
        ("a,t,bert-large,training,8,1,,x,,,,", "line 2, column 'global_batch'", "a whole number"),
        ("a,t,bert-large,training,8,1,,,,4,,", "line 2, column 'concurrency'", "means nothing to training"),
        (",t,bert-large,training,8,1,,,,,,", "line 2, column 'name'", "is empty"),
        ("a,t,bert-large,training,4,8,1,,,,,,", "line 2", "13 cells for 12 columns"),
        ("a,,bert-large,training,8,,,,,,,\na,,bert-large,training,4,,,,,,,", "line 3, column", "of line"),
        ('a,t,"bert', "line 2", "no valid CSV"),
        ("", "", "holds no job"),
    ],
)  # fmt: skip
def test_a_bad_row_is_named(planner: Planner, tmp_path: Path, row: str, place: str, problem: str) -> None:
    jobs = tmp_path / "jobs.csv"
    jobs.write_text(f"{HEADER}\n{row}\n", encoding="utf-8")
    outcome = planner("new", "--fabric", "lightpath", "--jobs", jobs)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith(f"error: {jobs}: {place}")
    assert problem in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("header", "problem"),
    [("name,model,kind", "'accelerators': is missing"), (HEADER + ",color", "'color': is no known column"),
     (HEADER + ",name", "'name': is given twice"),
     (HEADER.replace("name", "Name", 1), "'name': is missing; did you mean 'Name'? Rename it to name."),
     (HEADER + ",Weigth", "'Weigth': is no known column; did you mean 'weight'?"),
     (HEADER.replace(",", ";"), "'name': is missing; the columns are parted by semicolons; save the table with commas"),
     (HEADER.replace(",", "\t"), "'name': is missing; the columns are parted by tabs")],
)  # fmt: skip
def test_a_bad_header_is_named(planner: Planner, tmp_path: Path, header: str, problem: str) -> None:
    jobs = tmp_path / "jobs.csv"
    jobs.write_text(f"{header}\n", encoding="utf-8")
    outcome = planner("new", "--fabric", "lightpath", "--jobs", jobs)
    assert outcome.code == 2
    assert f"line 1, column {problem}" in outcome.err


@pytest.mark.slow
def test_the_shipped_jobs_make_an_instance_that_runs_them_all(planner: Planner, tmp_path: Path) -> None:
    path = tmp_path / "new.yaml"
    jobs = ROOT / "instances" / "jobs.csv"
    assert planner("new", "--fabric", "lightpath", "--jobs", jobs, "-o", path).code == 0
    outcome = planner("solve", path, "--policy", "best_fit")
    assert outcome.code == 0
    assert "6 of 6 jobs" in outcome.out


def test_a_missing_table_is_not_answered_by_the_command_itself(planner: Planner, tmp_path: Path) -> None:
    outcome = planner("new", "--fabric", "lightpath", "--jobs", tmp_path / "none.csv")
    assert outcome.code == 2
    assert "does not exist; write one with the columns name, model, kind, accelerators" in outcome.err
    assert "planner new" not in outcome.err
