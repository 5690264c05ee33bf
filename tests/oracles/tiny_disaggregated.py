"""Random tiny instances in which most jobs serve from two pools."""

from random import Random
from typing import Any

from hypothesis import strategies as st

from planner.model.instance import Instance
from tests.oracles.tiny_instances import SMALL, Fields, drawn, fat_tree, lightpath, some_failures
from tests.oracles.tiny_pools import tiny_pool
from tests.oracles.tiny_slots import tiny_slots

NODE = {
    "devices": 2, "links": 4, "link_bandwidth": "25 GB/s", "alpha": "1 us", "arrangement": "ring",
    "node": {"dimm": "ddr4-2400-lrdimm-128gb", "dimms": 10, "groups": 2, "dimm_bandwidth": "25.6 GB/s"},
}  # fmt: skip
RINGS = {
    "kind": "memory_ring", "node": NODE, "link_energy": "10 pJ/b", "memory_latency": "1 us",
    "memory_energy": "20 pJ/b", "network_bandwidth": "50 GB/s", "network_alpha": "5 us", "network_energy": "20 pJ/b",
}  # fmt: skip


def tiny_disaggregated(seed: int) -> Instance:
    """The instance of a seed, valid at any seed."""
    rng = Random(f"pools-{seed}")
    servers, each = rng.choice(((2, 2), (2, 2), (2, 3), (3, 2)))
    fabric = fat_tree(rng) if rng.random() < 0.2 else lightpath(rng)
    size = "gpus_per_server" if fabric["kind"] == "fat_tree" else "tiles_per_server"
    fabric |= {"racks": 1, "servers": servers, size: each}
    if fabric["kind"] == "lightpath":
        fabric |= {"tile_rows": rng.choice((1, each)), "fibers": rng.choice((1, 1, 2)), "max_peers": rng.randint(1, 4)}
    return drawn(rng, f"pools-{seed}", fabric, some_failures, _serve_from_pools)


def _serve_from_pools(rng: Random, jobs: list[Fields], per_server: int, largest: int) -> None:
    for job in jobs:
        if largest >= 2 and rng.random() < 0.75:
            job["workload"] = {
                "kind": "transformer_inference", "model": SMALL, "concurrency": rng.choice((2, 8, 64)),
                "input_tokens": rng.choice((64, 4096)), "output_tokens": rng.choice((2, 50)), "disaggregated": True,
            }  # fmt: skip
            if rng.random() < 0.3:
                job["workload"]["prefill_accelerators"] = rng.choice((1, 2, [1, 2, 4]))
            job["accelerators"] = sorted({rng.randint(2, largest), rng.randint(2, largest)})
            job.pop("constraints", None)


tiny_disaggregateds = st.integers(min_value=0, max_value=2**32 - 1).map(tiny_disaggregated)


def disaggregated_slots(seed: int) -> Instance:
    """The same on a torus, a SiPAC or rails, as `tiny_slots` draws them."""
    return _disaggregated(tiny_slots(seed), seed)


def disaggregated_pool(seed: int) -> Instance:
    """The same where accelerators share a pool of memory, as `tiny_pool` draws it."""
    return _disaggregated(tiny_pool(seed, objectives=["value"]), seed)


def disaggregated_rings(seed: int) -> Instance:
    """The same in two or three nodes whose devices lie on rings with memory nodes."""
    rng = Random(seed)
    cluster: Fields = {"device": "h100-sxm", "fabric": RINGS | {"servers": rng.choice((2, 3))}}
    cluster["health"] = {"failed_tiles": rng.choice(([], [], ["s1.d0"]))}
    job = {"workload": {"kind": "transformer_training", "model": SMALL, "global_batch": 4, "sequence": 64}}
    jobs = [job | {"name": f"j{i}", "accelerators": [1, 2], "weight": rng.choice((1, 3))} for i in range(2)]
    data = {"schema_version": 2, "name": f"rings-{seed}", "cluster": cluster, "jobs": jobs}
    return _disaggregated(Instance.parse(data, data["name"]), seed)


def _disaggregated(instance: Instance, seed: int) -> Instance:
    """The jobs that have sizes for it, with two pools."""
    rng, most = Random(f"pools-{seed}"), instance.cluster.fabric.most_devices_of_a_job
    data: dict[str, Any] = instance.model_dump(mode="json", by_alias=True, exclude_none=True)
    _serve_from_pools(rng, data["jobs"], most, min(most, 6))
    return Instance.parse(data, f"{instance.name}-pools")
