"""Attention: tables attention_context.csv and attention_generation.csv -> curves of prefill and of decode."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import get_args

import numpy as np

from costmodel.calibrate.asked import ranges_of
from costmodel.calibrate.family import Ablation, AskedSizes, Bools, Calibrations, Family, Fit, Floats, Series, Table
from costmodel.calibrate.term import FULL, Term
from costmodel.hardware.device import Device, Precision, load_device
from costmodel.kernels import attention_context, attention_generation
from costmodel.kernels.attention_context import PrefillCurve, prefill_attention_s, prefill_curve
from costmodel.kernels.attention_generation import DecodeCurve, decode_attention_s, decode_curve
from costmodel.pricing.calibration import Numbers
from costmodel.wording import counted

Curve = PrefillCurve | DecodeCurve
PRECISION_OF_NAME = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
"""names of precisions in tables, where they differ from the catalog's"""
SIZES = ("batch_size", "isl", "step", "num_heads", "num_key_value_heads", "head_dim")
NAMES = ("device", "attn_dtype", "kv_cache_dtype")
DISTINCT_SHARE = 0.5
"""of the cache of decode rows: keys and values of the benchmark share blocks. Without it, rows of A100 and H100 alike
read up to 1.7 times the peak of the memory; of the masked kernel only contexts up to 256 tokens exceed the peak"""
ROBUST_BEYOND = 0.05
"""relative error from which a row weighs less: single measurements that are off do not bend the curve"""
RANGE = 50.0
"""a fitted number stays within this factor of where its search starts, its default"""
NONE, NO_LIMIT = 1e-15, 1e9
MIN_ROWS = 24
"""two for each number"""
NUM_HALVINGS = 2
"""times that a table is cut in two at random, each half judging the fit of the other"""
WORTH = 1.02
"""a number that can be left out is kept where it lowers the error on unseen rows by this factor"""


@dataclass(frozen=True)
class Kernel:
    """What differs between prefill and decode."""

    curve: type[Curve]
    known: Callable[[Device, str, Calibrations | None], tuple[Curve, bool]]
    """the curve of a device and variant, and whether it was fitted there"""
    variant: Callable[[Precision], str]
    """name of the curve by precision of the arithmetic"""
    latency_s: Callable[[Table, Device, Precision, Precision, Curve], Floats]
    """of rows of one device, precision and precision of the cache"""
    terms: tuple[Term, ...]
    optional: Term
    """a term that a device's curve lacks where it earns nothing"""
    asked: Callable[[Table], dict[str, Floats]]
    """tokens of rows, by names of ranges of fits"""
    fp8_cache: tuple[str, ...] = ()
    """numbers that only rows with an fp8 cache bear on"""


def _prefill_s(table: Table, device: Device, precision: Precision, kv: Precision, curve: Curve) -> Floats:
    assert isinstance(curve, PrefillCurve)
    batch, tokens, cached, heads, kv_heads, dim = (table[name] for name in SIZES)
    return prefill_attention_s(
        batch, tokens, cached, heads, kv_heads, dim, device, precision=precision, kv_precision=kv, curve=curve
    )


def _decode_s(table: Table, device: Device, precision: Precision, kv: Precision, curve: Curve) -> Floats:
    assert isinstance(curve, DecodeCurve)
    batch, tokens, cached, heads, kv_heads, dim = (table[name] for name in SIZES)
    return decode_attention_s(
        batch, tokens + cached, heads, kv_heads, dim, device, precision=precision, kv_precision=kv, curve=curve,
        distinct_share=DISTINCT_SHARE,
    )  # fmt: skip


TILE_START = Term("start of a tile", {"tile_s": NONE})
CONTEXT_KERNEL = Kernel(
    curve=PrefillCurve,
    known=prefill_curve,
    variant=attention_context.variant_of,
    latency_s=_prefill_s,
    terms=(
        Term("launch", {"launch_s": NONE}),
        Term("arithmetic", {"matrix_efficiency": NO_LIMIT}),
        Term("memory traffic", {"memory_efficiency": NO_LIMIT}),
        TILE_START,
    ),
    optional=TILE_START,
    asked=lambda table: {"new_tokens": table["isl"], "cached_tokens": table["step"]},
)
FP8_NUMBERS = {"fp8_block_s": "grouped_block_s", "fp8_token_s": "grouped_token_s", "fp8_share": "grouped_share"}
FIRST_KERNEL = Term("first kernel of the grouped", {"grouped_launch_s": NONE})
GENERATION_KERNEL = Kernel(
    curve=DecodeCurve,
    known=decode_curve,
    variant=lambda _: attention_generation.VARIANT,
    latency_s=_decode_s,
    terms=(
        Term("launch", {"launch_s": NONE}),
        Term("memory traffic", {"memory_efficiency": NO_LIMIT}),
        Term("joining of splits", {"split_s": NONE}),
        Term("fixed time of masked blocks", {"masked_block_s": NONE}),
        Term("time by token of masked blocks", {"masked_token_s": NONE}),
        FIRST_KERNEL,
        Term("fixed time of grouped blocks", {"grouped_block_s": NONE, "fp8_block_s": NONE}),
        Term("time by token of grouped blocks", {"grouped_token_s": NONE, "fp8_token_s": NONE}),
        Term("time by query head of grouped blocks", {"grouped_share": 0.0, "fp8_share": 0.0}),
        Term("grouped kernel of an fp8 cache of its own", tied=FP8_NUMBERS),
    ),
    optional=FIRST_KERNEL,
    asked=lambda table: {"context_tokens": table["isl"] + table["step"]},
    fp8_cache=tuple(FP8_NUMBERS),
)


def _precision(name: str) -> Precision:
    known: tuple[Precision, ...] = get_args(Precision)
    for precision in known:
        if PRECISION_OF_NAME.get(name, name) == precision:
            return precision
    raise ValueError(f"unknown precision '{name}'; known: {', '.join([*PRECISION_OF_NAME, *known])}")


def _groups(table: Table) -> Iterator[tuple[Bools, Device, Precision, Precision]]:
    """Rows of each device, precision of the arithmetic and of the cache."""
    keys = np.stack([np.asarray(table[name], dtype=np.str_) for name in NAMES])
    for device, precision, kv in np.unique(keys, axis=1).T:
        rows: Bools = (keys == np.array([[device], [precision], [kv]])).all(axis=0)
        yield rows, load_device(str(device)), _precision(str(precision)), _precision(str(kv))


def _is_usable(table: Table) -> Bools:
    """Rows whose sizes are in the model: whole shapes, at least one token."""
    usable: Bools = np.isfinite(table["step"]) & (table["step"] >= 0)
    for name in SIZES:
        usable = usable & (np.isfinite(table[name]) & (table[name] > 0) | (name == "step"))
    return usable


def _rows(table: Table, rows: Bools) -> Table:
    return {name: column[rows] for name, column in table.items()}


def _predict(kernel: Kernel, table: Table, calibrations: Calibrations | None) -> tuple[Series, ...]:
    """Latency of each row, ms."""
    predicted, is_usable = np.full(len(table["step"]), np.nan), _is_usable(table)
    is_calibrated = np.zeros(len(predicted), dtype=np.bool_)
    for rows, device, precision, kv in _groups(table):
        curve, is_fitted_here = kernel.known(device, kernel.variant(precision), calibrations)
        has_cache = kv != "fp8" or curve.model_fields_set.issuperset(kernel.fp8_cache)
        own = rows & is_usable
        predicted[own] = 1e3 * kernel.latency_s(_rows(table, own), device, precision, kv, curve)
        is_calibrated[rows] = is_fitted_here and has_cache
    left_out = "" if is_usable.all() else "sizes that are not above 0"
    return (Series("latency", "ms", predicted, table["latency_ms"], is_calibrated, left_out),)


def _curves(kernel: Kernel, table: Table) -> Iterator[tuple[tuple[str, str], Table]]:
    """Each device and variant, and its rows that can be fitted."""
    is_usable = _is_usable(table) & (np.nan_to_num(table["latency_ms"]) > 0)
    found: dict[tuple[str, str], Bools] = {}
    for rows, device, precision, _ in _groups(table):
        key = (device.name, kernel.variant(precision))
        found[key] = found.get(key, np.zeros_like(rows)) | (rows & is_usable)
    for key, rows in found.items():
        if rows.sum() < MIN_ROWS:
            raise ValueError(
                f"'{key[1]}' of {key[0]} has {counted(rows.sum(), 'row')} that can be fitted; give {MIN_ROWS} or more"
            )
        yield key, _rows(table, rows)


def _free(kernel: Kernel, table: Table, term: Term) -> list[str]:
    """Names of the numbers that are fitted: those that rows of this table bear on."""
    absent = () if "fp8" in table["kv_cache_dtype"] else kernel.fp8_cache
    return [name for name in kernel.curve.model_fields if name not in {*term.fixed, *term.tied, *absent}]


def _ratios(kernel: Kernel, table: Table) -> Callable[[Numbers], Floats]:
    """Predicted over measured latency of each row, by the numbers of a curve."""
    groups = [(rows, (_rows(table, rows), device, precision, kv)) for rows, device, precision, kv in _groups(table)]

    def ratios(numbers: Numbers) -> Floats:
        curve, found = kernel.curve.model_construct(**numbers), np.empty(len(table["step"]))  # type: ignore[arg-type]
        for rows, shape in groups:
            found[rows] = kernel.latency_s(*shape, curve)
        return np.asarray(1e3 * found / table["latency_ms"])

    return ratios


def _fit_curve(kernel: Kernel, table: Table, term: Term) -> Numbers:
    """Robust least squares of log(predicted / measured) on the logarithms of the numbers, and the fixed ones."""
    from scipy.optimize import least_squares

    names, ratios = _free(kernel, table, term), _ratios(kernel, table)
    defaults: Numbers = kernel.curve().model_dump(by_alias=False)
    first = np.log([defaults[name] for name in names])
    upper = np.minimum(first + np.log(RANGE), [0.0 if name.endswith("efficiency") else np.inf for name in names])

    def numbers(logs: Floats) -> Numbers:
        known = {**defaults, **dict(zip(names, np.exp(logs).tolist(), strict=True)), **term.fixed}
        return {**known, **{name: known[source] for name, source in term.tied.items()}}

    found = least_squares(
        lambda logs: np.log(ratios(numbers(logs))), first, bounds=(first - np.log(RANGE), upper), loss="soft_l1",
        f_scale=ROBUST_BEYOND, max_nfev=100,
    )  # fmt: skip
    return {name: value for name, value in numbers(found.x).items() if name in {*names, *term.fixed, *term.tied}}


def _mean_error(kernel: Kernel, table: Table, numbers: Numbers) -> float:
    defaults: Numbers = kernel.curve().model_dump(by_alias=False)
    return float(np.abs(_ratios(kernel, table)({**defaults, **numbers}) - 1.0).mean())


def _unseen_error(kernel: Kernel, table: Table, term: Term) -> float:
    """Mean absolute relative error of rows that were not fitted, halves cut at random with fixed seeds."""
    num_rows, errors = len(table["step"]), []
    for seed in range(NUM_HALVINGS):
        is_first = np.random.default_rng(seed).permutation(num_rows) % 2 == 0
        for is_fitted in (is_first, ~is_first):
            numbers = _fit_curve(kernel, _rows(table, is_fitted), term)
            errors.append(_mean_error(kernel, _rows(table, ~is_fitted), numbers))
    return float(np.mean(errors))


def _asked(kernel: Kernel, table: Table) -> Iterator[AskedSizes]:
    """Sizes of kernels, by device and variant."""
    sizes = {name: table[name] for name in ("batch_size", "num_heads", "num_key_value_heads", "head_dim")}
    is_usable = _is_usable(table)
    for rows, device, precision, _ in _groups(table):
        yield AskedSizes(device.name, kernel.variant(precision), rows & is_usable, sizes | kernel.asked(table))


def _fit(kernel: Kernel, table: Table) -> Fit:
    """One curve for each device and variant of the table, without the optional term where it earns nothing."""
    result = Fit({}, {}, {}, ranges=ranges_of(_asked(kernel, table)))
    for key, own in _curves(kernel, table):
        is_worth = _unseen_error(kernel, own, kernel.optional) > WORTH * _unseen_error(kernel, own, FULL)
        numbers = _fit_curve(kernel, own, FULL if is_worth else kernel.optional)
        dropped = {} if is_worth else dict.fromkeys(kernel.optional.fixed, 0.0)
        result.curves[key] = {**numbers, **dropped}
        result.mean_error[key] = _mean_error(kernel, own, result.curves[key])
        result.rows[key] = len(own["step"])
        result.free[key] = tuple(name for name in numbers if name not in dropped)
    return result


def _ablations(kernel: Kernel, table: Table) -> tuple[Ablation, ...]:
    """Each term left out in turn; fitted on one half of the rows and judged on the other, both ways."""
    return tuple(
        Ablation(*key, term.name, len(_free(kernel, own, term)), _unseen_error(kernel, own, term))
        for key, own in _curves(kernel, table)
        for term in (FULL, *kernel.terms)
        if term is FULL or not {*term.fixed, *term.tied}.isdisjoint(_free(kernel, own, FULL))
    )


def _family(name: str, kernel: Kernel) -> Family:
    return Family(
        name=name,
        columns=(*NAMES, *SIZES, "latency_ms"),
        names=NAMES,
        groups=NAMES,
        predict=lambda table, calibrations: _predict(kernel, table, calibrations),
        fit=lambda table: _fit(kernel, table),
        ablations=lambda table: _ablations(kernel, table),
        asked=lambda table: _asked(kernel, table),
    )


CONTEXT = _family(attention_context.FAMILY, CONTEXT_KERNEL)
GENERATION = _family(attention_generation.FAMILY, GENERATION_KERNEL)
