"""First tokens at random points of serving: never sooner with more users, never later with faster memory.

    python -m tests.benchmarks.serving_laws --points 2000 --seed 0

prints every point that breaks a law, and how many there are; exit code 1 where any is.
"""

import argparse
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np

from costmodel.hardware.device import load_device
from costmodel.serving.backends import backend_names
from costmodel.serving.replica import replicas
from costmodel.workloads import TransformerInference

ROUNDING = 1e-9
MODELS = ("llama-3.1-8b", "qwen3-32b", "llama-3.1-70b", "qwen3-30b-a3b")
DEVICES = {name: load_device(name) for name in ("h100-sxm", "h200-sxm", "a100-sxm", "b200")}


def point(seed: int, number: int) -> tuple[dict[str, Any], str, int]:
    """Fields of a workload, name of a device and tensor degree."""
    rng = Random(f"laws-{seed}-{number}")
    fields: dict[str, Any] = {
        "model": rng.choice(MODELS), "backend": rng.choice(backend_names()), "lengths": rng.choice(("equal", "varied")),
        "input_tokens": round(2 ** rng.uniform(4, 14)), "output_tokens": round(2 ** rng.uniform(0, 12)),
    }  # fmt: skip
    if rng.random() < 0.4:
        fields["chunk"] = round(2 ** rng.uniform(7, 13))
    if rng.random() < 0.3:
        fields["prefix_hit"] = rng.uniform(0, 0.95)
    if rng.random() < 0.2:
        fields["speculation"] = {"tokens": rng.randint(1, 6), "acceptance": rng.random(), "draft_cost": 0.02}
    device = rng.choice(tuple(DEVICES))
    fields["precision"] = "bf16" if "fp8" not in DEVICES[device].flops_per_s else rng.choice(("bf16", "fp8"))
    return fields, device, rng.choice((1, 2, 4, 8))


def broken(seed: int, number: int) -> Iterator[str]:
    """Laws that one point breaks, in words."""
    rng = Random(f"users-{seed}-{number}")
    fields, name, tensor = point(seed, number)
    device = DEVICES[name]
    users = sorted({round(2 ** rng.uniform(0, 9)) for _ in range(2)} | {rng.randint(1, 8)})
    first = [_first_s(fields, count, tensor, device) for count in users]
    if any(b < a * (1 - ROUNDING) for a, b in pairwise(first)):
        yield f"users {users}: {first} s; {fields} on {tensor} {name}"
    factor = 2 ** rng.uniform(0.05, 2)
    faster = device.model_copy(update={"memory_bytes_per_s": device.memory_bytes_per_s * factor})
    for count, before in zip(users, first, strict=True):
        after = _first_s(fields, count, tensor, faster)
        if after > before * (1 + ROUNDING):
            yield f"memory x{factor:.3g}, {count} users: {before} s, then {after} s; {fields} on {tensor} {name}"


def _first_s(fields: dict[str, Any], users: int, tensor: int, device: Any) -> float:
    """Time to first token; infinite where the model does not fit, with which all agrees."""
    _, rows, scores = replicas(TransformerInference(**fields, concurrency=users), (tensor,), device)
    return float(scores.ttft_s[0]) if len(rows) else np.inf


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    found = [told for number in range(asked.points) for told in broken(asked.seed, number)]
    print("\n".join([*found, f"{len(found)} of {asked.points:,} points break a law"]))
    return bool(found)


if __name__ == "__main__":
    raise SystemExit(main())
