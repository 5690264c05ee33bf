"""Shared by the tests of `validate`."""

import json
from pathlib import Path

import numpy as np
import pytest

from costmodel.calibrate import collective
from costmodel.hardware.device import load_device
from costmodel.kernels.collective import OPERATIONS, CollectiveCurve, node_collective_s

SIZES = 4.0 ** np.arange(5, 15)
SLOW = CollectiveCurve(launch_s=30e-6)


def try_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits from one start, of a form that one halving chooses: how good they are is for tests of `calibrate`."""
    monkeypatch.setattr(collective, "STARTS", collective.STARTS[:1])
    monkeypatch.setattr(collective, "NUM_HALVINGS", 1)


def written(folder: Path, devices: tuple[str, ...] = ("h100",), curve: CollectiveCurve = SLOW) -> Path:
    """A table of machines of one curve."""
    lines = ["device,op_name,num_gpus,message_bytes,latency_ms"]
    for device in devices:
        for operation in OPERATIONS:
            for num in (2, 8):
                latency_s = node_collective_s(operation, num, SIZES, load_device(device), curve)
                lines += [
                    f"{device},{operation},{num},{size:.0f},{1e3 * seconds:.9g}"
                    for size, seconds in zip(SIZES, latency_s, strict=True)
                ]
    path = folder / "table.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def part(folder: Path, device: str, curve: CollectiveCurve = SLOW) -> Path:
    path = folder / f"{device}.json"
    numbers = {"nccl": {"node": curve.model_dump(by_alias=False)}}
    path.write_text(json.dumps({"kind": "calibration", "device": device, "families": numbers, "source": "made up"}))
    return path
