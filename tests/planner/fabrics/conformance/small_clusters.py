"""A few small clusters of every kind of fabric, each short of another part, with jobs that fill them."""

from collections.abc import Callable
from math import prod
from random import Random
from typing import Any, get_args

import yaml

from planner.cli.new_instance import instance_text
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.whatif.failures import PartKind, damaged, parse_failures
from tests.fabrics import FABRICS
from tests.oracles import tiny_pools, tiny_shares
from tests.oracles.tiny_instances import lightpath

Fields = dict[str, Any]
SMALL = tiny_pools.SMALL
BOARDS = ({"sides": [2, 2, 1]}, {"sides": [1, 2, 2], "wavelengths_per_fiber": 2}, {"sides": [2, 1, 1]})
"""shorter than a server of a small torus, with fibers of one link or of two between them"""
UPPER = {"alpha": "2 us", "energy": "10 pJ/b"}


def _lightpath(rng: Random) -> Fields:
    few = {"servers": rng.choice((2, 2, 3)), "racks": rng.choice((1, 1, 2)), "fibers": 1}
    wide = {
        "tiles_per_server": 4,
        "tile_rows": 1,
        "wavelengths_per_tile": 4,
        "wavelengths_per_fiber": 4,
        "max_peers": 3,
    }
    fabric = lightpath(rng) | few | ({"waveguides": "dedicated", **wide} if rng.random() < 0.5 else {})
    return _joined(rng, fabric, fabric["servers"] * fabric["tiles_per_server"])


def _joined(rng: Random, fabric: Fields, devices: int) -> Fields:
    """With one link of each part between racks of so many devices, where there are several racks."""
    above = rng.choice((
        {"kind": "packets", "bandwidth": "20 GB/s", "oversubscription": devices, **UPPER},
        {"kind": "switches", "ports": 1, "radix": 2, "bandwidth": "20 GB/s", "reconfiguration": "10 ms", **UPPER},
        {"kind": "fibers", "fibers": 1, "wavelengths_per_fiber": 1, "wavelength_bandwidth": "20 GB/s", **UPPER},
    ))  # fmt: skip
    return fabric | ({"upper": above} if fabric["racks"] > 1 else {})


def _ocs_rail(rng: Random) -> Fields:
    servers = rng.choice((2, 3, 4))
    few = {"servers": servers, "gpus_per_server": rng.choice((2, 4)), "switches": rng.choice((1, 2)), "ports": servers}
    return FABRICS["ocs_rail"] | few | {"switching": rng.choice(("held", "phases"))}


def _torus(rng: Random) -> Fields:
    sides = rng.choice(([2, 2, 2], [2, 2, 2], [4, 2, 2]))
    switches = rng.choice((None, {"ports": 16, "energy": "1 pJ/b"}))
    fabric = FABRICS["torus"] | {"servers": rng.choice((1, 2, 3)), "sides": sides, "switches": switches}
    few = {"servers": rng.choice((1, 2)), "racks": rng.choice((1, 2))}
    return _joined(rng, fabric | few, few["servers"] * prod(sides))


def _sipac(rng: Random) -> Fields:
    radix, digits = rng.choice(((2, 2), (2, 3), (3, 2)))
    fabric = FABRICS["sipac"] | {"servers": rng.choice((1, 2)), "radix": radix, "digits": digits}
    return _joined(rng, fabric | {"racks": rng.choice((1, 2))}, fabric["servers"] * radix**digits)


def _sipam(rng: Random) -> Fields:
    fabric = tiny_pools.pool_fabric(rng)
    kind = rng.choice(("pools", "spanning servers", "spanning servers", "spanning racks"))
    if kind == "spanning servers":
        edge = fabric["shoreline"] | {"perimeter_mm": 8 * 5}
        fabric |= {"servers": 2, "accelerators_per_server": 4, "shoreline": edge, "spine_rails": 2}
        fabric |= {"uplinks": rng.choice((1, 2)), "tray_ports": 4, "units_per_tray": 8, "trays_per_server": 2}
    elif kind == "spanning racks":
        fabric |= {"servers": 1, "racks": 2, "tray_ports": 4, "units_per_tray": 8, "trays_per_server": 2}
    return _joined(rng, fabric, fabric["servers"] * fabric["accelerators_per_server"])


def _divided_ports(rng: Random) -> Fields:
    few = {"servers": rng.choice((1, 2, 3)), "gpus_per_server": rng.choice((2, 3, 4))}
    return FABRICS["divided_ports"] | few | {"memory": tiny_shares._memory(rng)}


def _memory_ring(rng: Random) -> Fields:
    fabric = FABRICS["memory_ring"]
    few = {"devices": rng.choice((3, 4, 8)), "node": fabric["node"]["node"] | {"dimms": rng.choice((2, 3, 5))}}
    shared = {"shared_nodes": rng.random() < 0.7, "node": fabric["node"] | few}
    return fabric | {"servers": rng.choice((1, 2, 3))} | shared


def _fat_tree(rng: Random) -> Fields:
    few = {"servers": rng.choice((1, 2)), "racks": rng.choice((1, 2)), "gpus_per_server": rng.choice((2, 4))}
    return FABRICS["fat_tree"] | few


SCARCE: dict[str, Callable[[Random], Fields]] = {
    "lightpath": _lightpath, "ocs_rail": _ocs_rail, "torus": _torus, "sipac": _sipac, "sipam": _sipam,
    "divided_ports": _divided_ports, "memory_ring": _memory_ring, "fat_tree": _fat_tree,
}  # fmt: skip


def from_template(kind: str) -> Fields:
    """The fabric of a new instance, two servers of four accelerators."""
    text = instance_text("new", fabric=kind, servers=2, tiles=4, fibers=1, device="h100-sxm")
    fabric: Fields = yaml.safe_load(text)["cluster"]["fabric"]
    return fabric


def small_instance(kind: str, seed: int) -> Instance:
    """One to four jobs on a small cluster, in a half of them with failed parts of any kind that the fabric has."""
    rng = Random(f"{kind}-{seed}")
    data: Fields = {
        "schema_version": 2,
        "name": f"{kind}-{seed}",
        "cluster": {"device": "h100-sxm", "fabric": SCARCE[kind](rng) if kind in SCARCE else from_template(kind)},
        "jobs": [_job(rng, kind, "j0", 1)],
        "objectives": ["value"],
    }
    if kind == "lightpath" and seed % 5 == 0:
        data["cluster"]["fabric"]["memory"] = {"unit": "cxl-ddr5", "units": 2, "wavelengths": 1, "shared": True}
    if kind == "torus" and seed % 2 == 0:
        data["cluster"]["fabric"]["boards"] = BOARDS[seed // 2 % len(BOARDS)]
    fabric = Instance.parse(data).cluster.fabric
    most = fabric.most_devices_of_a_job
    data["jobs"] = [_job(rng, kind, f"j{number}", most) for number in range(rng.choice((1, 2, 3, 4)))]
    for job in data["jobs"]:
        if "memory" in data["cluster"]["fabric"] and kind == "lightpath":
            job["workload"] = job["workload"] | {"offload": ["none", "weights" if _serves(job) else "optimizer"]}
    instance = Instance.parse(data)
    if rng.random() < 0.5:
        names = random_parts(instance.cluster, rng, rng.choice((1, 2, 3)))
        if rng.random() < 0.5:
            names = _of_one_kind(instance.cluster, rng)
        instance = damaged(instance, parse_failures(instance.cluster, names))
    return instance


def _serves(job: Fields) -> bool:
    return bool(job["workload"]["kind"] == "transformer_inference")


def random_parts(cluster: Cluster, rng: Random, number: int) -> list[str]:
    """Names of parts that may fail, every kind of part as often as the others."""
    return sorted({rng.choice(rng.choice(_may_fail(cluster))) for _ in range(number)})


def _of_one_kind(cluster: Cluster, rng: Random) -> list[str]:
    """A quarter of all parts of a kind."""
    parts = rng.choice(_may_fail(cluster))
    return rng.sample(parts, -(-len(parts) // 4))


def _may_fail(cluster: Cluster) -> list[tuple[str, ...]]:
    """Names of parts by kind, those that health records; memory nodes do where devices share them."""
    recorded = {*get_args(PartKind)} - (set() if cluster.fabric.slots_matter else {"memory node"})
    return [
        tuple(parts.names()) for kind, parts in cluster.fabric.inventory().items() if kind in recorded and parts.count
    ]


def _job(rng: Random, kind: str, name: str, most: int) -> Fields:
    """Training offloads, or does not, where memory nodes may be shared."""
    training = {"kind": "transformer_training", "model": SMALL, "global_batch": 12, "sequence": 128, "micro_batch": 1}
    training |= {"offload": ["none", "optimizer"]} if kind == "memory_ring" else {}
    serving = {
        "kind": "transformer_inference", "model": SMALL, "concurrency": 8, "input_tokens": 64, "output_tokens": 16,
    }  # fmt: skip
    sizes = [size for size in (1, 2, 3, 4, 6, 8) if size <= most]
    return {
        "name": name,
        "workload": rng.choice((training, training, serving)),
        "accelerators": rng.sample(sizes, min(2, len(sizes))),
        "required": rng.random() < 0.1,
    }
