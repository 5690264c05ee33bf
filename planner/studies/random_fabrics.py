"""Fabrics of any number of accelerators by kind: as many equal racks (pods, cubes, zones) as that takes."""

import random
from collections.abc import Callable, Mapping
from typing import Any, Literal

import yaml

from planner.fabrics import fabrics
from planner.model.errors import InputError

Fields = dict[str, Any]
Pools = Literal["plain", "normalized"]
"""plain: 12 I/Os of 2 TB/s; normalized: all I/Os of an accelerator carry 4 TB/s, as memory and links of an H100 do in
paper 001, over 6 I/Os, since no unit may be faster than an I/O"""
PLACE = "random fabric"
FIBERS = (2, 4, 8)
"""for each ordered pair of servers of a rack"""
WAVELENGTHS = (8, 16)
"""of a fiber"""
PEERS = (3, 4, 8)
LIGHT_SERVERS, LIGHT_TILES = 8, 32
"""of a lightpath rack"""
UPPER_PORTS = (16, 32, 64)
"""of each lightpath rack at the switches that join racks"""
LEAST_RADIX = 136
"""ports of such a switch, or one for each rack where there are more"""
GPUS, POD_SERVERS = 8, 128
"""of a server, and servers of a pod, on NVLink with packets or rails"""
RAIL_SERVERS, LARGE_SERVER = 4096, 64
"""most servers that rails join, and GPUs of each where there would be more of 8"""
CUBE = 64
POD_CUBES = (64, 144)
"""cubes of a pod: as many as 136 ports join, or 288 ports"""
SIPAC_SERVERS, RADIX, DIGITS = 16, 4, 3
"""servers of a pod, each of radix ^ digits accelerators"""
POOL_ACCELERATORS, POOL_SERVERS, TRAYS, UNITS = 32, 8, 4, 6
"""accelerators and trays of a pool's server, servers of a zone, memory units for each accelerator"""


def random_fabric(kind: str, accelerators: int, seed: int, *, most: int | None = None) -> Fields:
    """The key `fabric` of a cluster as files have it, with so many accelerators; light is drawn by the seed. `most`:
    accelerators of its largest job; lightpath racks that have fewer are joined by optical circuit switches.

    InputError where no racks of that kind have so many.
    """
    if kind not in fabrics():
        raise InputError(PLACE, "kind", f"'{kind}' is unknown; kinds are {', '.join(fabrics())}")
    of_number, rng = MADE.get(kind), random.Random(seed)
    if of_number is not None:
        made = of_number(accelerators, rng)
        is_joined = kind == "lightpath" and made["racks"] > 1 and (most or 0) > LIGHT_SERVERS * LIGHT_TILES
        return {**made, "upper": _switches_above(made["racks"], rng)} if is_joined else made
    pods, number = _racks(accelerators, POD_SERVERS * GPUS, GPUS)
    text = fabrics()[kind].template.text(servers=number // GPUS, tiles=GPUS, fibers=0)
    return {"racks": pods, **yaml.safe_load(text)["fabric"]}


def pool_fabric(zones: int, servers: int, units: int = UNITS, pools: Pools = "plain") -> Fields:
    """Zones of servers of 32 accelerators; ports of trays suffice for every accelerator on every local rail."""
    is_plain = pools == "plain"
    width, rate = (8, "2 TB/s") if is_plain else (16, "0.6666666667 TB/s")
    io = {"name": f"io-{pools}", "width_mm": width, "bandwidth": rate, "source": f"paper 001, {pools} reading"}
    return {
        "kind": "sipam",
        "racks": zones,
        "servers": servers,
        "accelerators_per_server": POOL_ACCELERATORS,
        "shoreline": {"name": "edge", "perimeter_mm": 96, "io": io, "source": "paper 001, section 4"},
        "memory_unit": "memory-unit",
        "trays_per_server": TRAYS,
        "units_per_tray": POOL_ACCELERATORS * units // TRAYS,
        "tray_ports": POOL_ACCELERATORS // TRAYS,
        "spine_rails": 4 if is_plain else 0,
        "uplinks": 8 if is_plain else 0,
        "switch_ports": max(2 * POOL_ACCELERATORS, 8 * servers),
        "alpha": "0.7 us",
        "reconfiguration": "25 us",
        "energy": "2 pJ/b",
    }


def _lightpath(accelerators: int, rng: random.Random) -> Fields:
    rack = LIGHT_SERVERS * LIGHT_TILES
    racks, number = _racks(accelerators, rack, LIGHT_SERVERS)
    tiles = number // LIGHT_SERVERS
    return {
        "kind": "lightpath", "racks": racks, "servers": LIGHT_SERVERS, "tiles_per_server": tiles,
        "tile_rows": _rows(tiles), "wavelengths_per_tile": 16, "wavelength_bandwidth": "18.75 GB/s",
        "max_peers": rng.choice(PEERS), "fibers": rng.choice(FIBERS), "wavelengths_per_fiber": rng.choice(WAVELENGTHS),
        "alpha": "0.7 us", "reconfiguration": "3.7 us", "energy": "5 pJ/b",
    }  # fmt: skip


def _switches_above(racks: int, rng: random.Random) -> Fields:
    """Optical circuit switches between racks; a switch has a port of every rack, or of few racks several."""
    return {
        "kind": "switches", "ports": rng.choice(UPPER_PORTS), "radix": max(racks, LEAST_RADIX),
        "bandwidth": "100 GB/s", "alpha": "2 us", "reconfiguration": "10 ms", "energy": "10 pJ/b",
    }  # fmt: skip


def _rows(tiles: int) -> int:
    return 4 if tiles > 8 and tiles % 4 == 0 else 2 - tiles % 2


def _fat_tree(accelerators: int, rng: random.Random) -> Fields:
    pods, number = _racks(accelerators, POD_SERVERS * GPUS, GPUS)
    return {
        "kind": "fat_tree", "racks": pods, "servers": number // GPUS, "gpus_per_server": GPUS, **_nvlink(),
        "network_bandwidth": "50 GB/s", "network_alpha": "5 us", "network_energy": "20 pJ/b",
    }  # fmt: skip


def _ocs_rail(accelerators: int, rng: random.Random) -> Fields:
    """Rails join the servers of all pods: a port of each switch for each of them."""
    gpus = GPUS if accelerators <= RAIL_SERVERS * GPUS else LARGE_SERVER
    most = RAIL_SERVERS * LARGE_SERVER
    if accelerators > most:
        raise InputError(PLACE, "accelerators", f"rails join {most} at most; ask for no more than that")
    pods, number = _racks(accelerators, POD_SERVERS * gpus, gpus)
    return {
        "kind": "ocs_rail", "racks": pods, "servers": number // gpus, "gpus_per_server": gpus, **_nvlink(),
        "switches": 4, "ports": max(accelerators // gpus, 2), "port_bandwidth": "25 GB/s", "port_energy": "5 pJ/b",
        "alpha": "2 us", "reconfiguration": "25 ms",
    }  # fmt: skip


def _nvlink() -> Fields:
    return {"nvlink_bandwidth": "450 GB/s", "nvlink_alpha": "1 us", "nvlink_energy": "5 pJ/b"}


def _torus(accelerators: int, rng: random.Random) -> Fields:
    """Pods of cubes that optical switches join."""
    cubes = _servers(accelerators, CUBE)
    few, many = POD_CUBES
    is_many = cubes % few and (cubes % many == 0 or few < cubes < many)
    pods, number = _racks(accelerators, (min(cubes, many) if is_many else few) * CUBE, CUBE)
    ports = 136 if number <= POD_CUBES[0] * CUBE else 2 * POD_CUBES[-1]
    return {
        "kind": "torus", "racks": pods, "servers": number // CUBE, "sides": [4, 4, 4], "link_bandwidth": "50 GB/s",
        "alpha": "1 us", "link_energy": "5 pJ/b",
        "switches": {"ports": ports, "energy": "5 pJ/b", "reconfiguration": "25 ms"},
    }  # fmt: skip


def _sipac(accelerators: int, rng: random.Random) -> Fields:
    server = RADIX**DIGITS
    pods, number = _racks(accelerators, SIPAC_SERVERS * server, server)
    return {
        "kind": "sipac", "racks": pods, "servers": number // server, "radix": RADIX, "digits": DIGITS,
        "bandwidth": "300 GB/s", "alpha": "0.7 us", "energy": "5 pJ/b",
    }  # fmt: skip


def _sipam(accelerators: int, rng: random.Random) -> Fields:
    zones, number = _racks(accelerators, POOL_SERVERS * POOL_ACCELERATORS, POOL_ACCELERATORS)
    return pool_fabric(zones, number // POOL_ACCELERATORS)


def _racks(accelerators: int, rack: int, grain: int) -> tuple[int, int]:
    """Racks, and accelerators of each: one rack of whole servers, or several full ones."""
    if accelerators <= rack:
        return 1, _servers(accelerators, grain) * grain
    if accelerators % rack:
        below = accelerators // rack * rack
        remedy = f"give a multiple of {rack}, such as {below} or {below + rack}, or of {grain} up to {rack}"
        raise InputError(PLACE, "accelerators", f"{accelerators} is no number of full racks; {remedy}")
    return accelerators // rack, rack


def _servers(accelerators: int, grain: int) -> int:
    """Servers of so many accelerators each."""
    if accelerators < grain or accelerators % grain:
        below = accelerators // grain * grain
        near = f"{below} or {below + grain}" if below else f"{grain}"
        raise InputError(PLACE, "accelerators", f"{accelerators} is no multiple of {grain}; give {near}")
    return accelerators // grain


MOST = {"lightpath": 64, "sipac": RADIX**DIGITS, "sipam": 64}
"""accelerators of the largest random job by kind, which one rack has, else 128"""
MADE: Mapping[str, Callable[[int, random.Random], Fields]] = {
    "lightpath": _lightpath,
    "fat_tree": _fat_tree,
    "ocs_rail": _ocs_rail,
    "torus": _torus,
    "sipac": _sipac,
    "sipam": _sipam,
}
"""of the kinds that have racks of a usual size; the others have pods of servers of 8, as a new instance has them"""
