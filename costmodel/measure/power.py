"""Power while one kernel runs for seconds: what an accelerator draws idle, for its memory, and for its operations."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from costmodel.measure import gemm
from costmodel.measure.attention import HEAD_DIM, prepare
from costmodel.measure.table import Case, Cell, Plan, Steady
from costmodel.measure.timing import elapsed_s, hand_back, ready

SETTLING_S, READING_S = 1.5, 0.8
"""power is read as a mean over a second by parts of today"""
COOLING_S = 2.5
"""without work, until idle power is read"""
READINGS = 20
WIDTH = 16384
"""of the square weights, which are larger than the last cache of the parts of today even in fp8"""
QUICK_ROWS, FULL_ROWS = (1, 16, 32, 2048), (1, 8, 16, 32, 64, 128, 256, 512, 2048, 8192)
COPIED_ELEMENTS = 2**30


def plan(*, is_quick: bool, has_fp8: bool) -> Plan:
    """Nothing, a copy, attention that decodes and that reads a prompt, and products of few and of many rows.

    Columns of inputs: kernel, precision of its matrix operations, these operations and bytes of memory of one run.
    """
    cases = [_case("idle", "bf16", 0, 0, lambda: lambda: None), _copy(), _decode(), _prefill()]
    rows = QUICK_ROWS if is_quick else FULL_ROWS
    cases += [_product("bf16", m) for m in rows]
    cases += [_product("fp8", m) for m in rows if m > 1] if has_fp8 else []
    return Plan("kernel_power", cases, has_power=True)


def steady(case: Case) -> Steady:
    """Time, power and clock of a case that runs long enough for power to settle.

    RuntimeError where the power of this accelerator cannot be read, or the package `nvidia-ml-py` is missing.
    """
    if case.row["kernel"] == "idle":
        time.sleep(COOLING_S)
        return _read(lambda: time.sleep(READING_S / READINGS), 0.0)
    found = _settled(*ready(case))
    hand_back(case)
    return found


def _settled(launch: Callable[[], Any], repeats: int) -> Steady:
    until_s = time.monotonic() + SETTLING_S
    while time.monotonic() < until_s:
        elapsed_s(launch)
    per_reading = max(round(READING_S / READINGS / elapsed_s(launch)), 1)
    return _read(lambda: [launch() for _ in range(per_reading)], 1.0 / repeats / per_reading)


def _read(run: Callable[[], Any], run_share: float) -> Steady:
    """Means over readings while `run` goes on; `run_share` of each is the time of one run of the case."""
    import torch

    taken_s, power_mw, clock_mhz = 0.0, 0.0, 0.0
    for _ in range(READINGS):
        taken_s += elapsed_s(run)
        try:
            power_mw += torch.cuda.power_draw()
            clock_mhz += torch.cuda.clock_rate()
        except ModuleNotFoundError as error:
            raise RuntimeError(f"{error.name} is missing; `pip install nvidia-ml-py`") from None
    return Steady(taken_s * run_share / READINGS, power_mw / READINGS / 1e3, clock_mhz / READINGS)


def _case(
    kernel: str, precision: str, flops: float, moved_bytes: float, prepare: Callable[[], Callable[[], Any]]
) -> Case:
    row: dict[str, Cell] = {"kernel": kernel, "precision": precision, "flops": int(flops), "bytes": int(moved_bytes)}
    return Case(row, 3.0 * moved_bytes, prepare)


def _product(precision: str, m: int) -> Case:
    width = 1 if precision == "fp8" else 2
    moved_bytes = width * (m * WIDTH + WIDTH * WIDTH) + 2 * m * WIDTH
    prepare = partial(gemm.fp8_cast_before if precision == "fp8" else gemm.bf16, m, WIDTH, WIDTH)
    return _case(f"product of {m} rows", precision, 2.0 * m * WIDTH * WIDTH, moved_bytes, prepare)


def _copy() -> Case:
    def ready_to_copy() -> Callable[[], Any]:
        import torch

        source = torch.ones(COPIED_ELEMENTS, dtype=torch.bfloat16, device="cuda").normal_()
        target = torch.empty_like(source)
        return lambda: target.copy_(source)

    return _case("copy", "bf16", 0.0, 4.0 * COPIED_ELEMENTS, ready_to_copy)


def _decode() -> Case:
    """64 sequences of 4,096 cached tokens, eight heads of keys and values for 32 of queries."""
    batch, heads, kv_heads, cached = 64, 32, 8, 4096
    flops = 4.0 * batch * heads * cached * HEAD_DIM
    return _case(
        "attention that decodes", "bf16", flops, 4.0 * batch * kv_heads * cached * HEAD_DIM,
        partial(prepare, batch, 1, cached, heads, kv_heads),
    )  # fmt: skip


def _prefill() -> Case:
    """One prompt of 8,192 tokens; half of the products of queries and keys count."""
    heads, tokens = 32, 8192
    flops = 2.0 * heads * tokens * tokens * HEAD_DIM
    return _case(
        "attention of a prompt", "bf16", flops, 8.0 * heads * tokens * HEAD_DIM,
        partial(prepare, 1, tokens, tokens, heads, heads),
    )  # fmt: skip
