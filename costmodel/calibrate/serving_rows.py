"""Rows of a serving table by what they share, and what an engine would take for them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from costmodel.calibrate.family import Bools, Calibrations, Floats, Table
from costmodel.hardware.device import Device, Precision, load_device
from costmodel.parallelism.mappings import Ints
from costmodel.pricing.calibration import Ranges
from costmodel.serving.backends import serving_curve, variant_of
from costmodel.serving.replica import replicas
from costmodel.workloads import TransformerInference
from costmodel.workloads.transformer.shapes import TransformerShape, load_model, model_name

REQUESTS_PER_USER = 10.0
"""that benchmarks send: ten times as many prompts as users, who all start at once. The error of the time to
first token of H100 rows is least at 10 (17 %; 19 % at 8, 20 % at 15, 34 % without start and end)"""
INFERENCE_MAX = {"llama-3.1-70b": 0.8}
"""models that InferenceMAX serves, and its `random_range_ratio`: lengths are uniform between so much of the stated ones
and these (README of its repository: 1,024 or 8,192 tokens in and out, 4 to 64 users, ten prompts for each)"""
INFERENCE_MAX_SIZES = ((1024, 1024), (1024, 8192), (8192, 1024))
LEFT_OUT = (
    "models that the catalog lacks, several pipeline stages, experts divided by anything but tensor ranks (ep_size 1), "
    "numbers of tokens, users or ranks that are no whole ones or do not divide the heads, and requests that do not fit "
    "into memory"
)
MOST = 2**24
"""of each of these columns: more is no load that one engine serves"""
RANGE_RATIO = "range_ratio"
"""column: least over stated number of tokens of prompts and answers; 1 where all are of one length"""
EXPERT = "ep_size"
"""column: ranks among which experts are divided; 1 where each has a part of every expert"""
SIZES = {"tp_size": 1, "input_tokens": 1, "output_tokens": 2, "concurrency": 1}
"""columns of whole numbers, and the least of each"""


@dataclass(frozen=True)
class Loads:
    """Columns of shape (R,)."""

    tensor: Ints
    input_tokens: Ints
    output_tokens: Ints
    users: Ints
    range_ratio: Floats

    def __len__(self) -> int:
        return len(self.users)


def ranges_of(pairs: Sequence["Pair"]) -> Ranges:
    """Least and most of what rows asked for, by the field of a workload."""
    names = {"concurrency": "users", "input_tokens": "input_tokens", "output_tokens": "output_tokens"}
    columns = {field: np.concatenate([getattr(each.loads, name) for each in pairs]) for field, name in names.items()}
    return {field: (float(column.min()), float(column.max())) for field, column in columns.items()}


@dataclass(frozen=True)
class SeenTimes:
    """Columns of shape (R,); NaN where not even one request fits into memory."""

    first_token_s: Floats
    token_s: Floats


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
    loads: Loads
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

    def serve(self, calibrations: Calibrations | None = None) -> SeenTimes:
        """Each row as a candidate of the planner; rows that differ in their tensor degree alone are priced together."""
        loads, (first_s, token_s) = self.loads, np.full((2, len(self.loads)), np.nan)
        sizes = np.stack([loads.input_tokens, loads.output_tokens, loads.users, loads.range_ratio], axis=1)
        for size in np.unique(sizes, axis=0):
            own = np.flatnonzero((sizes == size).all(axis=1))
            inputs, outputs, users, ratio = size.tolist()
            job = self.workload(int(inputs), int(outputs), int(users), ratio, calibrations)
            degrees, degree = np.unique(loads.tensor[own], return_inverse=True)
            found, _, scores = replicas(job, degrees.tolist(), self.device, calibrations)
            times = np.full((2, len(degrees)), np.nan)
            times[:, found] = scores.ttft_s, scores.tpot_s
            first_s[own], token_s[own] = times[:, degree]
        return SeenTimes(first_s, token_s)

    def workload(
        self, inputs: int, outputs: int, users: int, range_ratio: float, calibrations: Calibrations | None
    ) -> TransformerInference:
        """A row as a job states it: backends were set to run no more requests at once than there were users."""
        mean = (1 + range_ratio) / 2
        curve, _ = serving_curve(self.device, self.backend, self.model, calibrations)
        return TransformerInference(
            model=self.shape,
            precision=self.precision,
            concurrency=users,
            input_tokens=max(round(mean * inputs), 1),
            output_tokens=max(round(mean * outputs), 1),
            lengths="equal" if range_ratio == 1 else "varied",
            requests_per_user=REQUESTS_PER_USER,
            max_batch=max(users - curve.held_requests, 1),
        ).model_copy(update={"backend": self.backend})


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
        if not shape.is_dense:
            rows &= table[EXPERT] == 1 if EXPERT in table else False
        if rows.any():
            tensor, inputs, outputs, users = (table[name][rows].astype(np.int64) for name in SIZES)
            loads = Loads(tensor, inputs, outputs, users, _range_ratio(table, shape)[rows])
            measured = table["ttft_ms"][rows], table["tpot_ms"][rows]
            yield Pair(model_name(shape), device, backend, shape, precision, rows, loads, *measured)


def _range_ratio(table: Table, shape: TransformerShape) -> Floats:
    """Of each row, shape (N,): as the table has it, or as the benchmark does whose loads these are."""
    if RANGE_RATIO in table:
        return np.asarray(table[RANGE_RATIO], np.float64)
    sizes = np.stack([table["input_tokens"], table["output_tokens"]], axis=1)
    is_known = (sizes[:, None] == np.array(INFERENCE_MAX_SIZES)).all(axis=2).any(axis=1)
    return np.where(is_known, INFERENCE_MAX.get(model_name(shape), 1.0), 1.0)


def _usable(table: Table) -> Bools:
    usable = np.ones(len(table["model"]), dtype=np.bool_)
    for name, least in SIZES.items():
        values = np.nan_to_num(table[name])
        usable &= (values >= least) & (values <= MOST) & (values == np.floor(values))
    if RANGE_RATIO in table:
        usable &= (table[RANGE_RATIO] > 0) & (table[RANGE_RATIO] <= 1)
    return usable & (np.nan_to_num(table["pp_size"]) <= 1) if "pp_size" in table else usable


def _shape(model: str) -> TransformerShape | None:
    """None for a model that is unknown."""
    try:
        return load_model(model)
    except ValueError:
        return None
