"""Training steps: prediction of measured step times and peak memory, and the fit of a device's efficiencies."""

from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np

from costmodel.calibrate.asked import ranges_of
from costmodel.calibrate.family import Ablation, AskedSizes, Bools, Calibrations, Family, Fit, Floats, Series, Table
from costmodel.calibrate.training_rows import (
    COUNTS,
    LEFT_OUT,
    MAY_BE_BLANK,
    MOST_COUNT,
    MOST_TOKENS,
    RECIPE,
    SHAPE,
    Row,
    rows_of,
)
from costmodel.hardware.device import load_device
from costmodel.hardware.systems import system_of
from costmodel.pricing.calibration import Calibration, Numbers, load_calibrations, without_family
from costmodel.pricing.efficiency import (
    TRAINING_ATTENTION,
    TRAINING_LAUNCH_S,
    TRAINING_LINK,
    TRAINING_STEP_S,
    WIDE_SHARE,
    typical_matrix,
)
from costmodel.pricing.jitter import COVERAGE, step_band_s

FAMILY_NAME = "training"
FREE: dict[str, float] = {"matrix": 1.0, "attention": 1.0, "link_bandwidth": 1e9}
"""numbers that may be fitted, and the units in which the search runs"""
PRIOR = {"matrix": 0.02, "attention": 0.12, "link_bandwidth": 0.05}
"""weight of the logarithm of a number over the typical one beside that of a row's step: few rows move it little"""
SHARES = ("matrix", "attention")
"""numbers that devices with about the same peaks have in common"""
MOST = {"matrix": 1.0, "attention": 1.0, "link_bandwidth": 2000.0}
NEAR = 0.15
"""by how much the matrix peaks of devices of one generation differ"""
MOST_TYPICAL = 0.15
"""share of the rows that may wait for links whose rate is typical"""
CurveRows = tuple[list[Row], Floats]
"""rows of one device, precision and framework, and their measured steps in s"""
Curves = dict[str, CurveRows]
"""of one device, by variant"""
Free = dict[str, tuple[str, ...]]
"""names of the numbers that rows decide, by variant"""


def predict(table: Table, calibrations: Calibrations | None = None) -> tuple[Series, ...]:
    """Step time; where known, how far it is outside of the steps' 10th to 90th percentiles, and peak memory."""
    found = [(np.nan, np.nan, False) if row is None else row.predict(calibrations) for row in rows_of(table)]
    step_s, peak_bytes = (np.array([each[i] for each in found]) for i in (0, 1))
    is_fitted = np.array([each[2] for each in found], dtype=np.bool_)
    left_out = LEFT_OUT if np.isnan(step_s).any() else ""
    series = [Series("step time", "s", step_s, np.asarray(table["step_s"], np.float64), is_fitted, left_out)]
    if {"step_p10_s", "step_p90_s"} <= table.keys():
        band = np.clip(step_s, table["step_p10_s"], table["step_p90_s"])
        told = left_out or ("jitter was not measured" if np.isnan(band).any() else "")
        series.append(Series("step time beyond its jitter", "s", step_s, band, is_fitted, told))
        series += _jitter(table, is_fitted)
    if "peak_alloc_gib" in table:
        peak = np.asarray(table["peak_alloc_gib"], np.float64)
        told = "peak memory was not measured" if np.isnan(peak).any() else left_out
        predicted = np.where(np.isnan(peak), np.nan, peak_bytes / 2**30)
        series.append(Series("peak memory", "GiB", predicted, peak, is_fitted, told))
    return tuple(series)


def _jitter(table: Table, is_fitted: Bools) -> list[Series]:
    """Typical 10th and 90th percentiles of steps about each row's measured step, beside those measured; and how many
    rows the stated band holds."""
    names = {"step_p10_s": "10th percentile of steps", "step_p90_s": "90th percentile of steps"}
    step_s = np.asarray(table["step_s"], np.float64)
    typical, band = step_band_s(step_s, 1.0), step_band_s(step_s)
    measured = [np.asarray(table[name], np.float64) for name in names]
    is_within = (measured[0] >= band[0]) & (measured[1] <= band[1])
    known = int(np.isfinite(measured[0] + measured[1]).sum())
    held = f"both percentiles lie within the stated band in {int(is_within.sum())} of {known} rows"
    note = f"{held}, stated for {COVERAGE:.0%}"
    each = zip(names.values(), typical, measured, ("", note), strict=True)
    told = "jitter was not measured"
    return [
        Series(f"{name}, from the measured step", "s", np.where(np.isnan(of), np.nan, stated), of, is_fitted,
               told if np.isnan(of).any() else "", said)
        for name, stated, of, said in each
    ]  # fmt: skip


def _fit_curves(curves: Curves, free: Free, base: Numbers) -> dict[str, Numbers]:
    """Least squares of the logarithm of step times over the numbers that the curves of one device are free in, by
    curve; a number that several are free in is one. All else is that of `base`, but for matrices of 16 bits beside
    those of 8."""
    from scipy.optimize import least_squares

    names = tuple(name for name in FREE if any(name in own for own in free.values()))
    start = np.array([base[name] / FREE[name] for name in names])
    weights = np.array([PRIOR[name] for name in names])

    def numbers(x: Floats) -> dict[str, Numbers]:
        known = {name: float(value) * FREE[name] for name, value in zip(names, x, strict=True)}
        return {variant: _numbers_of(variant, known) for variant in curves}

    def _numbers_of(variant: str, known: Numbers) -> Numbers:
        own = base | {name: known[name] for name in free[variant]}
        if variant == "bf16" and len(curves) > 1:
            own["matrix"] = WIDE_SHARE * known["matrix"]
        is_told = "attention" in free[variant] or _is_fused(curves[variant][0])
        return own if is_told else own | {"attention": own["matrix"]}

    def residuals(x: Floats) -> Floats:
        found = numbers(x)
        errors = [np.log(_predicted_s(variant, rows, found[variant]) / s) for variant, (rows, s) in curves.items()]
        return np.concatenate([*errors, weights * np.log(x / start)])

    bounds = np.full(len(names), 1e-6), np.array([MOST[name] for name in names])
    best = least_squares(residuals, start, bounds=bounds, x_scale=start, diff_step=1e-3, max_nfev=30, loss="soft_l1",
                         f_scale=0.05)  # fmt: skip
    return numbers(best.x)


def _fit_curve(variant: str, curve: CurveRows, free: tuple[str, ...], base: Numbers) -> Numbers:
    return _fit_curves({variant: curve}, {variant: free}, base)[variant]


def _predicted_s(variant: str, rows: list[Row], numbers: Numbers) -> Floats:
    part = Calibration(device=rows[0].device.name, families={FAMILY_NAME: {variant: numbers}}, source="search")
    return np.array([row.predict((part, *_kernels()))[0] for row in rows])


@cache
def _kernels() -> Calibrations:
    """The catalog's curves of kernels, which price steps beside what is fitted here."""
    return without_family(FAMILY_NAME, load_calibrations())


def _mean_error(variant: str, curve: CurveRows, numbers: Numbers) -> float:
    return float(np.abs(_predicted_s(variant, curve[0], numbers) / curve[1] - 1).mean())


def _typical(rows: list[Row]) -> Numbers:
    device = rows[0].device
    link = TRAINING_LINK * system_of(device.name).nvlink_bandwidth_bytes_per_s
    started = {"launch": TRAINING_LAUNCH_S, "step": TRAINING_STEP_S}
    shared = {"memory": device.memory_efficiency, **started, "link_bandwidth": link}
    matrix = typical_matrix(device, rows[0].workload.precision)
    return {"matrix": matrix, "attention": TRAINING_ATTENTION} | shared


def _start(rows: list[Row], curves: Mapping[tuple[str, str], Numbers]) -> Numbers:
    """Shares of the nearest fitted device that it is like, with about its matrix peak; else typical ones."""
    typical, peak = _typical(rows), rows[0].device.matrix_flops_per_s("bf16")
    for name in rows[0].device.ancestry[1:]:
        is_near = abs(load_device(name).matrix_flops_per_s("bf16") / peak - 1) <= NEAR
        if is_near and (found := curves.get((name, rows[0].variant))):
            return typical | {each: found[each] for each in SHARES}
    return typical


def _is_fused(rows: list[Row]) -> bool:
    return rows[0].workload.attention == "fused"


def _free(rows: list[Row]) -> tuple[str, ...]:
    """What rows can tell: unfused attention runs the kernels of matrices, and one precision has one kind of links,
    which are typical where few rows wait for them."""
    if not _is_fused(rows):
        return ("matrix",)
    wait = sum(row.shows_links for row in rows)
    return ("matrix", "attention", *(["link_bandwidth"] if wait > MOST_TYPICAL * len(rows) else []))


def _held_out(variant: str, curve: CurveRows, free: tuple[str, ...]) -> float:
    """Mean error of each half of the rows under the fit of the other."""
    rows, measured_s = curve
    halves, errors = np.arange(len(rows)) % 2, []
    for half in (0, 1):
        fitted, judged = np.flatnonzero(halves != half), np.flatnonzero(halves == half)
        part = [rows[i] for i in fitted]
        numbers = _fit_curve(variant, (part, measured_s[fitted]), free, _typical(part))
        errors.append(_mean_error(variant, ([rows[i] for i in judged], measured_s[judged]), numbers))
    return float(np.mean(errors))


def _measured(table: Table) -> Table:
    is_timed = np.asarray(table["step_s"], np.float64) > 0
    return {name: column[is_timed] for name, column in table.items()}


def _by_curve(table: Table) -> dict[tuple[str, str], CurveRows]:
    """Rows by device and variant: devices before those that are like them, frameworks of old after the newest."""
    timed = _measured(table)
    measured_s = np.asarray(timed["step_s"], np.float64)
    usable = [(row, i) for i, row in enumerate(rows_of(timed)) if row is not None]
    if not usable:
        raise ValueError(f"no row can be fitted: left out are {LEFT_OUT}")
    picks: dict[tuple[str, str], list[tuple[Row, int]]] = {}
    for row, i in usable:
        picks.setdefault((row.device.name, row.variant), []).append((row, i))
    return {
        key: ([row for row, _ in own], measured_s[[i for _, i in own]])
        for key, own in sorted(picks.items(), key=lambda each: (len(each[1][0][0].device.ancestry), each[0]))
    }


def asked(table: Table) -> Iterator[AskedSizes]:
    """Devices and sequences of steps, by device and variant."""
    rows, columns = rows_of(table), {"accelerators": table["devices"], "sequence": table["seq_len"]}
    keys = [None if row is None else (row.device.name, row.variant) for row in rows]
    for key in dict.fromkeys(key for key in keys if key is not None):
        yield AskedSizes(*key, np.array([each == key for each in keys], np.bool_), columns)


def fit(table: Table) -> Fit:
    """Efficiencies of each device; those of 8 and of 16 bits together, which differ by a share that all devices have
    and by the links that steps wait for; of an older framework, the share of matrices alone."""
    curves: dict[tuple[str, str], Numbers] = {}
    errors, counts, decided = {}, {}, {}
    for name, some in _together(_by_curve(table)):
        free = {variant: _free(rows) for variant, (rows, _) in some.items()}
        first = max(some)
        base = curves.get((name, first.split()[0]))
        if base is not None:
            free = {first: ("matrix",)}
        elif len(some) > 1:
            free["bf16"] = tuple(each for each in free["bf16"] if each != "matrix")
        found = _fit_curves(some, free, base or _start(some[first][0], curves))
        for variant, numbers in found.items():
            key = (name, variant)
            curves[key], errors[key] = numbers, _mean_error(variant, some[variant], numbers)
            counts[key], decided[key] = len(some[variant][0]), free[variant]
    return Fit(curves, errors, counts, decided, ranges_of(asked(_measured(table))))


def _together(curves: Mapping[tuple[str, str], CurveRows]) -> Iterator[tuple[str, Curves]]:
    """Devices, and the curves that are fitted at once: those of 8 and of 16 bits, each other one alone."""
    for (name, variant), curve in curves.items():
        if variant == "bf16" and (narrow := curves.get((name, "fp8"))):
            yield name, {"fp8": narrow, "bf16": curve}
        elif variant != "fp8" or (name, "bf16") not in curves:
            yield name, {variant: curve}


def ablations(table: Table) -> tuple[Ablation, ...]:
    """Without each number, typical ones in its place; of curves with enough rows for halves."""
    found = []
    for (name, variant), curve in _by_curve(table).items():
        every = _free(curve[0])
        for term in ("", *every) if len(curve[0]) > 2 * len(every) else ():
            free = tuple(each for each in every if each != term)
            if free:
                found.append(Ablation(name, variant, term, len(free), _held_out(variant, curve, free)))
    return tuple(found)


FAMILY = Family(
    name="training",
    columns=("device", "model", *COUNTS, "recompute", "step_s"),
    names=("device", "model", "recompute", *RECIPE),
    groups=("device", "model", "precision", "recompute"),
    predict=predict,
    fit=fit,
    ablations=ablations,
    asked=asked,
    optional=("peak_alloc_gib", "step_p10_s", "step_p90_s", "global_batch", "zero_stage", "fsdp", *SHAPE, *RECIPE),
    blank=MAY_BE_BLANK,
    bounds={"zero_stage": (0, 3), "fsdp": (1, MOST_COUNT), "global_batch": (1, MOST_TOKENS)},
)
