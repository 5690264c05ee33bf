"""Random pools of accelerators and memory units that are small enough to be enumerated."""

from random import Random
from typing import Any

from planner.model.instance import Instance

Fields = dict[str, Any]
SMALL = {
    "layers": 6, "hidden": 768, "heads": 12, "kv_heads": 12, "head_dim": 64, "ffn": 3072, "vocabulary": 1024,
}  # fmt: skip


def tiny_pool(seed: int, *, objectives: list[str] | None = None, collectives: str = "families") -> Instance:
    """The pool of a seed: 1 to 6 servers of 2 to 4 accelerators, in half of them with failed parts."""
    rng = Random(seed)
    fabric = pool_fabric(rng) | {"collectives": collectives}
    most = fabric["accelerators_per_server"] * fabric["servers"]
    data: Fields = {
        "schema_version": 2,
        "name": f"tiny-pool-{seed}",
        "cluster": {"device": "h100-sxm", "fabric": fabric},
        "jobs": [_job(rng, f"j{number}", most) for number in range(rng.choice((1, 2, 3, 3, 4)))],
    }
    if objectives is not None:
        data["objectives"] = objectives
    if rng.random() < 0.5:
        data["cluster"]["health"] = pool_health(rng, fabric)
    return Instance.parse(data, data["name"])


def tiny_tiered_pool(seed: int, *, objectives: list[str] | None = None) -> Instance:
    """The same where accelerators have a little memory of their own, and jobs may offload some of what they train."""
    rng = Random(seed)
    data = tiny_pool(seed, objectives=objectives).model_dump(mode="json", by_alias=True, exclude_none=True)
    cluster = data["cluster"]
    cluster["device"] |= {"name": "small", "capacity": rng.choice((0.8e9, 1.2e9, 3e9))}
    cluster["fabric"]["local_memory"] = True
    cluster["fabric"]["memory_unit"]["stack"]["bandwidth"] = rng.choice((5e9, 50e9, 600e9))
    for job in data["jobs"]:
        if job["workload"]["kind"] == "transformer_training":
            job["workload"]["offload"] = ["none", *rng.sample(("optimizer", "activations", "activations+optimizer"), 2)]
    return Instance.parse(data, f"{data['name']}-tiered")


def phased_pool(seed: int) -> Instance:
    """Pools in which a setting of its own for prefill often pays: few I/Os, large models, long prompts and answers."""
    rng = Random(seed)
    spine, local, carried = rng.choice((0, 0, 1, 2)), rng.choice((5, 6, 6)), rng.choice((1, 1, 1, 2))
    io = {"name": "io", "width_mm": 8, "bandwidth": f"{1000 * carried} GB/s", "source": "test"}
    fabric = pool_fabric(rng) | {
        "racks": 1,
        "servers": rng.choice((1, 1, 2)),
        "accelerators_per_server": 4,
        "shoreline": {"name": "edge", "perimeter_mm": 8 * (local + spine), "io": io, "source": "test"},
        "trays_per_server": 1,
        "units_per_tray": rng.choice((20, 24, 40)),
        "tray_ports": rng.choice((3, 4, 4)),
        "spine_rails": spine,
        "uplinks": 2 if spine else 0,
        "units_per_port": carried,
        "memory_grid": [*range(1, local * carried + 1)],
    }
    fabric["memory_unit"]["stack"] |= {"capacity": rng.choice(("16 GB", "40 GB")), "bandwidth": "1 TB/s"}
    data = {
        "schema_version": 2,
        "name": f"phased-pool-{seed}",
        "cluster": {"device": "h100-sxm", "fabric": fabric},
        "objectives": ["value"],
        "jobs": [_served(rng, f"j{number}") for number in range(rng.choice((1, 1, 2)))],
    }
    if rng.random() < 0.4:
        data["cluster"]["health"] = pool_health(rng, fabric)
    return Instance.parse(data, data["name"])


def phased_tiered_pool(seed: int) -> Instance:
    """The same where accelerators have memory of their own, and services may, or must, keep shares of what they hold in
    units."""
    rng = Random(f"phased-tier-{seed}")
    data = phased_pool(seed).model_dump(mode="json", by_alias=True, exclude_none=True)
    fabric, rate = data["cluster"]["fabric"], rng.choice((100e9, 200e9, 400e9))
    fabric["local_memory"] = True
    fabric["shoreline"]["io"]["bandwidth"] = rate
    fabric["memory_unit"]["stack"]["bandwidth"] = rate / fabric["units_per_port"]
    fabric["memory_unit"]["stack"]["capacity"] = rng.choice((8e9, 16e9))
    for job in data["jobs"]:
        shares = rng.sample(("weights 50 %", "cache 50 %", "cache 100 %", "weights 25 %+cache 50 %"), 2)
        job["workload"] |= {
            "offload": [*rng.choice(([], ["none"])), *shares], "concurrency": rng.choice((8, 32, 64)),
        }  # fmt: skip
    return Instance.parse(data, f"{data['name']}-tier")


def evaluated_pool(seed: int) -> Instance:
    """One server of eight I/Os whose jobs train, and evaluate now and then; with few units or ports, or enough."""
    rng = Random(f"evaluated-{seed}")
    data = phased_pool(1).model_dump(mode="json", by_alias=True, exclude_none=True)
    fabric, rate = data["cluster"]["fabric"], rng.choice((300e9, 600e9))
    fabric |= {"servers": 1, "spine_rails": 0, "uplinks": 0, "units_per_port": 1, "memory_grid": [*range(1, 9)]}
    fabric |= {"units_per_tray": rng.choice((26, 32)), "tray_ports": rng.choice((3, 4))}
    fabric["shoreline"]["perimeter_mm"], fabric["shoreline"]["io"]["bandwidth"] = 64, rate
    fabric["memory_unit"]["stack"] |= {"bandwidth": rate, "capacity": rng.choice((8e9, 10e9, 14e9))}
    data["cluster"].pop("health", None)
    training = {
        "kind": "transformer_training", "model": "llama-3.1-8b", "global_batch": rng.choice((8, 16)),
        "sequence": 1024, "micro_batch": rng.choice((1, 2, 4)), "recompute": rng.choice(("none", "full")),
        "evaluation": {"every": 10, "batches": rng.choice((20, 50))},
    }  # fmt: skip
    data["jobs"] = [{"name": "j0", "workload": training, "accelerators": [2, 3, 4], "utility": "linear"}]
    return Instance.parse(data, f"evaluated-pool-{seed}")


def evaluated_tiered_pool(seed: int) -> Instance:
    """The same where accelerators have memory of their own, and keep weights and what they train with in units."""
    rng = Random(f"evaluated-tier-{seed}")
    data = evaluated_pool(seed).model_dump(mode="json", by_alias=True, exclude_none=True)
    fabric, rate = data["cluster"]["fabric"], rng.choice((100e9, 200e9, 400e9))
    fabric["local_memory"] = True
    fabric["shoreline"]["io"]["bandwidth"] = rate
    fabric["memory_unit"]["stack"] |= {"bandwidth": rate, "capacity": rng.choice((16e9, 32e9, 64e9))}
    for job in data["jobs"]:
        shares = rng.sample(("optimizer", "activations+optimizer", "weights+activations+optimizer"), 2)
        job["workload"]["offload"] = [*rng.choice(([], ["none"])), *shares]
    return Instance.parse(data, f"{data['name']}-tier")


def _served(rng: Random, name: str) -> Fields:
    workload = {
        "kind": "transformer_inference",
        "model": rng.choice(("qwen3-32b", "llama-3.1-70b")),
        "concurrency": rng.choice((8, 16, 32)),
        "input_tokens": rng.choice((4000, 16000)),
        "output_tokens": rng.choice((100, 1000)),
    }
    sizes = rng.choice(([4], [2, 4]))
    return {
        "name": name,
        "workload": workload,
        "accelerators": sizes,
        "weight": rng.choice((1, 2)),
        "utility": "linear",
    }


def pool_fabric(rng: Random) -> Fields:
    """Racks of a few servers with few units, ports and uplinks."""
    accelerators, spine = rng.choice((2, 3, 4)), rng.choice((0, 1, 2, 2))
    io = {"name": "io", "width_mm": 8, "bandwidth": "2 TB/s", "source": "test"}
    stack = {
        "kind": "memory_tier", "name": "stack", "capacity": f"{rng.choice((4, 16, 40))} GB", "bandwidth": "600 GB/s",
        "latency": "300 ns", "energy": "5 pJ/b", "source": "test",
    }  # fmt: skip
    unit = {"name": "unit", "stack": stack, "link_latency": "60 ns", "link_energy": "2 pJ/b", "source": "test"}
    fabric: Fields = {
        "kind": "sipam",
        "racks": rng.choice((1, 1, 1, 2)),
        "servers": rng.choice((1, 2, 2, 3)),
        "accelerators_per_server": accelerators,
        "shoreline": {"name": "edge", "perimeter_mm": 8 * (rng.choice((1, 2, 3)) + spine), "io": io, "source": "test"},
        "memory_unit": unit,
        "trays_per_server": rng.choice((1, 2, 3)),
        "units_per_tray": rng.choice((2, 3, 4, 6)),
        "tray_ports": rng.choice((1, 1, 2, accelerators)),
        "spine_rails": spine,
        "uplinks": rng.choice((1, 2, 4)) if spine else 0,
        "switch_ports": 64,
        "alpha": "0.7 us",
        "reconfiguration": "25 us",
        "energy": "2 pJ/b",
    }
    if rng.random() < 0.3:
        fabric["units_per_port"] = rng.choice((1, 2))
    return fabric


def _job(rng: Random, name: str, most: int) -> Fields:
    if rng.random() < 0.4:
        workload: Fields = {
            "kind": "transformer_inference",
            "model": rng.choice((SMALL, "bert-large", "llama-3.1-8b")),
            "concurrency": rng.choice((2, 6, 12)),
            "input_tokens": rng.choice((64, 1000)),
            "output_tokens": rng.choice((16, 200)),
        }
    else:
        workload = {
            "kind": "transformer_training",
            "model": rng.choice((SMALL, SMALL, "bert-large")),
            "global_batch": rng.choice((4, 12)),
            "sequence": rng.choice((32, 128, 512)),
            "micro_batch": rng.choice((1, 2)),
        }
    return {
        "name": name,
        "workload": workload,
        "accelerators": rng.sample(range(1, most + 1), min(most, rng.choice((1, 1, 2, 3)))),
        "weight": rng.choice((0.5, 1, 1, 3)),
        "required": rng.random() < 0.1,
        "utility": rng.choice(("sqrt", "linear", "step")),
        "step_at": rng.choice((0.3, 0.5, 0.8)),
    }


def pool_health(rng: Random, fabric: Fields) -> Fields:
    """Each part has failed with a small probability."""
    racks, servers = range(fabric["racks"]), range(fabric["servers"])
    names = [f"s{s}" if len(racks) == 1 else f"r{r}.s{s}" for r in racks for s in servers]
    rails = range(fabric["shoreline"]["perimeter_mm"] // 8)
    local = rails[: len(rails) - fabric["spine_rails"]]
    spine, trays = rails[len(local) :], range(fabric["trays_per_server"])
    units, ports = range(fabric["units_per_tray"]), range(fabric["tray_ports"])
    accelerators = [f"{s}.a{a}" for s in names for a in range(fabric["accelerators_per_server"])]
    zones = [f"q{q}" if len(racks) == 1 else f"r{r}.q{q}" for r in racks for q in spine]

    def some(parts: list[str], share: float) -> list[str]:
        return [part for part in parts if rng.random() < share]

    return {
        "failed_tiles": some(accelerators, 0.08),
        "failed_ports": some(accelerators, 0.05),
        "failed_memory_units": some([f"{s}.m{t}.u{u}" for s in names for t in trays for u in units], 0.1),
        "failed_tray_ports": some(
            [f"{s}.m{t}.q{q}#{p}" for s in names for t in trays for q in local for p in ports], 0.1
        ),
        "failed_uplinks": some([f"{s}.q{q}#{i}" for s in names for q in spine for i in range(fabric["uplinks"])], 0.1),
        "failed_switches": some([f"{s}.q{q}" for s in names for q in rails], 0.05) + some(zones, 0.05),
    }


def tiny_serving_pool(seed: int) -> Instance:
    """The same where jobs serve, and may keep shares of their weights and caches in units."""
    rng = Random(f"serving-{seed}")
    data = tiny_tiered_pool(seed, objectives=["value"]).model_dump(mode="json", by_alias=True, exclude_none=True)
    data["cluster"]["device"]["capacity"] = rng.choice((1.6e9, 2.5e9, 4e9))
    for job in data["jobs"]:
        choices = rng.sample(("weights", "cache", "cache 50 %", "weights 25 %+cache"), 2)
        job["workload"] = {
            "kind": "transformer_inference", "model": SMALL, "concurrency": rng.choice((64, 512)),
            "input_tokens": rng.choice((500, 4000)), "output_tokens": rng.choice((20, 200)),
            "offload": ["none", *choices],
        }  # fmt: skip
    return Instance.parse(data, f"{data['name']}-serving")


def tiny_recommender_pool(seed: int) -> Instance:
    """The same where jobs are recommenders, and may keep shares of their tables in units."""
    rng = Random(f"recommenders-{seed}")
    data = tiny_tiered_pool(seed, objectives=["value"]).model_dump(mode="json", by_alias=True, exclude_none=True)
    data["cluster"]["device"]["capacity"] = rng.choice((0.6e9, 1.2e9))
    shape = {
        "dense_features": 8, "bottom": [32, 16], "dimension": 16, "top": [32, 1], "gather_efficiency": 0.5,
        "tables": [{"rows": rng.choice((2_000_000, 20_000_000)), "count": 2, "pooling": 4}],
    }  # fmt: skip
    for job in data["jobs"]:
        mode = rng.choice(("training", "inference"))
        choices = ["none", rng.choice(("tables", "tables 50 %"))]
        job["workload"] = {"kind": "dlrm", "mode": mode, "model": shape, "batch": 4800, "offload": choices}
    return Instance.parse(data, f"{data['name']}-recommenders")
