"""Random instances of three racks of two servers of two tiles, joined by packets, switches or fibers."""

from random import Random
from typing import Any

from planner.model.instance import Instance
from tests.oracles.tiny_instances import SMALL
from tests.oracles.tiny_pools import evaluated_pool, phased_pool, phased_tiered_pool, pool_fabric, pool_health

Fields = dict[str, Any]
RACKS = 3


def tiny_racks(seed: int, **changes: Any) -> Instance:
    """The instance of a seed; `changes` replace fields of the fabric."""
    rng = Random(f"racks-{seed}")
    fabric: Fields = {
        "kind": "lightpath",
        "racks": RACKS,
        "servers": 2,
        "tiles_per_server": 2,
        "wavelengths_per_tile": rng.choice((2, 4)),
        "wavelength_bandwidth": f"{rng.choice((10, 40))} GB/s",
        "max_peers": rng.choice((1, 2, 3)),
        "fibers": rng.choice((0, 1, 1, 2)),
        "wavelengths_per_fiber": rng.choice((1, 2, 4)),
        "alpha": "0.7 us",
        "reconfiguration": "3.7 us",
        "energy": "1.5 pJ/b",
        "upper": upper(rng),
    } | changes
    data: Fields = {
        "schema_version": 2,
        "name": f"racks-{seed}",
        "cluster": {"device": "h100-sxm", "fabric": fabric, "health": _failures(rng, fabric)},
        "jobs": [_job(rng, f"j{number}") for number in range(rng.choice((1, 2, 3)))],
        "objectives": ["value"],
    }
    return Instance.parse(data, data["name"])


def tiny_racks_of_slices(seed: int, **changes: Any) -> Instance:
    """The same with a torus or a SiPAC of four or eight accelerators in each rack; `changes` replace fields of the
    fabric."""
    rng = Random(f"slices-{seed}")
    torus = {
        "kind": "torus", "racks": RACKS, "servers": 1, "sides": [2, 2, 2], "link_bandwidth": "50 GB/s", "alpha": "1 us",
        "link_energy": "10 pJ/b",
    } | rng.choice(({}, {"switches": {"ports": 16, "energy": "1 pJ/b"}}))  # fmt: skip
    sipac = {
        "kind": "sipac", "racks": RACKS, "servers": rng.choice((1, 2)), "radix": 2, "digits": 2, "alpha": "1 us",
        "bandwidth": "300 GB/s", "energy": "5 pJ/b",
    }  # fmt: skip
    fabric = rng.choice((torus, sipac)) | {"upper": upper(rng)} | changes
    devices = [f"r{r}.s0.{'c' if fabric['kind'] == 'torus' else 'a'}{n}" for r in range(RACKS) for n in range(4)]
    health = {"failed_tiles": rng.sample(devices, rng.choice((0, 0, 1))), "failed_ports": rng.sample(devices, 1)}
    data: Fields = {
        "schema_version": 2,
        "name": f"slices-{seed}",
        "cluster": {"device": "h100-sxm", "fabric": fabric, "health": health if rng.random() < 0.4 else {}},
        "jobs": [_job(rng, f"j{number}") for number in range(rng.choice((1, 2, 3)))],
        "objectives": ["value"],
    }
    for job in data["jobs"]:
        job["constraints"] = {"one_server": job.get("constraints", {}).get("one_server", False)}
    return Instance.parse(data, data["name"])


def tiny_racks_of_pools(seed: int, **changes: Any) -> Instance:
    """The same with two or three racks of one or two servers of two accelerators, each server a pool; `changes` replace
    fields of the fabric."""
    rng = Random(f"pools-{seed}")
    size = {"racks": rng.choice((2, 2, RACKS)), "servers": rng.choice((1, 2, 2)), "accelerators_per_server": 2}
    fabric = pool_fabric(rng) | size | {"tray_ports": rng.choice((1, 2))}
    fabric |= {"upper": upper(rng, size["racks"])} | changes
    health = pool_health(rng, fabric) if rng.random() < 0.4 else {}
    data: Fields = {
        "schema_version": 2,
        "name": f"pools-{seed}",
        "cluster": {"device": "h100-sxm", "fabric": fabric, "health": health},
        "jobs": [_job(rng, f"j{number}") for number in range(rng.choice((1, 2, 2)))],
        "objectives": ["value"],
    }
    most = size["racks"] * size["servers"] * size["accelerators_per_server"]
    for job in data["jobs"]:
        if job["accelerators"] != {"min": 1, "max": 6}:
            sizes = job["accelerators"] if isinstance(job["accelerators"], list) else [job["accelerators"]]
            job["accelerators"] = [number for number in sizes if number <= most] or [most]
        else:
            job["accelerators"]["max"] = min(6, most)
    return Instance.parse(data, data["name"])


def tiny_racks_of_phases(seed: int) -> Instance:
    """Two racks of one pool of four accelerators each, whose jobs change between phases of their workload where that
    pays, and need both racks more often than not."""
    rng = Random(f"phases-{seed}")
    pool = (phased_pool, phased_tiered_pool, evaluated_pool)[seed % 3]
    data = pool(seed).model_dump(mode="json", by_alias=True, exclude_none=True)
    data["cluster"].pop("health", None)
    data["cluster"]["fabric"] |= {"racks": 2, "servers": 1, "accelerators_per_server": 4, "upper": upper(rng, 2)}
    for job in data["jobs"]:
        job |= {"accelerators": rng.choice(([8], [4, 8], [6, 8])), "required": False}
    return Instance.parse(data, f"phases-{seed}")


def upper(rng: Random, racks: int = RACKS) -> Fields:
    """A layer with few links."""
    common = {"alpha": f"{rng.choice((1, 20))} us", "energy": "10 pJ/b"}
    kind = rng.choice(("packets", "switches", "fibers"))
    if kind == "packets":
        share = rng.choice((1, 2, 2, 3, 4))
        return common | {"kind": kind, "bandwidth": f"{rng.choice((5, 50))} GB/s", "oversubscription": share}
    if kind == "switches":
        return common | {
            "kind": kind, "ports": rng.choice((1, 2, 3)), "radix": rng.choice((3, 6, 12)),
            "bandwidth": f"{rng.choice((5, 50))} GB/s", "reconfiguration": "10 ms",
        }  # fmt: skip
    pairs = [(a, b) for a in range(racks) for b in range(racks) if a != b]
    bundles = [{"from": f"r{a}", "to": f"r{b}", "count": rng.choice((0, 1, 1, 2))} for a, b in pairs]
    return common | {
        "kind": kind, "fibers": rng.choice((1, 2, bundles, bundles)), "wavelengths_per_fiber": rng.choice((1, 2)),
        "wavelength_bandwidth": f"{rng.choice((5, 25))} GB/s",
    }  # fmt: skip


def _failures(rng: Random, fabric: Fields) -> Fields:
    if rng.random() < 0.6:
        return {}
    devices = [f"r{r}.s{s}.t{t}" for r in range(RACKS) for s in range(2) for t in range(2)]
    tiles, ports = rng.sample(devices, rng.choice((0, 1, 2))), rng.sample(devices, rng.choice((0, 1)))
    above = fabric["upper"] or {}
    if above.get("kind") == "switches":
        return {"failed_tiles": tiles, "failed_ports": ports, "failed_upper": rng.choice(([], ["u0"]))}
    if isinstance(above.get("fibers"), int):
        return {"failed_tiles": tiles, "failed_ports": ports, "failed_upper": rng.choice(([], ["r0>r1#0"]))}
    return {"failed_tiles": tiles, "failed_ports": ports}


def _job(rng: Random, name: str) -> Fields:
    training = {
        "kind": "transformer_training", "model": rng.choice((SMALL, SMALL, "bert-large")),
        "global_batch": rng.choice((6, 12)), "sequence": rng.choice((32, 512)), "micro_batch": 1,
    }  # fmt: skip
    serving = {
        "kind": "transformer_inference", "model": SMALL, "concurrency": 12, "input_tokens": 64, "output_tokens": 16,
    }  # fmt: skip
    job: Fields = {
        "name": name,
        "workload": training if rng.random() < 0.75 else serving,
        "accelerators": rng.choice((2, 4, 6, 6, 8, [3, 6], [4, 8, 12], {"min": 1, "max": 6}, 12)),
        "weight": rng.choice((0.5, 1.0, 3.0)),
        "utility": rng.choice(("sqrt", "linear")),
    }
    if rng.random() < 0.3:
        job["constraints"] = rng.choice(({"one_server": True}, {"collective": "ring"}, {"per_server": 2}))
        if job["constraints"].get("one_server"):
            job["accelerators"] = rng.choice((1, 2, [1, 2]))
    return job
