"""Serving at a fixed concurrency: from a model, a device and a backend to times per token and throughput."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from costmodel.hardware.device import Device, Precision
from costmodel.parallelism.mappings import Bools, Floats
from costmodel.pricing.calibration import Calibration
from costmodel.serving.backends import model_name, serving_curve
from costmodel.serving.engine import Engine, Rows, Served, loads, require_fit, serve_rows
from costmodel.serving.step import Precisions
from costmodel.workloads.transformer.shapes import Model, TransformerShape, shape_of


@dataclass(frozen=True)
class StepParts:
    """One engine step at the mean batch and context; shapes as in ServingResult."""

    layers_s: Floats
    """matrices, norms, all-reduces and gaps"""
    vocabulary_s: Floats
    kv_cache_s: Floats
    software_s: Floats
    """of the backend, for each token that the step yields"""
    with_prompts_s: Floats
    """the whole step when it takes in prompts, as many as the backend takes at once"""

    @property
    def decode_s(self) -> Floats:
        """The whole step when it takes in none."""
        return self.layers_s + self.vocabulary_s + self.kv_cache_s + self.software_s


@dataclass(frozen=True)
class ServingResult:
    """Means over requests, in the shape that tensor, input_tokens, output_tokens and concurrency broadcast to."""

    ttft_s: Floats
    """from sending a prompt to the first token of its answer"""
    tpot_s: Floats
    """between two tokens of an answer"""
    throughput_tokens_per_s: Floats
    """tokens of answers that all users get"""
    batch: Floats
    """requests that run at once, on average"""
    kv_limited: Bools
    """whether memory for the KV cache, not the number of users, bounds the batch"""
    is_calibrated: bool
    """whether this pair of model and backend was fitted on this very device"""
    step: StepParts


def simulate(
    model: Model,
    device: Device,
    *,
    backend: str,
    precision: Precision = "bf16",
    tensor: ArrayLike,
    input_tokens: ArrayLike,
    output_tokens: ArrayLike,
    concurrency: ArrayLike,
    activation_precision: Precision | None = None,
    kv_precision: Precision | None = None,
    requests_per_user: float | None = None,
    calibrations: tuple[Calibration, ...] | None = None,
) -> ServingResult:
    """A closed loop of `concurrency` users at one engine of `tensor` ranks inside a node, continuous batching.

    `precision` is that of the weights and, unless they are given, of the activations; the KV cache is bf16 but with
    backends in which it follows the weights. Without `requests_per_user` the result is the steady state, with it the
    mean of a run in which all users start at once and none follows at the end. ValueError where a request does not
    fit into memory.
    """
    if requests_per_user is not None and not requests_per_user >= 2:
        raise ValueError(f"requests_per_user: {requests_per_user} is below 2; leave it out for the steady state")
    shape = shape_of(model)
    curve, is_calibrated = serving_curve(device, backend, model_name(shape), calibrations)
    kv = kv_precision or (precision if curve.kv_follows_weights else "bf16")
    engine = Engine(shape, device, Precisions(precision, activation_precision or precision, kv), curve, calibrations)
    form = np.broadcast_shapes(*(np.shape(x) for x in (tensor, input_tokens, output_tokens, concurrency)))
    rows = _rows(shape, form, tensor, input_tokens, output_tokens, concurrency)
    served = serve_rows(engine, rows, requests_per_user)
    require_fit(engine, rows, served)
    return _result(engine, rows, served, is_calibrated, form)


def _result(engine: Engine, rows: Rows, served: Served, is_calibrated: bool, form: tuple[int, ...]) -> ServingResult:
    """Throughput and batch by Little's law."""
    answer_s = (rows.output_tokens - 1) * served.token_s
    request_s = served.first_token_s + answer_s
    batch = np.minimum(rows.users * answer_s / request_s, served.slots)
    return ServingResult(
        ttft_s=served.first_token_s.reshape(form),
        tpot_s=served.token_s.reshape(form),
        throughput_tokens_per_s=(rows.users * rows.output_tokens / request_s).reshape(form),
        batch=batch.reshape(form),
        kv_limited=served.kv_limited.reshape(form),
        is_calibrated=is_calibrated,
        step=_parts(engine, rows, batch, form),
    )


def _parts(engine: Engine, rows: Rows, batch: Floats, form: tuple[int, ...]) -> StepParts:
    found = np.empty((5, len(rows)))
    for row, times, prompt_s, load in loads(engine, rows):
        running = max(float(batch[row]), 1.0)
        cached = running * (load.input_tokens + load.output_tokens / 2)
        beside = 0.0 if load.is_prefill_first else 1.0
        found[:, row] = (
            times.layers_at_s(running),
            times.vocabulary_at_s(running),
            cached * times.cached_token_s,
            running * engine.curve.sequence_s,
            times.step_s(beside * running, beside * cached, load.prompts_per_step, load.input_tokens, prompt_s),
        )
    return StepParts(*(column.reshape(form) for column in found))


def _rows(shape: TransformerShape, form: tuple[int, ...], *columns: ArrayLike) -> Rows:
    """Checked columns; ValueError names the first that is wrong."""
    names = ("tensor", "input_tokens", "output_tokens", "concurrency")
    found = []
    for name, column in zip(names, columns, strict=True):
        values = np.broadcast_to(np.asarray(column, dtype=np.float64), form).reshape(-1)
        least = 2 if name == "output_tokens" else 1
        if not (np.isfinite(values) & (values == np.floor(values)) & (values >= least)).all():
            raise ValueError(f"{name}: give whole numbers from {least} up")
        found.append(values.astype(np.int64))
    if (shape.heads % found[0]).any():
        raise ValueError(f"tensor: {shape.heads} heads are not divided evenly; give a divisor of {shape.heads}")
    return Rows(*found)
