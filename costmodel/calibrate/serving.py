"""Serving at a fixed concurrency: table serving.csv -> overheads of each backend, and settings of each pair."""

from collections.abc import Iterator

import numpy as np

from costmodel.calibrate.family import Ablation, AskedSizes, Bools, Calibrations, Family, Fit, Series, Table
from costmodel.calibrate.serving_fit import FULL, TERMS, fit_device
from costmodel.calibrate.serving_rows import EXPERT, LEFT_OUT, RANGE_RATIO, SIZES, Pair, pairs, ranges_of
from costmodel.pricing.calibration import curve_source
from costmodel.serving.backends import GENERIC, serving_curve
from costmodel.wording import counted

MIN_ROWS = 24
"""of a device, to fit it"""
MEASURED = ("ttft_ms", "tpot_ms")


def predict(table: Table, calibrations: Calibrations | None) -> tuple[Series, ...]:
    """Time to first token and time per output token of each row, ms."""
    size = len(table["model"])
    first_ms, token_ms = np.full(size, np.nan), np.full(size, np.nan)
    is_calibrated = np.zeros(size, dtype=np.bool_)
    for pair in pairs(table):
        _, is_known = serving_curve(pair.device, pair.backend, pair.model, calibrations)
        served = pair.serve(calibrations)
        first_ms[pair.rows], token_ms[pair.rows] = 1e3 * served.first_token_s, 1e3 * served.token_s
        is_calibrated[pair.rows] = is_known
    left_out = "" if np.isfinite(token_ms).all() else LEFT_OUT
    return (
        Series("time to first token", "ms", first_ms, table["ttft_ms"], is_calibrated, left_out),
        Series("time per output token", "ms", token_ms, table["tpot_ms"], is_calibrated, left_out),
    )


def asked(table: Table) -> Iterator[AskedSizes]:
    """Users and tokens of rows, by the pair that serves them, or its backend."""
    columns = {name: table[name] for name in ("concurrency", "input_tokens", "output_tokens")}
    for pair in pairs(table):
        is_known = curve_source(pair.device, FAMILY.name, pair.variant) is not None
        yield AskedSizes(pair.device.name, pair.variant if is_known else pair.backend, pair.rows, columns)


def fit(table: Table) -> Fit:
    """Curves of all backends and pairs of each device; errors are those of the time per output token."""
    result = Fit({}, {}, {})
    for device, own in _by_device(_measured(table)).items():
        _require_rows(device, own)
        fitted = fit_device(own, FULL)
        for variant, numbers in fitted.curves().items():
            errors = [
                np.abs(np.expm1(fitted.residuals(pair)[1])) for pair in own if variant in (*pair.variants, GENERIC)
            ]
            result.curves[device, variant] = numbers
            result.mean_error[device, variant] = float(np.concatenate(errors).mean())
            result.rows[device, variant] = sum(map(len, errors))
            result.ranges[device, variant] = ranges_of([p for p in own if variant in (*p.variants, GENERIC)])
            result.free[device, variant] = () if variant == GENERIC else fitted.decided(variant)
    return result


def ablations(table: Table) -> tuple[Ablation, ...]:
    """Each term left out in turn, fitted on a random half and judged on the other.

    The error is the mean of those of the time to first token and of the time per output token.
    """
    usable = _measured(table)
    is_fitted = np.random.default_rng(0).permutation(len(usable["model"])) % 2 == 0
    seen, unseen = _by_device(_rows(usable, is_fitted)), _by_device(_rows(usable, ~is_fitted))
    found = []
    for device in sorted(seen.keys() & unseen.keys()):
        _require_rows(device, seen[device])
        for term in (FULL, *TERMS):
            fitted = fit_device(seen[device], term)
            errors = [np.abs(np.expm1(column)) for pair in unseen[device] for column in fitted.residuals(pair)]
            mean = float(np.concatenate(errors).mean())
            found.append(Ablation(device, "all", term.name, fitted.num_parameters, mean))
    return tuple(found)


def _by_device(table: Table) -> dict[str, list[Pair]]:
    found: dict[str, list[Pair]] = {}
    for pair in pairs(table):
        found.setdefault(pair.device.name, []).append(pair)
    return found


def _require_rows(device: str, own: list[Pair]) -> None:
    if (num_rows := sum(len(pair.loads) for pair in own)) < MIN_ROWS:
        raise ValueError(
            f"device '{device}' has {counted(num_rows, 'row')} that can be fitted; give {MIN_ROWS} or more"
        )


def _measured(table: Table) -> Table:
    """Rows with both times that fit into memory."""
    is_timed = np.all([np.nan_to_num(table[name]) > 0 for name in MEASURED], axis=0)
    fits = np.isfinite(predict(table, None)[0].predicted)
    if not (is_timed & fits).any():
        raise ValueError(
            "no row can be fitted: each needs both times, and a model of the catalog that fits into memory"
        )
    return _rows(table, is_timed & fits)


def _rows(table: Table, rows: Bools) -> Table:
    return {name: column[rows] for name, column in table.items()}


FAMILY = Family(
    name="serving",
    columns=("model", "device", "backend", "precision", *SIZES, *MEASURED),
    names=("model", "device", "backend", "precision"),
    groups=("model", "backend", "precision"),
    predict=predict,
    fit=fit,
    ablations=ablations,
    asked=asked,
    optional=("pp_size", EXPERT, RANGE_RATIO),
    bounds=dict.fromkeys(("pp_size", EXPERT), (1, np.inf)),
)
