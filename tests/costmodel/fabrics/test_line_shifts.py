"""Files of shifts, and what is refused of them."""

import re
from typing import Any

import pytest
from pydantic import ValidationError

from costmodel.fabrics.line_shifts import LineShifts, load_line_shifts

SMALL = "line-shifts-2x2x1-2x2x2"


def test_files_hold_what_was_found() -> None:
    shifts = load_line_shifts(SMALL)
    assert LineShifts.model_validate_json(shifts.to_json()) == shifts


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cubes": (1, 1, 1)}, "at least two of them"),
        ({"x": [[[2, 0, 0]]]}, "x: [2, 0, 0] leaves the slice; count round, from 0 below [2, 2, 1]"),
        ({"y": [[[1, 0, 0]] * 3]}, "y: rows of equal length are needed that repeat over a face of [2, 2] places"),
        ({"z": []}, "z: rows of equal length"),
        ({"weights": [[1] * 6]}, "weights: 1 chips; give 8, or leave them out"),
        ({axis: [[[1, 1, 0]]] for axis in "xyz"}, "the lines do not join all cubes; shift some along every axis"),
    ],
)
def test_what_no_slice_can_be_is_refused(change: dict[str, Any], message: str) -> None:
    fields = load_line_shifts(SMALL).model_dump()
    with pytest.raises(ValidationError, match=re.escape(message)):
        LineShifts.model_validate(fields | change)
