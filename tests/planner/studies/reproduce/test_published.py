"""Published experiments as files."""

from pathlib import Path

import pytest

from planner.model.errors import InputError
from planner.studies.reproduce.experiments import EXPERIMENTS
from planner.studies.reproduce.published import FOLDER, Published, files, read
from tests.planner.studies.reproduce.written import FIGURE, GOOD

FILES = files()


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_shipped_file_is_valid(path: Path) -> None:
    published = read(path)
    assert published.kind in EXPERIMENTS
    EXPERIMENTS[published.kind].inputs.model_validate(published.inputs)
    assert all(figure.source for figure in published.published)
    assert len(published.citation) > 10


@pytest.mark.parametrize("paper", sorted({path.parent.name for path in FILES}))
def test_no_figure_of_a_paper_counts_twice(paper: str) -> None:
    figures = [figure for path in files(paper=paper) for figure in read(path).published if figure.counts]
    keys = [(figure.quantity, figure.interval, figure.unit) for figure in figures if figure.origin == "paper"]
    assert sorted({key for key in keys if keys.count(key) > 1}) == []


def test_nothing_else_lies_in_the_folder() -> None:
    tables = {FOLDER / f"{name}.csv" for name in ("power", "kernel_power", "network_training")}
    """for `planner validate`"""
    assert {path for path in FOLDER.rglob("*") if path.is_file()} == {*FILES, *tables}


def test_defaults_fill_what_a_figure_leaves_out() -> None:
    content = GOOD | {
        "defaults": {"unit": "x", "tolerance": "5 %"},
        "published": [FIGURE, FIGURE | {"source": "s", "unit": ""}],
    }
    units = [figure.unit for figure in Published.model_validate(content).published]
    assert units == ["x", ""]


def test_an_unknown_paper_or_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"PAPER: 'none': is not published here; choose of .*photonic_fabric"):
        files(FOLDER, "none")
    with pytest.raises(InputError, match="is no folder"):
        files(tmp_path / "none")
