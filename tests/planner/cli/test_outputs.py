"""Files that are written: earlier outputs are replaced, other files are not."""

from pathlib import Path

import pytest

from planner.cli.inputs import require_writable
from planner.cli.outputs import FRONT_TABLE, MSCCL, PICTURE, PLAN, RUNS_TABLE, WEB_PAGE, Output
from planner.model.errors import InputError
from planner.model.plan import Plan
from tests.planner.cli.conftest import Planner

OUTPUTS = {
    "the instance by --plan-out": ("solve", "{instance}", "--plan-out", "{instance}"),
    "the instance by --report": ("solve", "{instance}", "--report", "{instance}"),
    "a plan by --report": ("solve", "{instance}", "--report", "{plan}"),
    "notes by --plan-out": ("solve", "{instance}", "--plan-out", "{notes}"),
    "notes by --plot": ("solve", "{instance}", "--plot", "{notes}.png"),
    "the instance by repair": ("repair", "{instance}", "{plan}", "--failed", "s0.t0", "-o", "{instance}"),
    "the jobs by compare": ("compare", "{instance}", "--csv", "{jobs}"),
    "the instance by compare": ("compare", "{instance}", "--out-json", "{instance}"),
    "the jobs by trace": ("trace", "-o", "{jobs}"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", OUTPUTS)
def test_a_file_of_another_kind_is_not_overwritten(planner: Planner, instance: Path, case: str) -> None:
    folder = instance.parent
    files = {"instance": instance, "plan": folder / "plan.json", "notes": folder / "notes", "jobs": folder / "jobs.csv"}
    assert planner("solve", instance, "--policy", "first_fit", "--plan-out", files["plan"]).code == 0
    for name in ("notes", "notes.png"):
        (folder / name).write_text("what we agreed on")
    files["jobs"].write_text("name,model,kind,accelerators\n")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    outcome = planner(*(argument.format(**files) for argument in OUTPUTS[case]))
    assert outcome.code == 2
    assert "exists and is not a" in outcome.err
    assert "choose another name" in outcome.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_an_earlier_output_is_replaced(planner: Planner, instance: Path) -> None:
    plan, page, empty = (instance.with_name(name) for name in ("plan.json", "page.html", "empty.json"))
    empty.touch()
    for _ in range(2):
        assert planner("solve", instance, "--policy", "first_fit", "--plan-out", plan, "--report", page).code == 0
    assert planner("solve", instance, "--policy", "first_fit", "--plan-out", empty).code == 0
    assert Plan.load(empty) == Plan.load(plan)


@pytest.mark.slow
def test_outputs_have_the_same_names_everywhere(planner: Planner, instance: Path) -> None:
    plans = [instance.with_name(name) for name in ("a.json", "b.json", "c.json")]
    pages = [instance.with_name(name) for name in ("a.html", "b.html")]
    for option, path in zip(("--plan-out", "--output", "-o"), plans, strict=True):
        assert planner("solve", instance, "--policy", "first_fit", option, path).code == 0
    assert Plan.load(plans[0]) == Plan.load(plans[1]) == Plan.load(plans[2])
    for option, path in zip(("--report", "--html"), pages, strict=True):
        assert planner("solve", instance, "--policy", "first_fit", option, path).code == 0
        assert path.read_text("utf-8").startswith("<!doctype html")
    again = instance.with_name("again.json")
    assert planner("repair", instance, plans[0], "--failed", "s1.t1", "--plan-out", again).code == 0
    assert Plan.load(again).admitted == Plan.load(plans[0]).admitted


@pytest.mark.parametrize(
    ("kind", "name", "problem"),
    [
        (WEB_PAGE, "x.pdf", "ends in .pdf, and is a web page; use .html or .htm"),
        (WEB_PAGE, "x.JSON", "ends in .json, and is a web page; use .html or .htm"),
        (RUNS_TABLE, "x.txt", "ends in .txt, and is a table of runs; use .csv or .parquet"),
        (FRONT_TABLE, "x.parquet", "ends in .parquet, and is a table of a front; use .csv"),
        (PLAN, "x.html", "ends in .html, and is a plan; use .json"),
        (MSCCL, "x.json", "ends in .json, and is an algorithm of MSCCL; use .xml"),
        (PICTURE, "x.txt", "ends in no known format; use .png or .svg"),
        (PICTURE, "x", "ends in no known format; use .png or .svg"),
    ],
)
def test_a_name_that_means_another_kind_of_file_is_refused(
    kind: Output, name: str, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as error:
        require_writable(tmp_path / name, "--option", kind)
    assert str(error.value) == f"{tmp_path / name}: --option: {problem}"


@pytest.mark.parametrize(
    ("kind", "name"),
    [(WEB_PAGE, "x.HTML"), (WEB_PAGE, "x"), (PLAN, "x.json"), (PLAN, "plan.v2"), (RUNS_TABLE, "x.parquet"),
     (PICTURE, "x.SVG")],
)  # fmt: skip
def test_any_other_name_is_taken(kind: Output, name: str, tmp_path: Path) -> None:
    require_writable(tmp_path / name, "--option", kind)


def test_a_report_and_a_table_under_a_wrong_name_are_refused_before_a_search(planner: Planner, instance: Path) -> None:
    page, table = instance.with_name("x.pdf"), instance.with_name("a.txt")
    outcome = planner("solve", instance, "--report", page)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"error: {page}: --report: ends in .pdf, and is a web page; use .html or .htm\n"
    assert planner("compare", instance, "--csv", table).code == 2
    assert not page.exists()
    assert not table.exists()
