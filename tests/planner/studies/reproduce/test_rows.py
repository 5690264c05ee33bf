"""Files of published experiments, and the verdict on each figure."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.model.errors import InputError
from planner.studies.reproduce.experiments import EXPERIMENTS
from planner.studies.reproduce.published import FOLDER, Figure, Published, files, read
from planner.studies.reproduce.rows import PublishedRow, judge, tally
from planner.studies.reproduce.run import reproduce_file

FILES = files()


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_shipped_file_is_valid(path: Path) -> None:
    published = read(path)
    assert published.kind in EXPERIMENTS
    EXPERIMENTS[published.kind].inputs.model_validate(published.inputs)
    assert all(figure.source for figure in published.published)
    assert len(published.citation) > 10


def test_nothing_else_lies_in_the_folder() -> None:
    assert {path for path in FOLDER.rglob("*") if path.is_file()} == set(FILES)


def _row(quantities: dict[str, float], **fields: Any) -> PublishedRow:
    figure = Figure.model_validate({"quantity": "q", "source": "table 1", **fields})
    return judge("paper", "experiment", figure, quantities)


@pytest.mark.parametrize(
    ("ours", "fields", "verdict"),
    [
        (1.0999, {"value": 1.0, "tolerance": "10 %"}, "reproduced"),
        (1.1, {"value": 1.0, "tolerance": "10 %"}, "reproduced"),
        (1.1001, {"value": 1.0, "tolerance": "10 %"}, "outside"),
        (0.8999, {"value": 1.0, "tolerance": "10 %"}, "outside"),
        (-1.09, {"value": -1.0, "tolerance": "10 %"}, "reproduced"),
        (0.168, {"value": 14, "unit": "%", "tolerance": 3}, "reproduced"),
        (0.172, {"value": 14, "unit": "%", "tolerance": 3}, "outside"),
        (128.0, {"value": 128}, "reproduced"),
        (128.001, {"value": 128}, "outside"),
        (1.41, {"range": [1.39, 1.43]}, "reproduced"),
        (1.45, {"range": [1.39, 1.43]}, "outside"),
        (1e9, {"range": [0.9, None]}, "reproduced"),
        (0.89, {"range": [0.9, None], "tolerance": "1 %"}, "outside"),
        (0.89, {"range": [0.9, None], "tolerance": "2 %"}, "reproduced"),
        (-5.0, {"range": [None, 1.0]}, "reproduced"),
        (1.45, {"range": [1.39, 1.43], "tolerance": 0.03}, "reproduced"),
        (4033e3, {"value": 4032.15, "unit": "kJ", "tolerance": "0.1 %"}, "reproduced"),
        (8 * 10e-12, {"value": 10, "unit": "pJ/bit"}, "reproduced"),
        (2.0, {"value": 1.0, "expect": "contradicted", "reason": "why"}, "contradicted"),
        (1.0, {"value": 1.0, "expect": "contradicted", "reason": "why"}, "reproduced"),
    ],
)
def test_verdicts(ours: float, fields: dict[str, Any], verdict: str) -> None:
    assert _row({"q": ours}, **fields).verdict == verdict


def test_only_what_is_required_and_outside_fails() -> None:
    assert _row({"q": 2.0}, value=1.0).is_failure
    assert not _row({"q": 2.0}, value=1.0, required=False).is_failure
    assert not _row({"q": 2.0}, value=1.0, expect="contradicted", reason="why").is_failure


def test_a_contradiction_that_vanished_has_no_reason_left() -> None:
    assert _row({"q": 1.0}, value=1.0, expect="contradicted", reason="why").reason == ""


def test_what_is_not_derivable_has_no_figure_of_ours() -> None:
    row = _row({}, value=1.0, expect="not derivable", reason="why")
    assert (row.verdict, row.ours, row.reason) == ("not derivable", None, "why")
    assert tally([row])["not derivable"] == 1
    with pytest.raises(ValueError, match="yet it is computed; drop `expect`"):
        _row({"q": 1.0}, value=1.0, expect="not derivable", reason="why")


def test_other_readings_are_in_the_same_unit() -> None:
    assert _row({"q": 0.5, "r": 0.4}, value=50, unit="%", beside={"weak": "r"}).beside == {"weak": pytest.approx(40)}
    with pytest.raises(ValueError, match="the experiment computes no 'r'; it computes q"):
        _row({"q": 0.5}, value=50, unit="%", beside={"weak": "r"})
    with pytest.raises(ValueError, match="gives nan"):
        _row({"q": float("nan")}, value=1.0)


GOOD: dict[str, Any] = {
    "paper": "some", "title": "T", "citation": "C", "experiment": "E", "kind": "dlrm_pooling",
    "inputs": {
        "tables": [1], "batch": [128], "pooling": [32], "dimension": 32, "precision": "fp32", "table": "10 TB",
        "device": "h100-sxm", "efficiency": 0.65, "launch": "12 us",
        "networks": {"NVLink": {"step": "2.5 us", "bandwidth": "300 GB/s"}},
        "appliance_modules": 16, "appliance_index": 8,
    },
    "published": [{"quantity": "devices", "value": 128, "source": "section 7"}],
}  # fmt: skip


def _written(folder: Path, content: dict[str, Any], paper: str = "some") -> Path:
    path = folder / paper / "file.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def test_a_good_file_is_computed(tmp_path: Path) -> None:
    outcome = reproduce_file(_written(tmp_path, GOOD))
    assert [(row.ours, row.verdict) for row in outcome.rows] == [(128.0, "reproduced")]
    assert files(tmp_path, "some") == [tmp_path / "some" / "file.yaml"]


FIGURE = GOOD["published"][0]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"kind": "dlrm"}, "kind: unknown experiment 'dlrm'; did you mean dlrm_pooling"),
        ({"paper": "other"}, "is 'other' in the folder 'some'; move the file"),
        ({"inputs": GOOD["inputs"] | {"colour": 1}}, "inputs: colour: is no known field"),
        ({"inputs": GOOD["inputs"] | {"device": "h10"}}, "inputs: unknown device"),
        ({"published": [FIGURE, FIGURE]}, "given twice"),
        ({"published": [FIGURE | {"quantity": "d"}]}, r"published\[d\]: the experiment computes no 'd'"),
        ({"published": [FIGURE | {"range": [1, 2]}]}, "either a value or a range"),
        ({"published": [{"quantity": "d", "range": [2, 1], "source": "s"}]}, "is empty or has no end"),
        ({"published": [{"quantity": "d", "range": [None, None], "source": "s"}]}, "is empty or has no end"),
        ({"published": [FIGURE | {"unit": "furlong"}]}, "'furlong' is unknown; use one of"),
        ({"published": [FIGURE | {"tolerance": "wide"}]}, "cannot read 'wide'; write '10 %'"),
        ({"published": [FIGURE | {"expect": "contradicted"}]}, "is said to be contradicted; say why"),
    ],
)
def test_a_wrong_file_is_named_with_the_field(tmp_path: Path, change: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        reproduce_file(_written(tmp_path, GOOD | change))


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
