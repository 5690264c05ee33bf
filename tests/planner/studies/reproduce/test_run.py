"""One published experiment, from its file to its rows."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.model.errors import InputError
from planner.studies.reproduce.published import files
from planner.studies.reproduce.run import reproduce_file
from tests.planner.studies.reproduce.written import FIGURE, GOOD


def _written(folder: Path, content: dict[str, Any], paper: str = "some") -> Path:
    path = folder / paper / "file.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def test_a_good_file_is_computed(tmp_path: Path) -> None:
    outcome = reproduce_file(_written(tmp_path, GOOD))
    assert [(row.ours, row.verdict) for row in outcome.rows] == [(128.0, "reproduced")]
    assert files(tmp_path, "some") == [tmp_path / "some" / "file.yaml"]


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
        ({"published": [FIGURE | {"expect": "fitted"}]}, "is said to be fitted; say why"),
    ],
)
def test_a_wrong_file_is_named_with_the_field(tmp_path: Path, change: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        reproduce_file(_written(tmp_path, GOOD | change))
