"""Small clusters and a mix to replay on."""

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

from planner.fabrics.free_state import FreeState
from planner.fabrics.placement import Placement
from planner.model.cluster import Cluster
from planner.placement.job_classes import Site, prepare, reference_speeds
from planner.placement.job_mix import Mix
from planner.simulate.demand import DemandModel
from planner.simulate.placer import Placer
from planner.simulate.trace import Trace

FAT_TREE: dict[str, Any] = {
    "kind": "fat_tree", "servers": 4, "gpus_per_server": 8, "nvlink_bandwidth": "450 GB/s", "nvlink_alpha": "1 us",
    "nvlink_energy": "10 pJ/b", "network_bandwidth": "50 GB/s", "network_alpha": "5 us", "network_energy": "20 pJ/b",
}  # fmt: skip
FABRICS: dict[str, dict[str, Any]] = {
    "fat_tree": FAT_TREE,
    "lightpath": {
        "kind": "lightpath", "servers": 4, "tiles_per_server": 8, "wavelengths_per_tile": 8,
        "wavelength_bandwidth": "18.75 GB/s", "max_peers": 4, "waveguides": "dedicated", "fibers": 1,
        "wavelengths_per_fiber": 8, "alpha": "0.7 us", "reconfiguration": "3.7 us", "energy": "5 pJ/b",
    },
    "torus": {
        "kind": "torus", "servers": 4, "sides": [2, 2, 2], "link_bandwidth": "50 GB/s", "alpha": "1 us",
        "link_energy": "10 pJ/b", "switches": {"ports": 136, "energy": "20 pJ/b"},
    },
    "sipac": {
        "kind": "sipac", "servers": 4, "radix": 2, "digits": 3, "bandwidth": "300 GB/s", "alpha": "0.7 us",
        "energy": "5 pJ/b",
    },
    "ocs_rail": {
        "kind": "ocs_rail", "servers": 4, "gpus_per_server": 8, "nvlink_bandwidth": "450 GB/s", "nvlink_alpha": "1 us",
        "nvlink_energy": "10 pJ/b", "switches": 4, "ports": 136, "port_bandwidth": "12.5 GB/s",
        "port_energy": "20 pJ/b", "alpha": "2 us", "reconfiguration": "20 ms",
    },
    "sipam": {
        "kind": "sipam", "servers": 4, "accelerators_per_server": 8, "shoreline": "photonic-shoreline",
        "memory_unit": "memory-unit", "trays_per_server": 2, "units_per_tray": 24, "tray_ports": 4, "spine_rails": 4,
        "uplinks": 4, "switch_ports": 64, "alpha": "0.7 us", "reconfiguration": "25 us", "energy": "2 pJ/b",
    },
    "memory_ring": {
        "kind": "memory_ring", "servers": 4, "link_energy": "10 pJ/b", "memory_latency": "1 us",
        "memory_energy": "20 pJ/b", "network_bandwidth": "50 GB/s", "network_alpha": "5 us",
        "network_energy": "20 pJ/b",
        "node": {
            "devices": 8, "links": 18, "link_bandwidth": "25 GB/s", "alpha": "1 us", "arrangement": "ring",
            "node": {"dimm": "ddr4-2400-lrdimm-128gb", "dimms": 10},
        },
    },
}  # fmt: skip
"""32 accelerators each"""
BERT = {"kind": "transformer_training", "model": "bert-large", "global_batch": 96, "sequence": 512, "micro_batch": 1}
CHAT = {
    "kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": 16, "input_tokens": 512,
    "output_tokens": 128,
}  # fmt: skip


def cluster(fabric: str, **changes: Any) -> Cluster:
    return Cluster.model_validate({"device": "h100-sxm", "fabric": FABRICS[fabric] | changes})


def mix(durations: str = "scaled", *, chat: bool = True) -> Mix:
    workloads = [{"name": "bert", "share": 2, "workload": BERT}]
    if chat:
        workloads.append({"name": "chat", "accelerators": {"min": 1, "max": 4}, "workload": CHAT})
    reference = {"device": "h100-sxm", "fabric": FAT_TREE}
    return Mix.model_validate({"name": "m", "reference": reference, "durations": durations, "workloads": workloads})


def ground(name: str, of: Cluster, sizes: list[int], with_mix: Mix | None = None) -> Site:
    given = with_mix or mix()
    return prepare(name, of, given, reference_speeds(given, sizes))


def trace(arrival_s: list[float], duration_s: list[float], size: list[int], tenants: list[str] | None = None) -> Trace:
    jobs = len(arrival_s)
    return Trace(
        "t", np.array(arrival_s), np.array(duration_s), np.array(size, dtype=np.int64),
        np.array(tenants or ["a"] * jobs), np.full(jobs, ""), np.zeros(jobs, dtype=np.int64), np.arange(1, jobs + 1),
    )  # fmt: skip


SMALL_DEMAND = DemandModel.model_validate(
    {
        "name": "small", "sizes": {1: 4, 2: 2, 4: 2, 8: 1, 16: 0.3}, "mean_gap": 60,
        "durations": [{"seconds": {0: 10, 0.5: 300, 1: 9000}}], "tenants": {"a": 2, "b": 1},
        "burst": {"jobs": 2, "dispersion": 4, "gap": 5}, "daily_swing": 0.5,
    }
)  # fmt: skip


def state_of(of: Cluster) -> FreeState:
    """A cluster with nothing placed."""
    return FreeState.empty(of)


def come_and_go(
    state: FreeState, placer: Placer, site: Site, sizes: list[int], random: Random, steps: int, share: float
) -> Iterator[list[Placement]]:
    """What runs after each of so many steps: with the odds of `share` a job comes, else or where none fits one goes."""
    running = list[Placement]()
    for _ in range(steps):
        placement = placer.place(site.kinds[0, random.choice(sizes)]) if random.random() < share else None
        if placement is not None:
            running.append(placement)
        elif running:
            state.release(running.pop(random.randrange(len(running))))
        yield running
