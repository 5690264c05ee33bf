"""Copies inside the device, from the host and to it."""

from collections.abc import Callable
from functools import partial
from typing import Any

from costmodel.measure.table import Case, Cell, Plan

KINDS = ("device copy", "host to device", "device to host")
QUICK_BYTES = tuple(4**power for power in range(5, 15))
FULL_BYTES = tuple(2**power for power in range(10, 32))


def plan(*, is_quick: bool) -> Plan:
    """Host memory is page-locked."""
    sizes = QUICK_BYTES if is_quick else FULL_BYTES
    return Plan("copies", [_case(kind, num_bytes) for kind in KINDS for num_bytes in sizes])


def _case(kind: str, num_bytes: int) -> Case:
    row: dict[str, Cell] = {"kind": kind, "bytes": num_bytes}
    return Case(row, 2.0 * num_bytes, partial(_prepare, kind, num_bytes), in_graph=kind == "device copy")


def _prepare(kind: str, num_bytes: int) -> Callable[[], Any]:
    import torch

    def on_host() -> Any:
        return torch.ones(num_bytes, dtype=torch.uint8).pin_memory()

    def on_device() -> Any:
        return torch.ones(num_bytes, dtype=torch.uint8, device="cuda")

    source = on_host() if kind == "host to device" else on_device()
    target = on_host() if kind == "device to host" else on_device()
    return lambda: target.copy_(source, non_blocking=True)
