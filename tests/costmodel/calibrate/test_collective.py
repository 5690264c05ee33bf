"""Collectives inside a node: what the fit finds again, and how far it is from rows it has not seen."""

import numpy as np
import pytest

from costmodel.calibrate.collective import FAMILY, FULL, MIN_ROWS, OWN_PROTOCOLS, TERMS, _fit, _unseen_error
from costmodel.calibrate.family import Table
from costmodel.hardware.device import load_device
from costmodel.kernels.collective import OPERATIONS, VARIANT, CollectiveCurve, collective_curve, node_collective_s
from costmodel.pricing.calibration import Calibration
from planner.tables import read_table
from tests.paths import SHARED

MEASURED = SHARED / "measured" / "nccl.csv"
needs_table = pytest.mark.skipif(not MEASURED.exists(), reason="../shared/measured/nccl.csv is absent")


def _table(curve: CollectiveCurve, device: str = "h100") -> Table:
    """What a machine of this curve would measure."""
    operation, num, size = (
        axis.ravel() for axis in np.meshgrid(OPERATIONS, [2.0, 4.0, 8.0], 2.0 ** np.arange(9, 31), indexing="ij")
    )
    latency_s = node_collective_s(operation, num, size, load_device(device), curve)
    return {
        "device": np.full(len(size), device),
        "op_name": operation,
        "num_gpus": num,
        "message_bytes": size,
        "latency_ms": 1e3 * latency_s,
    }


def test_the_fit_finds_the_numbers_of_a_known_curve() -> None:
    known = CollectiveCurve(launch_s=6e-6, step_s=1.2e-6, link_bytes_per_s=500e9, in_switch_share=0.7)
    found = CollectiveCurve(**_fit(_table(known), load_device("h100"), FULL))
    for name in ("launch_s", "step_s", "link_bytes_per_s", "in_switch_share", "exchange_fill_s"):
        assert getattr(found, name) == pytest.approx(getattr(known, name), rel=0.02), name


def test_predictions_of_a_calibration_replace_those_of_the_catalog() -> None:
    known = CollectiveCurve(launch_s=1e-3)
    part = Calibration(
        device="h100-sxm", families={"nccl": {VARIANT: known.model_dump(by_alias=False)}}, source="made up"
    )
    table = _table(known)
    (series,) = FAMILY.predict(table, (part,))
    assert series.predicted == pytest.approx(table["latency_ms"])
    assert series.is_calibrated.all()
    assert not FAMILY.predict(_table(known, "h200"), None)[0].is_calibrated.any()


def test_other_operations_are_left_out_with_a_reason() -> None:
    table = dict(_table(CollectiveCurve()))
    table["op_name"] = np.where(table["op_name"] == "alltoall", "broadcast", table["op_name"])
    (series,) = FAMILY.predict(table, None)
    assert (np.isnan(series.predicted) == (table["op_name"] == "broadcast")).all()
    assert "all_gather" in series.left_out


def test_too_few_rows_are_refused() -> None:
    assert FAMILY.fit is not None
    table = {name: column[: MIN_ROWS - 1] for name, column in _table(CollectiveCurve()).items()}
    with pytest.raises(ValueError, match=f"{MIN_ROWS - 1} rows that can be fitted"):
        FAMILY.fit(table)


@pytest.mark.slow
@needs_table
def test_the_catalog_holds_what_the_table_gives() -> None:
    assert FAMILY.fit is not None
    fit = FAMILY.fit(read_table(MEASURED).columns)
    assert max(fit.mean_error.values()) < 0.06
    for (name, _), numbers in fit.curves.items():
        curve, is_fitted_here = collective_curve(load_device(name))
        assert is_fitted_here
        for parameter, value in numbers.items():
            assert getattr(curve, parameter) == pytest.approx(value, rel=0.01), (name, parameter)


@pytest.mark.slow
@needs_table
@pytest.mark.parametrize("name", ["a100", "h100"])
def test_rows_that_were_not_fitted_are_met(name: str) -> None:
    """AskedSizes: 9 % from 64 KiB up and 10 % below, on rows of the other half."""
    whole = read_table(MEASURED).columns
    table = {column: values[whole["device"] == name] for column, values in whole.items()}
    device, num_rows = load_device(name), int((whole["device"] == name).sum())
    large, small = [], []
    for seed in range(2):
        is_first = np.random.default_rng(seed).permutation(num_rows) % 2 == 0
        for is_fitted in (is_first, ~is_first):
            fitted = {column: values[is_fitted] for column, values in table.items()}
            unseen = {column: values[~is_fitted] for column, values in table.items()}
            curve = CollectiveCurve(**_fit(fitted, device, OWN_PROTOCOLS if name == "a100" else FULL))
            seconds = node_collective_s(unseen["op_name"], unseen["num_gpus"], unseen["message_bytes"], device, curve)
            error = np.abs(1e3 * seconds / unseen["latency_ms"] - 1.0)
            is_large = unseen["message_bytes"] >= 65536
            large.append(error[is_large])
            small.append(error[~is_large])
    assert np.concatenate(large).mean() < 0.09
    assert np.concatenate(small).mean() < 0.07


@pytest.mark.slow
@needs_table
def test_terms_earn_their_place_where_they_bear() -> None:
    """Without steps, protocols or fill the error on unseen rows grows by more than a tenth."""
    whole = read_table(MEASURED).columns
    table = {column: values[whole["device"] == "h100"] for column, values in whole.items()}
    device = load_device("h100")
    full = _unseen_error(table, device, FULL)
    for name in ("ring steps", "packet protocol", "fill of bulk transfers", "copy of the own share"):
        term = next(term for term in TERMS if term.name == name)
        assert _unseen_error(table, device, term) > 1.1 * full, name
