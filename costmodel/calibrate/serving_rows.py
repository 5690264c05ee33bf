"""Rows of a serving table by what they share, and what an engine would take for them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from costmodel.calibrate.family import Bools, Calibrations, Floats, Table
from costmodel.hardware.device import Device, Precision, load_device
from costmodel.serving.backends import ServingCurve, model_name, variant_of
from costmodel.serving.engine import Engine, Rows, Served, serve_rows
from costmodel.serving.step import Precisions
from costmodel.workloads.transformer.shapes import TransformerShape, load_model

REQUESTS_PER_USER = 10.0
"""that benchmarks send: ten times as many prompts as users, who all start at once. The error of the time to
first token of H100 rows is least at 10 (17 %; 19 % at 8, 20 % at 15, 34 % without start and end)"""
LEFT_OUT = (
    "models that the catalog lacks or that have experts, several pipeline stages, numbers of tokens, users or ranks "
    "that are no whole ones or do not divide the heads, and requests that do not fit into memory"
)
MOST = 2**24
"""of each of these columns: more is no load that one engine serves"""
SIZES = {"tp_size": 1, "input_tokens": 1, "output_tokens": 2, "concurrency": 1}
"""columns of whole numbers, and the least of each"""


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
    first_ms: Floats
    token_ms: Floats
    """measured times to the first token and per output token"""

    @property
    def variant(self) -> str:
        return variant_of(self.backend, self.model)

    @property
    def variants(self) -> tuple[str, str]:
        """Curves that serve these rows."""
        return self.backend, self.variant

    def serve(self, curve: ServingCurve, calibrations: Calibrations | None = None) -> Served:
        kv: Precision = self.precision if curve.kv_follows_weights else "bf16"
        engine = Engine(self.shape, self.device, Precisions(self.precision, self.precision, kv), curve, calibrations)
        return serve_rows(engine, self.loads, REQUESTS_PER_USER)


def pairs(table: Table) -> Iterator[Pair]:
    """Rows that can be simulated. ValueError names a device or precision that the catalog lacks."""
    usable = _usable(table)
    names = np.stack([table[column].astype(str) for column in ("model", "device", "backend", "precision")], axis=1)
    for model, device_name, backend, precision in np.unique(names, axis=0).tolist():
        device, shape = load_device(device_name), _shape(model)
        device.matrix_flops_per_s(precision)
        if shape is None:
            continue
        rows = usable & (names == [model, device_name, backend, precision]).all(axis=1)
        rows &= shape.heads % np.where(usable, table["tp_size"], 1.0) == 0
        if rows.any():
            loads = Rows(*(table[name][rows].astype(np.int64) for name in SIZES))
            measured = table["ttft_ms"][rows], table["tpot_ms"][rows]
            yield Pair(model_name(shape), device, backend, shape, precision, rows, loads, *measured)


def _usable(table: Table) -> Bools:
    usable = np.ones(len(table["model"]), dtype=np.bool_)
    for name, least in SIZES.items():
        values = np.nan_to_num(table[name])
        usable &= (values >= least) & (values <= MOST) & (values == np.floor(values))
    return usable & (np.nan_to_num(table["pp_size"]) <= 1) if "pp_size" in table else usable


def _shape(model: str) -> TransformerShape | None:
    """None for a model that is unknown or has experts."""
    try:
        shape = load_model(model)
    except ValueError:
        return None
    return shape if shape.is_dense else None
