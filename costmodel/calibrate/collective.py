"""Collectives inside one node: table nccl.csv -> one curve a device."""

from collections.abc import Iterator, Sequence

import numpy as np

from costmodel.calibrate.asked import ranges_of
from costmodel.calibrate.family import Ablation, AskedSizes, Bools, Calibrations, Family, Fit, Floats, Series, Table
from costmodel.calibrate.term import FULL, Term
from costmodel.hardware.device import Device, load_device
from costmodel.kernels import collective as kernel
from costmodel.kernels.collective import OPERATIONS, VARIANT, CollectiveCurve, collective_curve, node_collective_s
from costmodel.pricing.calibration import Numbers
from costmodel.wording import counted

ROBUST_BEYOND = 0.06
"""relative error from which a row weighs less: single measurements that are off do not bend the curve"""
RANGE = 50.0
"""a fitted number stays within this factor of where its search starts"""
STARTS: tuple[Numbers, ...] = (
    {"exchange_packet_bytes_per_s": 125e9, "exchange_fill_s": 25e-6},
    {"exchange_packet_bytes_per_s": 33e9, "exchange_fill_s": 6e-6},
    {"exchange_packet_bytes_per_s": 8e9, "exchange_fill_s": 6e-6},
)
"""an all-to-all may have either protocol at middle sizes; the search starts from both"""
NO_TIME, NO_LIMIT = 1e-15, 1e18
MIN_ROWS = 24
"""two for each number"""
NUM_HALVINGS = 3
"""times that a table is cut in two at random, each half judging the fit of the other"""
WORTH = 1.02
"""a form with more numbers is taken where it lowers the error on unseen rows by this factor"""


OWN_PROTOCOLS = Term(
    "protocols of an all-to-all of their own",
    tied={"exchange_packet_bytes_per_s": "packet_bytes_per_s", "exchange_fill_s": "fill_s"},
)
FORMS = (OWN_PROTOCOLS, FULL)
"""what a device's curve may leave out, fewest numbers first"""
TERMS = (
    Term("ring steps", {"step_s": NO_TIME}),
    Term("start of an all-to-all of its own", {"exchange_s": NO_TIME}),
    Term("more threads", {"widening_s": NO_TIME}),
    Term("packet protocol", {"packet_bytes_per_s": 1.0, "exchange_packet_bytes_per_s": 1.0}),
    Term("fill of bulk transfers", {"fill_s": NO_TIME, "step_fill_s": NO_TIME, "exchange_fill_s": NO_TIME}),
    Term("fill by step", {"step_fill_s": NO_TIME}),
    OWN_PROTOCOLS,
    Term("copy of the own share", {"copy_bytes_per_s": NO_LIMIT}),
    Term("reduction in the switch", {"in_switch_share": 1.0}),
)


def predict(table: Table, calibrations: Calibrations | None) -> tuple[Series, ...]:
    """Latency of each row, ms; operations without a model are left out."""
    names, operations = table["device"], table["op_name"]
    is_known = np.isin(operations, OPERATIONS) & (table["num_gpus"] >= 1) & (table["message_bytes"] >= 0)
    predicted = np.full(len(names), np.nan)
    is_calibrated = np.zeros(len(names), dtype=np.bool_)
    for name in np.unique(names):
        device = load_device(str(name))
        curve, is_fitted_here = collective_curve(device, calibrations)
        rows = (names == name) & is_known
        predicted[rows] = 1e3 * _predict_s(_rows(table, rows), device, curve)
        is_calibrated[rows] = is_fitted_here
    reason = f"operations other than {', '.join(OPERATIONS)}, or less than one GPU"
    left_out = "" if is_known.all() else reason
    return (Series("latency", "ms", predicted, table["latency_ms"], is_calibrated, left_out),)


def asked(table: Table) -> Iterator[AskedSizes]:
    """Ranks and sizes of buffers, by device."""
    is_sent = np.isin(table["op_name"], OPERATIONS) & (table["num_gpus"] >= 2) & (table["message_bytes"] > 0)
    columns = {name: table[name] for name in ("num_gpus", "message_bytes")}
    for name in np.unique(table["device"]):
        yield AskedSizes(load_device(str(name)).name, VARIANT, is_sent & (table["device"] == name), columns)


def fit(table: Table) -> Fit:
    """One curve for each device of the table."""
    curves, errors, counts, decided = {}, {}, {}, {}
    for name, rows in _devices(table):
        device, own = load_device(name), _rows(table, rows)
        key = (device.name, VARIANT)
        curves[key] = _fit(own, device, _form(own, device))
        errors[key] = _mean_error(own, device, curves[key])
        counts[key] = int(rows.sum())
        decided[key] = tuple({value: number for number, value in reversed(curves[key].items())}.values())
    return Fit(curves, errors, counts, decided, ranges_of(asked(table)))


def ablations(table: Table) -> tuple[Ablation, ...]:
    """Each term left out in turn, by device; fitted on one half of the rows and judged on the other, both ways."""
    found = []
    for name, rows in _devices(table):
        device, own = load_device(name), _rows(table, rows)
        for term in (FULL, *TERMS):
            num_parameters = len(_free(own, device, term))
            found.append(Ablation(device.name, VARIANT, term.name, num_parameters, _unseen_error(own, device, term)))
    return tuple(found)


def _form(table: Table, device: Device) -> Term:
    """The form with the fewest numbers that is about as good on unseen rows as the best."""
    errors = [_unseen_error(table, device, form) for form in FORMS]
    return next(form for form, error in zip(FORMS, errors, strict=True) if error <= WORTH * min(errors))


def _fit(table: Table, device: Device, term: Term) -> Numbers:
    """Least squares of log(predicted / measured), on the logarithms of the numbers, from several starts."""
    from scipy.optimize import least_squares

    free, defaults = _free(table, device, term), CollectiveCurve().model_dump(by_alias=False)
    log_measured = np.log(table["latency_ms"] / 1e3)
    best: tuple[float, Numbers] | None = None
    for start in STARTS:
        first = np.log([{**defaults, "in_switch_share": 0.85, **start}[name] for name in free])
        upper = np.minimum(first + np.log(RANGE), [0.0 if name == "in_switch_share" else np.inf for name in free])

        def residuals(x: Floats) -> Floats:
            curve = CollectiveCurve.model_construct(None, **_numbers(free, x, term))
            return np.asarray(np.log(_predict_s(table, device, curve)) - log_measured, dtype=np.float64)

        found = least_squares(
            residuals, first, bounds=(first - np.log(RANGE), upper), loss="soft_l1", f_scale=ROBUST_BEYOND,
            max_nfev=200,
        )  # fmt: skip
        if best is None or found.cost < best[0]:
            best = (float(found.cost), _numbers(free, found.x, term))
    assert best is not None
    return best[1]


def _free(table: Table, device: Device, term: Term) -> list[str]:
    """Names of the numbers that are fitted: those that rows of this table bear on."""
    is_reduced_by_many = (table["op_name"] == "all_reduce") & (table["num_gpus"] >= 8)
    absent = {"in_switch_share"} if not is_reduced_by_many.any() else set()
    return [name for name in CollectiveCurve.model_fields if name not in {*term.fixed, *term.tied, *absent}]


def _numbers(free: Sequence[str], logs: Floats, term: Term) -> Numbers:
    numbers = {name: float(value) for name, value in zip(free, np.exp(logs), strict=True)}
    known = {**CollectiveCurve().model_dump(by_alias=False), **numbers, **term.fixed}
    return {**known, **{name: known[source] for name, source in term.tied.items()}}


def _unseen_error(table: Table, device: Device, term: Term) -> float:
    """Mean absolute relative error of rows that were not fitted, halves cut at random with fixed seeds."""
    num_rows, errors = len(table["latency_ms"]), []
    for seed in range(NUM_HALVINGS):
        is_first = np.random.default_rng(seed).permutation(num_rows) % 2 == 0
        for is_fitted in (is_first, ~is_first):
            numbers = _fit(_rows(table, is_fitted), device, term)
            errors.append(_mean_error(_rows(table, ~is_fitted), device, numbers))
    return float(np.mean(errors))


def _mean_error(table: Table, device: Device, numbers: Numbers) -> float:
    predicted_ms = 1e3 * _predict_s(table, device, CollectiveCurve.model_validate(numbers))
    return float(np.abs(predicted_ms / table["latency_ms"] - 1.0).mean())


def _predict_s(table: Table, device: Device, curve: CollectiveCurve) -> Floats:
    return node_collective_s(table["op_name"], table["num_gpus"], table["message_bytes"], device, curve)


def _devices(table: Table) -> list[tuple[str, Bools]]:
    """Each device, and its rows that can be fitted."""
    is_usable = np.isin(table["op_name"], OPERATIONS) & (table["num_gpus"] >= 2)
    is_usable &= (table["message_bytes"] > 0) & (np.nan_to_num(table["latency_ms"]) > 0)
    found = []
    for name in np.unique(table["device"]):
        rows = is_usable & (table["device"] == name)
        if rows.sum() < MIN_ROWS:
            raise ValueError(
                f"device '{name}' has {counted(rows.sum(), 'row')} that can be fitted; give {MIN_ROWS} or more"
            )
        found.append((str(name), rows))
    return found


def _rows(table: Table, rows: Bools) -> Table:
    return {name: column[rows] for name, column in table.items()}


FAMILY = Family(
    name=kernel.FAMILY,
    columns=("device", "op_name", "num_gpus", "message_bytes", "latency_ms"),
    names=("device", "op_name"),
    groups=("device", "op_name"),
    predict=predict,
    fit=fit,
    ablations=ablations,
    asked=asked,
)
