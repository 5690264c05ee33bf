"""Serving at a fixed concurrency: table serving.csv -> overheads of each backend, and settings of each pair."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from costmodel.calibrate.family import Ablation, Bools, Calibrations, Family, Fit, Floats, Series, Table
from costmodel.calibration import Numbers
from costmodel.hardware import BYTES_OF_PRECISION, Device, Precision, load_device
from costmodel.serving.backends import ServingCurve, model_name, serving_curve, variant_of
from costmodel.serving.engine import Engine, Rows, Served, serve_rows
from costmodel.serving.step import Precisions
from costmodel.workloads.shapes import TransformerShape, load_model

REQUESTS_PER_USER = 10.0
"""that benchmarks send at a concurrency: ten times as many prompts as users, who all start at once"""


@dataclass(frozen=True)
class Pair:
    """Rows of one model, device, backend and precision."""

    model: str
    device: Device
    backend: str
    shape: TransformerShape
    precision: Precision
    rows: Bools
    """(N,): those of the table"""
    loads: Rows

    @property
    def key(self) -> str:
        return variant_of(self.backend, self.model)

    def serve(self, curve: ServingCurve) -> Served:
        kv: Precision = self.precision if curve.kv_follows_weights else "bf16"
        engine = Engine(self.shape, self.device, Precisions(self.precision, self.precision, kv), curve)
        return serve_rows(engine, self.loads, REQUESTS_PER_USER)


def predict(table: Table, calibrations: Calibrations | None) -> tuple[Series, ...]:
    """Time to first token and time per output token of each row, ms."""
    size = len(table["model"])
    first_ms, token_ms = np.full(size, np.nan), np.full(size, np.nan)
    is_calibrated = np.zeros(size, dtype=np.bool_)
    for pair in pairs(table):
        curve, is_known = serving_curve(pair.device, pair.backend, pair.model, calibrations)
        served = pair.serve(curve)
        first_ms[pair.rows], token_ms[pair.rows] = 1e3 * served.first_token_s, 1e3 * served.token_s
        is_calibrated[pair.rows] = is_known
    reason = "" if np.isfinite(token_ms).all() else LEFT_OUT
    return (
        Series("time to first token", "ms", first_ms, table["ttft_ms"], is_calibrated, reason),
        Series("time per output token", "ms", token_ms, table["tpot_ms"], is_calibrated, reason),
    )


LEFT_OUT = (
    "rows of models that the catalog lacks or that have experts, of several pipeline stages, of no whole number of "
    "tokens, users or ranks, or of requests that do not fit into memory"
)


def pairs(table: Table) -> Iterator[Pair]:
    """Rows that can be simulated, by what they share."""
    usable = _usable(table)
    names = np.stack([table[column].astype(str) for column in ("model", "device", "backend", "precision")], axis=1)
    for model, device, backend, precision in np.unique(names, axis=0).tolist():
        is_own = (names == [model, device, backend, precision]).all(axis=1)
        part = load_device(device)
        part.matrix_flops_per_s(precision)
        shape = _shape(model)
        if shape is None:
            continue
        whole = usable & is_own & (shape.heads % np.where(usable, table["tp_size"], 1.0) == 0)
        if not whole.any():
            continue
        columns = (table[name][whole].astype(np.int64) for name in ("tp_size", "input_tokens", "output_tokens", "concurrency"))
        yield Pair(model_name(shape), part, backend, shape, precision, whole, Rows(*columns))


def _usable(table: Table) -> Bools:
    usable = np.ones(len(table["model"]), dtype=np.bool_)
    for name, least in (("tp_size", 1), ("input_tokens", 1), ("output_tokens", 2), ("concurrency", 1)):
        values = np.nan_to_num(table[name])
        usable &= (values >= least) & (values == np.floor(values))
    return usable & (np.nan_to_num(table["pp_size"]) <= 1) if "pp_size" in table else usable


def _shape(model: str) -> TransformerShape | None:
    """None for a model that is unknown or has experts."""
    try:
        shape = load_model(model)
    except ValueError:
        return None
    return shape if shape.is_dense else None
