"""Random instances on tiny fabrics of slices and rails."""

from random import Random
from typing import Any

from planner.model.instance import Instance
from tests.oracles.tiny_instances import SMALL

Fields = dict[str, Any]


def tiny_slots(seed: int) -> Instance:
    """The instance of a seed, valid at any seed."""
    rng = Random(seed)
    fabric = rng.choice((_torus, _torus, _sipac, _ocs_rail, _ocs_rail))(rng)
    cluster: Fields = {"device": "h100-sxm", "fabric": fabric}
    probe = _parse(cluster, [_job(rng, "probe", 1)], "probe").cluster.fabric
    jobs = [_job(rng, f"j{i}", probe.most_devices_of_a_job) for i in range(rng.choice((1, 2, 3, 3)))]
    if rng.random() < 0.5:
        names = [probe.device_name(s, d) for s in range(probe.num_servers) for d in range(probe.devices_per_server)]
        health: Fields = {
            "failed_tiles": rng.sample(names, rng.choice((0, 1))),
            "failed_ports": rng.sample(names, rng.choice((0, 1))),
        }
        switches = _switches(fabric)
        if switches:
            health["failed_switches"] = rng.sample(switches, rng.choice((0, 1, 2)) % (len(switches) + 1))
        cluster["health"] = health
    return _parse(cluster, jobs, f"slots-{seed}")


def _parse(cluster: Fields, jobs: list[Fields], name: str) -> Instance:
    data = {"schema_version": 2, "name": name, "cluster": cluster, "jobs": jobs, "objectives": ["value", "energy"]}
    return Instance.parse(data, name)


def _torus(rng: Random) -> Fields:
    sides = rng.choice(([2, 2, 2], [2, 2, 2], [3, 2, 2], [4, 2, 2]))
    fabric: Fields = {
        "kind": "torus", "racks": rng.choice((1, 1, 2)), "servers": 1, "sides": sides,
        "link_bandwidth": "50 GB/s", "alpha": "1 us", "link_energy": "10 pJ/b",
    }  # fmt: skip
    if rng.random() < 0.6:
        fabric |= {"racks": 1, "servers": rng.choice((1, 2))}
        fabric["switches"] = {"ports": 16, "energy": "1 pJ/b"}
    return fabric


def _sipac(rng: Random) -> Fields:
    radix, digits = rng.choice(((2, 2), (2, 3), (3, 2), (4, 1), (4, 2)))
    return {
        "kind": "sipac", "racks": 1, "servers": 1 if radix == 4 and digits == 2 else rng.choice((1, 2)),
        "radix": radix, "digits": digits, "bandwidth": "300 GB/s", "alpha": "1 us", "energy": "5 pJ/b",
    }  # fmt: skip


def _ocs_rail(rng: Random) -> Fields:
    return {
        "kind": "ocs_rail", "racks": 1, "servers": rng.choice((2, 3)), "gpus_per_server": rng.choice((1, 2, 3)),
        "nvlink_bandwidth": "300 GB/s", "nvlink_alpha": "2 us", "nvlink_energy": "2 pJ/b",
        "switches": rng.choice((1, 2, 3)), "ports": 8, "port_bandwidth": "25 GB/s", "alpha": "1 us",
        "reconfiguration": "10 ms", "port_energy": "10 pJ/b",
    }  # fmt: skip


def _switches(fabric: Fields) -> list[str]:
    if fabric["kind"] == "ocs_rail":
        return [f"q{q}#{i}" for q in range(fabric["gpus_per_server"]) for i in range(fabric["switches"])]
    if fabric.get("switches"):
        a, b, c = fabric["sides"]
        counts = {"x": b * c, "y": a * c, "z": a * b}
        return [f"{axis}{number}" for axis, count in counts.items() for number in range(count)]
    return []


def _job(rng: Random, name: str, largest: int) -> Fields:
    sizes = [size for size in (1, 2, 3, 4, 6, 8, 9, 16) if size <= largest]
    model = rng.choice((SMALL, "bert-large", "llama-3.1-8b"))
    workload: Fields = {
        "kind": "transformer_training", "model": model, "global_batch": rng.choice((4, 12, 16)), "sequence": 128,
        "micro_batch": rng.choice((1, 2)),
    }  # fmt: skip
    if rng.random() < 0.3:
        workload = {
            "kind": "transformer_inference", "model": model, "concurrency": rng.choice((4, 12)), "input_tokens": 64,
            "output_tokens": 64,
        }  # fmt: skip
    return {
        "name": name,
        "workload": workload,
        "accelerators": rng.sample(sizes, min(len(sizes), rng.choice((1, 2, 3)))),
        "weight": rng.choice((0.5, 1.0, 3.0)),
        "required": rng.random() < 0.15,
        "utility": rng.choice(("sqrt", "linear")),
        "constraints": {"one_server": rng.random() < 0.1},
    }
