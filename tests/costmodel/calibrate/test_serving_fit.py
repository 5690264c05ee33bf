"""Each term of the serving curve earns its place."""

import numpy as np
import pytest

from costmodel.calibrate.family import Table
from costmodel.calibrate.serving import _rows
from costmodel.calibrate.serving_fit import FULL, OWN, SHARED, TERMS, Fitted, Term, _drop_unmoved, fit_device
from costmodel.calibrate.serving_rows import pairs
from costmodel.field_docstrings import field_descriptions
from costmodel.serving.backends import SETTINGS, ServingCurve
from tests.costmodel.calibrate.serving_cases import measured, needs_table


def test_each_number_of_the_curve_has_a_meaning_and_they_are_few() -> None:
    assert len(ServingCurve.model_fields) <= 12
    assert field_descriptions(ServingCurve).keys() == ServingCurve.model_fields.keys()
    assert {name for term in TERMS for name in term.fixed} <= set(ServingCurve.model_fields)


@needs_table
def test_a_number_on_which_no_row_bears_is_left_at_its_default() -> None:
    """Prompts of SGLang, which run by themselves, take longer than their launches, and none of its rows is of fp8."""
    own = [*pairs(_rows(measured(), measured()["backend"] == "sglang"))]
    first = {name: value for name, (value, _, _) in OWN.items()}
    fitted = Fitted(
        FULL, {name: value for name, (value, _, _) in SHARED.items()}, {"sglang": first | SETTINGS["sglang"]}, {}
    )
    _drop_unmoved(fitted, own)
    assert fitted.own["sglang"].keys() == {"sequence_s", "first_token_s", "prefill_tokens"}


@pytest.mark.slow
@needs_table
def test_a_term_earns_its_place() -> None:
    """Without it, refitted, errors on unseen rows of the backend that it bears on are larger; `planner calibrate
    --ablation` judges every term on all of them."""
    all_terms = _unseen(measured(), FULL)
    without = _unseen(measured(), next(term for term in TERMS if term.name == "prompts first"))
    assert without > all_terms * 2


def _unseen(table: Table, term: Term) -> float:
    """Mean error on a half of the rows of SGLang of a fit on the other."""
    is_fitted = np.random.default_rng(0).permutation(304) % 2 == 0
    seen, unseen = (
        [pair for pair in pairs(_rows(table, rows)) if pair.backend == "sglang"] for rows in (is_fitted, ~is_fitted)
    )
    fitted = fit_device(seen, term)
    residuals = [np.concatenate(fitted.residuals(pair)) for pair in unseen]
    return float(np.abs(np.expm1(np.concatenate(residuals))).mean())
