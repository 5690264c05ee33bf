"""Tiny clusters of every fabric, and jobs whose degrees along all dimensions may be forced."""

from random import Random
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from costmodel.fabrics import Fabric
from costmodel.workloads import TransformerTraining
from planner.candidates.expand import expand
from planner.fabrics.problem import JobOptions, Problem
from planner.model.instance import Instance

Fields = dict[str, Any]
DEGREES = ("tensor", "pipeline", "data", "context", "expert")
MODEL = {
    "layers": 8, "hidden": 512, "heads": 8, "kv_heads": 8, "head_dim": 64, "ffn": 1024, "vocabulary": 1024,
    "experts": 4, "experts_per_token": 2,
}  # fmt: skip
TRAINING: Fields = {
    "kind": "transformer_training", "model": MODEL, "global_batch": 16, "sequence": 256, "micro_batch": 1,
}  # fmt: skip
SERVING: Fields = {
    "kind": "transformer_inference", "model": MODEL, "concurrency": 16, "input_tokens": 64, "output_tokens": 64,
}  # fmt: skip
ISLANDS: Fields = {
    "servers": 3, "gpus_per_server": 4, "nvlink_bandwidth": "450 GB/s", "nvlink_alpha": "1 us",
    "nvlink_energy": "50 pJ/b", "network_bandwidth": "50 GB/s", "network_alpha": "5 us", "network_energy": "165 pJ/b",
}  # fmt: skip
FABRICS: dict[str, Fields] = {
    "ocs_rail": {
        "servers": 4, "gpus_per_server": 4, "nvlink_bandwidth": "300 GB/s", "nvlink_alpha": "2 us",
        "nvlink_energy": "2 pJ/b", "switches": 2, "ports": 8, "port_bandwidth": "25 GB/s", "alpha": "1 us",
        "reconfiguration": "10 ms", "port_energy": "10 pJ/b",
    },
    "lightpath": {
        "servers": 2, "tiles_per_server": 4, "wavelengths_per_tile": 8, "wavelength_bandwidth": "18.75 GB/s",
        "max_peers": 3, "fibers": 4, "wavelengths_per_fiber": 8, "alpha": "0.7 us", "reconfiguration": "3.7 us",
        "energy": "5 pJ/b",
    },
    "torus": {
        "servers": 2, "sides": [2, 2, 2], "link_bandwidth": "50 GB/s", "alpha": "1 us", "link_energy": "10 pJ/b",
        "switches": {"ports": 16, "energy": "1 pJ/b"},
    },
    "sipac": {"servers": 2, "radix": 2, "digits": 3, "bandwidth": "300 GB/s", "alpha": "1 us", "energy": "5 pJ/b"},
    "fat_tree": ISLANDS,
    "divided_ports": ISLANDS | {"memory": {"kind": "optical_modules", "part": "optical-hbm-a100"},
                                "port_energy": "5 pJ/b"},
    "sipam": {
        "servers": 2, "accelerators_per_server": 4, "shoreline": "photonic-shoreline", "memory_unit": "memory-unit",
        "trays_per_server": 2, "units_per_tray": 8, "tray_ports": 4, "spine_rails": 4, "uplinks": 4,
        "switch_ports": 64, "alpha": "0.7 us", "reconfiguration": "25 us", "energy": "2 pJ/b",
    },
    "memory_ring": {
        "servers": 2, "link_energy": "10 pJ/b", "memory_energy": "20 pJ/b", "memory_latency": "1 us",
        "network_alpha": "5 us", "network_bandwidth": "50 GB/s", "network_energy": "20 pJ/b",
        "node": {
            "alpha": "1 us", "arrangement": "ring", "devices": 4, "link_bandwidth": "25 GB/s", "links": 18,
            "node": {"dimm": "ddr4-2400-lrdimm-128gb", "dimm_bandwidth": "25.6 GB/s", "dimms": 10, "groups": 2},
        },
    },
}  # fmt: skip


def fabric_of(kind: str, **fields: Any) -> Fabric:
    adapter: TypeAdapter[Fabric] = TypeAdapter(Fabric)
    return adapter.validate_python({"kind": kind} | FABRICS[kind] | fields)


def workload_of(**fields: Any) -> TransformerTraining:
    return TransformerTraining.model_validate(TRAINING | fields)


def tiny_layout(kind: str, seed: int) -> Problem:
    """Up to three jobs, each held to one combination of degrees, drawn from those that are listed."""
    draw = Random(seed)
    instance = Instance.parse({
        "schema_version": 2,
        "name": f"{kind}-{seed}",
        "cluster": {"device": "h100-sxm", "fabric": {"kind": kind} | FABRICS[kind]},
        "jobs": [_job(draw, f"j{number}") for number in range(draw.choice((1, 2, 3)))],
        "objectives": ["value"],
    })  # fmt: skip
    problem = expand(instance, prune=False)
    return Problem(instance, tuple(_forced(draw, options) for options in problem.options))


def _job(draw: Random, name: str) -> Fields:
    context, expert = (draw.choice(([1, 2, 4], [2], [2, 4], [1])) for _ in range(2))
    workload = TRAINING | {"context": context, "expert": expert}
    if draw.random() < 0.2:
        workload = SERVING | {"expert": expert}
    each = {"per_server": draw.choice((2, 4))} if draw.random() < 0.15 else {}
    sizes = sorted({2, *draw.sample((4, 8), 1), *draw.sample((2, 4, 8), 1)})
    return {"name": name, "workload": workload, "accelerators": sizes, "constraints": each}


def _forced(draw: Random, options: JobOptions) -> JobOptions:
    """The rows of one combination of degrees: with a pipeline and context if there is one, and many above one."""
    mappings = options.candidates.mappings
    table = np.stack([getattr(mappings, name) for name in DEGREES])[:, options.candidates.mapping].T
    combinations = sorted(set(map(tuple, table.tolist())))
    if not combinations:
        return options
    drawn = draw.sample(combinations, min(12, len(combinations)))
    wanted = max(drawn, key=lambda degrees: (degrees[1] > 1 < degrees[3], sum(degree > 1 for degree in degrees)))
    return options.take(np.flatnonzero((table == wanted).all(axis=1)))
