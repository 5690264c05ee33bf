"""A model on the ranks of one engine under one backend: rows of loads -> times to first token and per token."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from costmodel.hardware.device import Device
from costmodel.parallelism.mappings import Bools, Floats, Ints
from costmodel.pricing.calibration import Calibrations
from costmodel.serving.admission import cache_tokens, does_not_fit, memory_slots
from costmodel.serving.backends import ServingCurve
from costmodel.serving.closed_loop import Load, StepTable, Waits, closed_loop
from costmodel.serving.step import Precisions, RankTimes, prompt_attention_s, rank_times
from costmodel.workloads.transformer.shapes import TransformerShape

SPREAD = (0.5, 1.5)
"""of turnarounds around their mean. Rows of H100 are met a little better than with a single one (time to first token
16.9 % against 17.7 %), and by no more with four"""


@dataclass(frozen=True)
class Engine:
    """What does not change from load to load."""

    shape: TransformerShape
    device: Device
    precisions: Precisions
    curve: ServingCurve
    calibrations: Calibrations | None = None
    """instead of the catalog's"""


@dataclass(frozen=True)
class Rows:
    """Loads, columns of shape (N,)."""

    tensor: Ints
    input_tokens: Ints
    output_tokens: Ints
    users: Ints

    def __len__(self) -> int:
        return len(self.users)


@dataclass(frozen=True)
class Served:
    """Columns of shape (N,); NaN and 0 where not even one request fits into memory."""

    first_token_s: Floats
    token_s: Floats
    slots: Ints
    """requests that run at once at most"""
    kv_limited: Bools


def serve_rows(engine: Engine, rows: Rows, requests_per_user: float | None = None) -> Served:
    """Simulate every row. None: the steady state; else the mean of a run of so many requests of each user."""
    first_s, token_s = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    slots, is_limited = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.bool_)
    for row, times, prompt_s, load in loads(engine, rows):
        waits = _waits(load, step_table(times, load, prompt_s))
        first_s[row] = _mean(waits.first_token_s, requests_per_user) + engine.curve.first_token_s
        token_s[row] = _mean(waits.token_s, requests_per_user)
        slots[row], is_limited[row] = load.slots, load.slots < load.users - engine.curve.held_requests
    return Served(first_s, token_s, slots, is_limited)


def loads(engine: Engine, rows: Rows) -> Iterator[tuple[int, RankTimes, float, Load]]:
    """Rows that fit into memory: the row's number, times of a rank, attention of a prompt, and the load."""
    shape, device, curve = engine.shape, engine.device, engine.curve
    for tensor in np.unique(rows.tensor):
        times = rank_times(shape, device, int(tensor), engine.precisions, curve, engine.calibrations)
        tokens = cache_tokens(shape, device, int(tensor), engine.precisions, curve)
        own = np.flatnonzero(rows.tensor == tensor)
        prompts = rows.input_tokens[own]
        prompts_s = prompt_attention_s(shape, device, int(tensor), engine.precisions, prompts, engine.calibrations)
        for row, prompt_s in zip(own.tolist(), prompts_s.tolist(), strict=True):
            users, inputs, outputs = (int(c[row]) for c in (rows.users, rows.input_tokens, rows.output_tokens))
            slots = min(memory_slots(tokens, inputs, outputs, curve), max(users - curve.held_requests, 1))
            if slots:
                yield row, times, prompt_s, _load(curve, users, inputs, outputs, slots)


def step_table(times: RankTimes, load: Load, prompt_s: float) -> StepTable:
    """Steps of 0 to all running requests, and of 1 to all prompts that one step takes in."""
    running = np.arange(load.slots + 1.0)
    prompts = np.arange(1.0, load.prompts_per_step + 1.0)[:, None]
    beside = running[:1] if load.is_prefill_first else running
    prefill_s = times.tokens_s(beside + prompts * load.input_tokens, beside + prompts) + prompts * prompt_s
    return StepTable(
        decode_s=times.tokens_s(running, running).tolist(),
        prefill_s=prefill_s.tolist(),
        cached_token_s=times.cached_token_s,
        prefill_floor_s=times.prefill_floor_s,
        sequence_s=times.curve.sequence_s,
    )


def require_fit(engine: Engine, rows: Rows, served: Served) -> None:
    """ValueError for the first row of which not even one request fits, with what would help."""
    for row in np.flatnonzero(served.slots == 0)[:1]:
        tokens = int(rows.input_tokens[row] + rows.output_tokens[row])
        raise ValueError(
            does_not_fit(engine.shape, engine.device, int(rows.tensor[row]), engine.precisions, engine.curve, tokens)
        )


def _waits(load: Load, table: StepTable) -> Waits:
    """Mean over turnarounds: which of two prompts that return together comes in time for a step is chance."""
    spread = SPREAD if load.turnaround_s > 0 else (1.0,)
    found = [closed_loop(replace(load, turnaround_s=share * load.turnaround_s), table) for share in spread]
    return Waits(
        first_token_s=np.mean([waits.first_token_s for waits in found], axis=0),
        token_s=np.mean([waits.token_s for waits in found], axis=0),
    )


def _load(curve: ServingCurve, users: int, inputs: int, outputs: int, slots: int) -> Load:
    return Load(
        users=users,
        input_tokens=inputs,
        output_tokens=outputs,
        slots=slots,
        prompts_per_step=min(max(curve.prefill_tokens // inputs, 1), slots),
        is_prefill_first=curve.prefill_tokens > 0,
        turnaround_s=curve.turnaround_s,
    )


def _mean(by_round: Floats, requests_per_user: float | None) -> float:
    """In the first round all users start at once, in the last one nobody follows; those between are steady."""
    start, steady, end = float(by_round[0]), float(by_round[1:-1].mean()), float(by_round[-1])
    return steady if requests_per_user is None else steady + (start + end - 2 * steady) / requests_per_user
