"""Matrix products: table gemm.csv -> a curve for each device and precision; those of a device share most numbers."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from costmodel.calibrate.asked import ranges_of
from costmodel.calibrate.family import Ablation, AskedSizes, Bools, Calibrations, Family, Fit, Floats, Series, Table
from costmodel.hardware.device import Device, Precision, load_device
from costmodel.kernels import gemm as kernel
from costmodel.kernels.gemm import GemmCurve, gemm_curve, gemm_s, variant_of
from costmodel.pricing.calibration import Numbers
from costmodel.wording import counted

PRECISIONS: dict[str, Precision] = {
    "bfloat16": "bf16", "bf16": "bf16", "float16": "fp16", "fp16": "fp16", "half": "fp16",
    "fp8": "fp8", "float32": "fp32", "fp32": "fp32", "tf32": "fp32",
}  # fmt: skip
"""gemm_dtype of a table -> precision"""
SEARCH: dict[str, tuple[float, float, float]] = {
    "launch_s": (2.5e-6, 1e-7, 1e-4),
    "memory_efficiency": (0.83, 0.2, 1.0),
    "wave_rounding": (0.5, 0.0, 1.0),
    "overlap": (3.5, 1.0, 20.0),
    "cache_bytes_per_s": (80e9, 1e9, 1e13),
    "store_bytes_per_s": (30e9, 1e9, 1e13),
    "split_s": (2.4e-6, 1e-7, 1e-4),
    "matrix_efficiency": (0.8, 0.1, 1.0),
    "quantize_launch_s": (1.2e-5, 1e-7, 1e-3),
    "quantize_bytes_per_s": (2.5e12, 1e10, 1e15),
}
"""first value and bounds of each number; a search that starts there ends at the same numbers from others nearby"""
OF_ONE_PRECISION = ("matrix_efficiency",)
OF_FP8 = ("quantize_launch_s", "quantize_bytes_per_s")
ROBUST_BEYOND = 0.03
"""relative error from which a row weighs less, so that the fit comes near the least mean absolute error"""
MAX_FIT_ROWS, MAX_ABLATION_ROWS = 3000, 1200
"""rows that a search looks at, spread evenly over precisions and latencies"""
MIN_ROWS = 30
"""for a device and precision"""
NO_TIME, NO_LIMIT = 0.0, 1e18


@dataclass(frozen=True)
class Term:
    """A part of the curve, and what takes its place without it."""

    name: str
    fixed: Numbers = field(default_factory=dict)
    """numbers that are not fitted"""
    is_shared: bool = False
    """whether all precisions have one matrix efficiency"""
    has_cache: bool = True
    """whether the cache holds activations"""


FULL = Term("")
TERMS = (
    Term("launch", {"launch_s": NO_TIME}),
    Term("matrix efficiency", {"matrix_efficiency": 1.0}),
    Term("memory efficiency", {"memory_efficiency": 1.0}),
    Term("rounding of rounds", {"wave_rounding": 0.0}),
    Term("imperfect overlap", {"overlap": 50.0}),
    Term("operands through the cache", {"cache_bytes_per_s": NO_LIMIT}),
    Term("stores of tiles", {"store_bytes_per_s": NO_LIMIT}),
    Term("split k", {"split_s": 1.0}),
    Term("resident activations", has_cache=False),
)
TERMS_OF_FP8 = (
    Term("matrix efficiency of fp8", is_shared=True),
    Term("quantization launch", {"quantize_launch_s": NO_TIME}),
    Term("quantization traffic", {"quantize_bytes_per_s": NO_LIMIT}),
)


def predict(table: Table, calibrations: Calibrations | None) -> tuple[Series, ...]:
    """Latency of each row, ms; rows without a size are left out."""
    is_sized = _is_sized(table)
    predicted = np.full(len(is_sized), np.nan)
    is_calibrated = np.zeros(len(is_sized), dtype=np.bool_)
    for device, precision, rows in _parts(table):
        curve, is_fitted_here = gemm_curve(device, precision, calibrations)
        is_calibrated[rows] = is_fitted_here
        predicted[rows & is_sized] = 1e3 * _product_s(table, rows & is_sized, device, precision, curve)
    left_out = "" if is_sized.all() else f"{counted((~is_sized).sum(), 'row', 'with m, n or k below 1')}"
    return (Series("latency", "ms", predicted, table["latency_ms"], is_calibrated, left_out),)


def asked(table: Table) -> Iterator[AskedSizes]:
    """Sizes of products, by device and precision."""
    is_sized, sizes = _is_sized(table), {name: table[name] for name in ("m", "n", "k")}
    for device, precision, rows in _parts(table):
        yield AskedSizes(device.name, variant_of(precision), rows & is_sized, sizes)


def fit(table: Table) -> Fit:
    """Curves of all devices and precisions of a table."""
    result = Fit({}, {}, {}, ranges=ranges_of(asked(table)))
    for device, own in _devices(table):
        curves = _fit(own, device, FULL, MAX_FIT_ROWS)
        errors = _absolute_errors(own, device, curves)
        for variant, numbers in curves.items():
            rows = own["variant"] == variant
            result.curves[device.name, variant] = numbers
            result.mean_error[device.name, variant] = float(errors[rows].mean())
            result.rows[device.name, variant] = int(rows.sum())
    return result


def ablations(table: Table) -> tuple[Ablation, ...]:
    """Each term left out in turn, by device and precision; fitted on a random half and judged on the other."""
    found = []
    for device, own in _devices(table):
        is_fitted = np.random.default_rng(0).permutation(len(own["m"])) % 2 == 0
        variants = np.unique(own["variant"])
        for term in (FULL, *TERMS, *(TERMS_OF_FP8 if "fp8" in variants else ())):
            used = device if term.has_cache else device.model_copy(update={"l2_bytes": 0.0})
            curves = _fit(_rows(own, is_fitted), used, term, MAX_ABLATION_ROWS)
            unseen = _rows(own, ~is_fitted)
            errors = _absolute_errors(unseen, used, curves)
            for variant in variants:
                error = float(errors[unseen["variant"] == variant].mean())
                num_parameters = sum(_serves(name, str(variant)) for name in SEARCH if name not in term.fixed)
                found.append(Ablation(device.name, str(variant), term.name, num_parameters, error))
    return tuple(found)


def _fit(table: Table, device: Device, term: Term, max_rows: int) -> dict[str, Numbers]:
    """Numbers of each variant with the least robust relative error; those that precisions share are the same."""
    from scipy.optimize import least_squares

    rows = _spread(table, max_rows)
    variants = [str(variant) for variant in np.unique(rows["variant"])]
    unknowns = list(_unknowns(variants, term))
    start, lower, upper = np.array([_searched(name, SEARCH[name]) for _, name in unknowns]).T

    def curves_of(x: Floats) -> dict[str, Numbers]:
        values = [
            _found(name, float(value + first)) for (_, name), value, first in zip(unknowns, x, start, strict=True)
        ]
        return {
            variant: {n: v for n, v in term.fixed.items() if _serves(n, variant)}
            | {n: v for (of, n), v in zip(unknowns, values, strict=True) if of in ("", variant) and _serves(n, variant)}
            for variant in variants
        }

    def residuals(x: Floats) -> Floats:
        return _predicted_ms(rows, device, curves_of(x - 1.0)) / rows["latency_ms"] - 1.0

    found = least_squares(
        residuals, np.ones(len(start)), bounds=(lower - start + 1.0, upper - start + 1.0), loss="soft_l1",
        f_scale=ROBUST_BEYOND, diff_step=1e-3, max_nfev=60,
    )  # fmt: skip
    return curves_of(found.x - 1.0)


def _unknowns(variants: list[str], term: Term) -> Iterator[tuple[str, str]]:
    """Variant ("" for all) and name of each number to find."""
    for name in SEARCH:
        if name in term.fixed or not any(_serves(name, variant) for variant in variants):
            continue
        if name in OF_ONE_PRECISION and not term.is_shared:
            yield from ((variant, name) for variant in variants)
        else:
            yield "", name


def _serves(name: str, variant: str) -> bool:
    return variant == "fp8" or name not in OF_FP8


def _searched(name: str, values: tuple[float, float, float]) -> Floats:
    """Where the search moves: logarithms, except for the share that may be 0."""
    return np.array(values) if name == "wave_rounding" else np.log(values)


def _found(name: str, x: float) -> float:
    return x if name == "wave_rounding" else float(np.exp(x))


def _absolute_errors(table: Table, device: Device, curves: dict[str, Numbers]) -> Floats:
    return np.abs(_predicted_ms(table, device, curves) / table["latency_ms"] - 1.0)


def _predicted_ms(table: Table, device: Device, curves: dict[str, Numbers]) -> Floats:
    predicted = np.empty(len(table["m"]))
    for _, precision, rows in _parts(table):
        curve = GemmCurve.model_validate(curves[variant_of(precision)])
        predicted[rows] = 1e3 * _product_s(table, rows, device, precision, curve)
    return predicted


def _product_s(table: Table, rows: Bools, device: Device, precision: Precision, curve: GemmCurve) -> Floats:
    return gemm_s(table["m"][rows], table["n"][rows], table["k"][rows], device, precision, curve)


def _devices(table: Table) -> Iterator[tuple[Device, Table]]:
    """Each device with the rows that can be fitted, and their curve's precision in the column variant."""
    variant = np.full(len(table["m"]), "", dtype=object)
    is_usable = _is_sized(table) & (np.nan_to_num(table["latency_ms"]) > 0)
    names = np.full(len(variant), "", dtype=object)
    for device, precision, rows in _parts(table):
        variant[rows], names[rows] = variant_of(precision), device.name
        if (num := int((rows & is_usable).sum())) < MIN_ROWS:
            raise ValueError(f"device '{device.name}' has {num} rows of {precision} to fit; give {MIN_ROWS} or more")
    for name in np.unique(names):
        yield load_device(str(name)), _rows({**table, "variant": variant.astype(str)}, is_usable & (names == name))


def _parts(table: Table) -> Iterator[tuple[Device, Precision, Bools]]:
    """Rows of each device and precision; ValueError for those that the catalog lacks."""
    for name, dtype in sorted({(str(n), str(d)) for n, d in zip(table["device"], table["gemm_dtype"], strict=True)}):
        device = load_device(name)
        if dtype not in PRECISIONS:
            raise ValueError(f"gemm_dtype '{dtype}' is not known; use one of {', '.join(PRECISIONS)}")
        device.matrix_flops_per_s(PRECISIONS[dtype])
        yield device, PRECISIONS[dtype], (table["device"] == name) & (table["gemm_dtype"] == dtype)


def _is_sized(table: Table) -> Bools:
    return np.asarray((table["m"] >= 1) & (table["n"] >= 1) & (table["k"] >= 1), dtype=np.bool_)


def _spread(table: Table, max_rows: int) -> Table:
    """At most about `max_rows` rows, even over variants and latencies."""
    order = np.lexsort((table["latency_ms"], table["variant"]))
    return {name: column[order[:: -(-len(order) // max_rows)]] for name, column in table.items()}


def _rows(table: Table, rows: Bools) -> Table:
    return {name: column[rows] for name, column in table.items()}


FAMILY = Family(
    name=kernel.FAMILY,
    columns=("device", "gemm_dtype", "m", "n", "k", "latency_ms"),
    names=("device", "gemm_dtype"),
    groups=("device", "gemm_dtype"),
    predict=predict,
    fit=fit,
    ablations=ablations,
    asked=asked,
)
