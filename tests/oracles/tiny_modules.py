"""Random lightpaths whose tiles divide their wavelengths between circuits and memory modules, small enough to be
enumerated."""

from random import Random
from typing import Any

from costmodel.hardware.device import load_device
from planner.model.instance import Instance
from tests.oracles.tiny_instances import SMALL, drawn, lightpath, some_failures

Fields = dict[str, Any]


def tiny_modules(seed: int, *, shared: bool = False) -> Instance:
    """The instance of a seed, whose device has too little memory of its own for some of the jobs; `shared`: modules are
    those of a server, one to four of them."""
    name = f"{'pool' if shared else 'modules'}-{seed}"
    rng = Random(name)
    memory = {"unit": _unit(rng), "units": rng.choice((1, 2)), "wavelengths": rng.choice((1, 1, 2))}
    room = memory["units"] * memory["wavelengths"] + rng.choice((1, 2))
    if shared:
        memory |= {"units": rng.choice((1, 2, 3, 4)), "shared": True}
    device = load_device("h100-sxm").model_dump(mode="json", by_alias=True)
    device |= {"name": "small", "capacity": rng.choice((0.5e9, 0.8e9, 1.5e9))}
    fabric = lightpath(rng) | {"memory": memory, "wavelengths_per_tile": room}
    return drawn(rng, name, fabric, some_failures, _offloading, device)


def _unit(rng: Random) -> Fields:
    return {
        "kind": "memory_tier", "name": "module", "capacity": rng.choice((0.3e9, 2e9)),
        "bandwidth": rng.choice((20e9, 200e9)), "latency": "1 us", "energy": "20 pJ/b", "source": "test",
    }  # fmt: skip


def _offloading(rng: Random, jobs: list[Fields], per_server: int, largest: int) -> None:
    """All of them train, so that they have much to keep, and to send."""
    for job in jobs:
        batch, sequence = rng.choice((4, 12)), rng.choice((32, 128))
        job["workload"] = {
            "kind": "transformer_training", "model": SMALL, "global_batch": batch, "sequence": sequence,
            "micro_batch": rng.choice((1, 2)), "offload": ["none", "optimizer", "weights+activations+optimizer"],
        }  # fmt: skip
