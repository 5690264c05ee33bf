"""Measure the CUDA device of this machine: tables that `planner calibrate` fits and `planner validate` judges by.

Needs torch, pydantic for the names of the catalog, and for power nvidia-ml-py; nothing else of the planner.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from costmodel.measure import attention, copies, gemm, networks, power
from costmodel.measure.table import Meter, Outcome, Plan, Timer, write_table
from costmodel.measure.timing import time_s

OTHER_FORMS = {"pcie", "nvl", "mig"}
"""words in a GPU's name that tell it from the SXM part of the catalog"""
FP8_FROM = (8, 9)
"""compute capability"""


class NoDeviceError(RuntimeError):
    """Nothing here can be measured; the message says what is missing and what to do."""


@dataclass(frozen=True)
class Detected:
    """The GPU that is measured."""

    full_name: str
    name: str
    """as tables call it: an alias in the catalog, or the full name in lower case with dashes"""
    is_in_catalog: bool
    has_fp8: bool


def detect() -> Detected:
    """The first CUDA device; NoDeviceError where there is none, or no torch."""
    try:
        import torch
    except ImportError:
        raise NoDeviceError("torch is not installed; `pip install torch` on the machine with the GPU") from None
    if not torch.cuda.is_available():
        raise NoDeviceError(
            "torch finds no CUDA device; run this on a machine with an NVIDIA GPU, its driver and a CUDA build of torch"
        )
    full_name = str(torch.cuda.get_device_name())
    name = catalog_alias(full_name)
    has_fp8 = tuple(torch.cuda.get_device_capability()) >= FP8_FROM and hasattr(torch, "float8_e4m3fn")
    return Detected(full_name, name or _slug(full_name), name is not None, has_fp8)


def catalog_alias(full_name: str) -> str | None:
    """h200 for "NVIDIA H200"; None for a device, or a form of it, that the catalog lacks."""
    try:
        from costmodel.hardware.device import device_names, load_device
    except ModuleNotFoundError as missing:
        raise NoDeviceError(f"{missing.name} is not installed; `pip install torch pydantic nvidia-ml-py`") from None
    words = set(re.split(r"[^a-z0-9]+", full_name.lower()))
    if words & OTHER_FORMS:
        return None
    aliases = [alias for name in device_names() for alias in load_device(name).aliases]
    return next((alias for alias in aliases if alias in words), None)


def plans(*, is_quick: bool, has_fp8: bool) -> tuple[Plan, ...]:
    """All tables to measure; idle power first, before the clock rises."""
    return (
        power.plan(is_quick=is_quick, has_fp8=has_fp8),
        gemm.plan(is_quick=is_quick, has_fp8=has_fp8),
        attention.prefill_plan(is_quick=is_quick),
        attention.decode_plan(is_quick=is_quick),
        copies.plan(is_quick=is_quick),
        networks.plan(is_quick=is_quick),
    )


def measure(
    folder: Path,
    device: Detected,
    *,
    is_quick: bool,
    on_case: Callable[[str, int, int], None] = lambda table, done, total: None,
    timer: Timer = time_s,
    meter: Meter = power.steady,
) -> tuple[Outcome, ...]:
    """Write one CSV file for each table into `folder`, which is made where it is missing.

    FileExistsError where a table lies there already. `on_case` is told the table, cases done and cases in all.
    """
    todo = plans(is_quick=is_quick, has_fp8=device.has_fp8)
    folder.mkdir(parents=True, exist_ok=True)
    for plan in todo:
        if (folder / f"{plan.name}.csv").exists():
            raise FileExistsError(f"{folder} holds {plan.name}.csv already; name another folder, or remove it")
    total = sum(len(plan.cases) for plan in todo)
    done, outcomes = 0, []
    for plan in todo:

        def tell(name: str = plan.name) -> None:
            nonlocal done
            done += 1
            on_case(name, done, total)

        outcomes.append(write_table(plan, device.name, folder, timer, meter, tell))
    return tuple(outcomes)


def _slug(name: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", name.lower()))
