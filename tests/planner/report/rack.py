"""A rack of two servers with four tiles and a plan for it, both written by hand."""

from typing import Any

from planner.model.instance import Instance
from planner.model.plan import Assignment, Circuit, HeldCircuits, Plan
from planner.model.result import Incumbent, LeftOut, Level, Result, Status

RING, SINGLE, LEFT_OUT = "<b>ring</b>", 'single & "quoted"', "</script><script>alert(1)</script>"
TRAINING = {"kind": "transformer_training", "model": "bert-large", "global_batch": 64, "sequence": 512}


def instance(**fabric: Any) -> Instance:
    """Three jobs on a rack with a failed tile, a failed port and a failed fiber."""
    lightpath = {
        "kind": "lightpath", "servers": 2, "tiles_per_server": 4, "tile_rows": 2, "wavelengths_per_tile": 8,
        "wavelengths_per_fiber": 8, "wavelength_bandwidth": "25 GB/s", "max_peers": 3, "fibers": 2,
        "alpha": "0.7 us", "reconfiguration": "3.7 us", "energy": "5 pJ/b",
        "loss_per_tile": "0.25 dB", "loss_per_fiber": "1 dB", "loss_budget": "6 dB",
    }  # fmt: skip
    failed_fiber = {"from": "s0", "to": "s1", "index": 1}
    health = {"failed_tiles": ["s1.t3"], "failed_ports": ["s1.t2"], "failed_fibers": [failed_fiber]}
    return Instance.parse({
        "schema_version": 2,
        "name": "rack <i>of</i> two",
        "description": "two servers & four tiles",
        "cluster": {"device": "h100-sxm", "fabric": lightpath | fabric, "health": health},
        "jobs": [
            {"name": RING, "tenant": "search", "workload": TRAINING, "accelerators": 4, "weight": 2},
            {"name": SINGLE, "workload": TRAINING, "accelerators": 1},
            {"name": LEFT_OUT, "workload": TRAINING, "accelerators": 8},
        ],
    })  # fmt: skip


def fat_tree() -> Instance:
    """One job on a fabric without circuits."""
    fabric = {
        "kind": "fat_tree", "servers": 2, "gpus_per_server": 4,
        "nvlink_bandwidth": "450 GB/s", "nvlink_alpha": "1 us", "nvlink_energy": "5 pJ/b",
        "network_bandwidth": "50 GB/s", "network_alpha": "5 us", "network_energy": "20 pJ/b",
    }  # fmt: skip
    job = {"name": "solo", "workload": TRAINING | {"context": 2}, "accelerators": 2}
    cluster = {"device": "h100-sxm", "fabric": fabric}
    return Instance.parse({"schema_version": 2, "name": "tree", "cluster": cluster, "jobs": [job]})


def _ring(*devices: str) -> HeldCircuits:
    """Eight wavelengths from each device to the next; fiber 0 where that lies in the other server."""
    circuits = []
    for source, destination in zip(devices, (*devices[1:], devices[0]), strict=True):
        near, far = source.split(".")[0], destination.split(".")[0]
        fibers = () if near == far else (f"{near}>{far}#0",)
        ends = {"from": source, "to": destination}
        circuits.append(Circuit.model_validate(ends | {"wavelengths": range(8), "fibers": fibers}))
    return HeldCircuits(dimension="tensor", circuits=tuple(circuits))


def plan() -> Plan:
    """A tensor ring across both servers and a job on one device."""
    devices = ("s0.t0", "s0.t1", "s1.t0", "s1.t1")
    ring = {"kind": "ring", "wavelengths": [8]}
    return Plan.model_validate({
        "instance": "rack <i>of</i> two",
        "assignments": [
            Assignment.model_validate({
                "job": RING, "devices": devices, "value": 1.5,
                "configuration": {"tensor": 4, "micro_batch": 4, "tensor_collective": ring},
                "circuits": [_ring(*devices)],
            }),
            Assignment.model_validate(
                {"job": SINGLE, "devices": ["s1.t2"], "value": 0.5, "configuration": {"micro_batch": 4}}
            ),
        ],
    })  # fmt: skip


def result() -> Result:
    """The plan with two proven levels, one job left out, and a trace."""
    trace = (
        Incumbent(0.1, "value", 1.5, None, "first_fit"),
        Incumbent(0.4, "value", 2.0, 2.25, "cpsat"),
        Incumbent(0.9, "value", 2.0, 2.0, "cpsat"),
        Incumbent(1.0, "moves", 0.0, 0.0, "cpsat"),
    )
    levels = Level("value", 2.0, 2.0, 0.0, Status.OPTIMAL), Level("moves", 0.0, 0.0, 0.0, Status.OPTIMAL)
    return Result(
        Status.OPTIMAL,
        "cpsat",
        plan(),
        levels,
        left_out=(LeftOut(LEFT_OUT, "only 6 devices have light"),),
        trace=trace,
        wall_time_s=1.2,
        seed=7,
        statistics={"candidates": 40.0, "dominated": 12.0},
    )
