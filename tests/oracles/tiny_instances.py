"""Random instances that are small enough to be enumerated, and cover what the rules distinguish."""

from collections.abc import Callable
from random import Random
from typing import Any

from hypothesis import strategies as st

from costmodel.fabrics import Lightpath
from planner.model.instance import Instance
from tests.oracles.tiny_residents import residents

Fields = dict[str, Any]

SMALL = {
    "layers": 6, "hidden": 768, "heads": 12, "kv_heads": 12, "head_dim": 64, "ffn": 3072, "vocabulary": 1024,
}  # fmt: skip
SIZES: tuple[dict[int, int] | None, ...] = (
    None, {1: 1, 2: 2, 3: 1}, {2: 1}, {2: 1, 4: 3}, {1: 1, 3: 2, 5: 1, 9: 4}, {3: 1, 6: 1},
)  # fmt: skip
ORDERS = (
    ("value", "energy", "moves", "fragmentation"),
    ("moves", "value", "energy", "fragmentation"),
    ("value", "fragmentation", "moves", "energy"),
    ("fragmentation", "value"),
    ("moves", "fragmentation", "value", "energy"),
    ("value", "fragmentation"),
    ("energy", "value"),
    ("value",),
)


def tiny_instance(seed: int) -> Instance:
    """The instance of a seed, valid at any seed."""
    rng = Random(seed)
    fabric = fat_tree(rng) if rng.random() < 0.06 else lightpath(rng)
    return drawn(rng, f"tiny-{seed}", fabric, some_failures)


def tiny_crossing(seed: int) -> Instance:
    """The instance of a seed in which circuits may cross third servers, or lasers and receivers have failed."""
    rng = Random(f"crossing-{seed}")
    fabric = lightpath(rng) | {"racks": 1}
    if rng.random() < 0.75:
        fabric |= _crossing(rng)
    return drawn(rng, f"crossing-{seed}", fabric, _dark_wavelengths)


def tiny_five(seed: int) -> Instance:
    """The instance of a seed in which five ranks reduce with few peers, so that radices exceed them."""
    rng = Random(f"five-{seed}")
    fabric = lightpath(rng) | {
        "racks": 1,
        "servers": 2,
        "tiles_per_server": 3,
        "tile_rows": rng.choice((1, 3)),
        "max_peers": rng.choice((1, 2, 2, 3)),
        "fibers": rng.choice((1, 2, 3)),
        "reconfiguration": "0.1 us",
    }
    five = _job(rng, "five", 3, 6) | {
        "workload": {
            "kind": "transformer_training", "model": SMALL, "global_batch": 10, "sequence": 32, "micro_batch": 1,
        },
        "accelerators": rng.choice((5, [2, 5])),
        "utility": rng.choice(("linear", "sqrt")),
        "constraints": {"collective": rng.choice((None, "radix", "exchange"))},
    }  # fmt: skip
    data: Fields = {
        "schema_version": 2,
        "name": f"five-{seed}",
        "cluster": {"device": "h100-sxm", "fabric": fabric},
        "jobs": [five, _job(rng, "other", 3, 3)],
    }
    return Instance.parse(data, data["name"])


def drawn(
    rng: Random,
    name: str,
    fabric: Fields,
    failures: Callable[[Random, Fields, list[Fields]], Fields],
    change: Callable[[Random, list[Fields], int, int], None] | None = None,
    device: str | Fields = "h100-sxm",
) -> Instance:
    """Jobs, some of them running, on a fabric with failures; `change` is told devices of a server and of the fabric."""
    cluster = {"device": device, "fabric": fabric}
    servers = fabric["servers"] * fabric.get("racks", 1)
    per_server = fabric.get("tiles_per_server") or fabric["gpus_per_server"]
    is_linked = fabric["kind"] == "fat_tree" or fabric.get("racks", 1) == 1
    largest = servers * per_server if is_linked else per_server
    num_jobs = rng.choice((1, 2, 2, 3, 3, 3))
    jobs = [_job(rng, f"j{i}", per_server, largest) for i in range(num_jobs)]
    if change is not None:
        change(rng, jobs, per_server, largest)
    num_running = rng.randint(0, num_jobs) if rng.random() < 0.4 else 0
    running = residents(rng, cluster, jobs[:num_running])
    names = {job["name"] for job in running}
    data: Fields = {
        "schema_version": 2,
        "name": name,
        "jobs": [job for job in jobs if job["name"] not in names],
        "residents": running,
        "size_distribution": rng.choice([sizes for sizes in SIZES if min(sizes or (1,)) <= 2 * per_server]),
    }
    if rng.random() < 0.5:
        data["objectives"] = _objectives(rng)
    data["cluster"] = cluster | {"health": failures(rng, cluster, running)}
    return Instance.parse(data, data["name"])


seeds = st.integers(min_value=0, max_value=2**32 - 1)
tiny_instances = seeds.map(tiny_instance)
tiny_crossings = seeds.map(tiny_crossing)


def lightpath(rng: Random) -> Fields:
    waveguides = rng.choice(("dedicated", "dedicated", "dedicated", "shared", "shared"))
    tiles = rng.choice((2, 3, 3, 3) if waveguides == "shared" else (1, 2, 2, 2, 3, 3))
    racks, servers = rng.choices(((1, 1), (1, 2), (2, 1)), (2, 17, 1))[0]
    wavelengths = rng.choice((2, 3, 4))
    fabric: Fields = {
        "kind": "lightpath",
        "racks": racks,
        "servers": servers,
        "tiles_per_server": tiles,
        "tile_rows": rng.choice([rows for rows in (1, tiles) if tiles % rows == 0]),
        "wavelengths_per_tile": wavelengths,
        "wavelength_bandwidth": f"{rng.choice((10, 40, 100))} GB/s",
        "max_peers": rng.randint(1, 4),
        "waveguides": waveguides,
        "fibers": rng.choice((0, 1, 1, 1, 1, 1, 2, 2)),
        "wavelengths_per_fiber": rng.choice((1, 1, 1, 2, 2, 3, 4)),
        "alpha": "0.7 us",
        "reconfiguration": rng.choice(("3.7 us", "500 us")),
        "energy": "1.5 pJ/b",
    }
    if racks == 1 and servers == 2 and rng.random() < 0.35:
        fabric["fibers"] = [{"from": a, "to": b, "count": rng.randint(0, 2)} for a, b in (("s0", "s1"), ("s1", "s0"))][
            : rng.choice((1, 2, 2, 2))
        ]
    if rng.random() < 0.4:
        fabric |= {"loss_per_tile": "0.5 dB", "loss_per_fiber": rng.choice((0, "0.25 dB", "1 dB"))}
        fabric["loss_budget"] = rng.choice((None, 0, "0.5 dB", "0.5 dB", "1 dB", "1.25 dB", "1.75 dB", "5 dB"))
    return fabric


def _crossing(rng: Random) -> Fields:
    """Three or four servers of few tiles, in a ring, in a line, or with fibers at random; some light goes far."""
    servers, tiles = rng.choice(((3, 1), (3, 2), (4, 1), (4, 1)))
    pairs = [(a, b) for a in range(servers) for b in range(servers) if a != b]
    near = [(a, b) for a, b in pairs if abs(a - b) == 1]
    chosen = rng.choice(
        (near, near, [*near, (0, servers - 1), (servers - 1, 0)], pairs, rng.sample(pairs, len(pairs) - 2))
    )
    counts = {pair: rng.choice((1, 1, 1, 2)) for pair in dict.fromkeys(chosen)}
    return {
        "servers": servers,
        "tiles_per_server": tiles,
        "tile_rows": rng.choice((1, tiles)),
        "transit": rng.choice((0, 1, 1, 1, 2)),
        "wavelengths_per_tile": rng.choice((2, 2, 3)),
        "fibers": [{"from": f"s{a}", "to": f"s{b}", "count": count} for (a, b), count in counts.items()],
    }


def fat_tree(rng: Random) -> Fields:
    racks, servers = rng.choice(((1, 1), (1, 2), (1, 2), (2, 1)))
    return {
        "kind": "fat_tree",
        "racks": racks,
        "servers": servers,
        "gpus_per_server": rng.randint(1, 3),
        "nvlink_bandwidth": "100 GB/s",
        "nvlink_alpha": "2 us",
        "nvlink_energy": "2 pJ/b",
        "network_bandwidth": "10 GB/s",
        "network_alpha": "8 us",
        "network_energy": "20 pJ/b",
    }


def _workload(rng: Random) -> Fields:
    if rng.random() < 0.35:
        return {
            "kind": "transformer_inference",
            "model": rng.choice((SMALL, "bert-large", "llama-3.1-8b")),
            "concurrency": rng.choice((2, 6, 12)),
            "input_tokens": rng.choice((64, 1000)),
            "output_tokens": rng.choice((16, 200)),
        }
    model = rng.choice((SMALL, SMALL, SMALL | {"layers": 5, "heads": 16, "kv_heads": 16}, "bert-large", "llama-3.1-8b"))
    return {
        "kind": "transformer_training",
        "model": model,
        "global_batch": rng.choice((4, 12)),
        "sequence": rng.choice((32, 128, 512)),
        "micro_batch": rng.choice((1, 2)),
    }


def _sizes(rng: Random, per_server: int, largest: int) -> int | list[int] | Fields:
    """Some sizes; often only those that no server alone can hold."""
    sizes = [size for size in (1, 2, 2, 3, 4, 4, 6) if size <= largest]
    least = rng.choice(sizes + 2 * [size for size in sizes if size > per_server])
    form = rng.random()
    if form < 0.6:
        return least
    if form < 0.7:
        return rng.sample(range(1, largest + 1), rng.randint(1, min(2, largest)))
    return {"min": least, "max": min(6, least + rng.randint(0, 3))}


def _job(rng: Random, name: str, per_server: int, largest: int) -> Fields:
    job: Fields = {
        "name": name,
        "workload": _workload(rng),
        "accelerators": _sizes(rng, per_server, largest),
        "weight": rng.choice((0.5, 1.0, 1.0, 3.0)),
        "required": rng.random() < 0.15,
        "utility": rng.choice(("sqrt", "linear", "step")),
        "step_at": rng.choice((0.3, 0.5, 0.8, 1.0)),
    }
    if rng.random() < 0.35:
        job["constraints"] = {
            "one_server": rng.random() < 0.25,
            "collective": rng.choice((None, "ring", "ring", "radix", "exchange")),
        }
    return job


def _objectives(rng: Random) -> list[Fields]:
    return [{"name": name, "tolerance": rng.choice((0.0, 0.0, "2 %", 0.1, 0.3))} for name in rng.choice(ORDERS)]


def some_failures(rng: Random, cluster: Fields, running: list[Fields]) -> Fields:
    """Failures, in a third of the instances, more often where jobs run; those become movable."""
    if rng.random() > (0.5 if running else 0.3):
        return {}
    instance_fabric = Instance.parse(_probe(cluster)).cluster.fabric
    servers, slots = range(instance_fabric.num_servers), range(instance_fabric.devices_per_server)
    devices = [instance_fabric.device_name(server, slot) for server in servers for slot in slots]
    occupied = [device for resident in running for device in resident["devices"]] or devices
    tiles = rng.sample(rng.choice((devices, occupied)), rng.choice((0, 1)))
    ports = rng.sample(rng.choice((devices, occupied)), rng.choice((0, 0, 1)))
    health: Fields = {"failed_tiles": tiles, "failed_ports": ports}
    fibers: list[Fields] = []
    if isinstance(instance_fabric, Lightpath):
        name = instance_fabric.server_name
        for a, b in ((a, b) for a in servers for b in servers):
            for index in range(instance_fabric.num_fibers(a, b)):
                if rng.random() < 0.3:
                    fibers.append({"from": name(a), "to": name(b), "index": index})
    for resident in running:
        resident["movable"] = True
    return health | {"failed_fibers": fibers}


def _dark_wavelengths(rng: Random, cluster: Fields, running: list[Fields]) -> Fields:
    """Failures as elsewhere, and some lasers and receivers, more often of devices that jobs hold."""
    health = some_failures(rng, cluster, running)
    fabric = cluster["fabric"]
    devices = [f"s{s}.t{t}" for s in range(fabric["servers"]) for t in range(fabric["tiles_per_server"])]
    occupied = [device for resident in running for device in resident["devices"]] or devices
    for key in ("failed_lasers", "failed_receivers"):
        tiles = rng.choices(rng.choice((devices, occupied)), k=rng.choice((0, 0, 0, 1, 2)))
        health[key] = [{"tile": tile, "wavelength": rng.randrange(fabric["wavelengths_per_tile"])} for tile in tiles]
    if health["failed_lasers"] or health["failed_receivers"]:
        for resident in running:
            resident["movable"] = True
    return health


def _probe(cluster: Fields) -> Fields:
    """The least instance on a cluster."""
    return {
        "schema_version": 2,
        "name": "probe",
        "cluster": cluster,
        "jobs": [{"name": "j", "workload": {"kind": "transformer_training", "model": SMALL, "global_batch": 1,
                                            "sequence": 1}, "accelerators": 1}],
    }  # fmt: skip
