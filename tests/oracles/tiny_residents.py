"""Jobs that run already on a tiny cluster, with legal circuits found by chance."""

from collections import Counter
from random import Random
from typing import Any

from costmodel.fabrics import FabricBase, Lightpath
from costmodel.parallelism.configuration import Configuration
from costmodel.pricing.candidates import enumerate_candidates
from planner.model.cluster import Cluster
from planner.model.job import Job
from tests.oracles.circuits import required_circuits
from tests.oracles.light_paths import Device, Light, LightPaths

Fields = dict[str, Any]
NUM_TRIES = 40


def residents(rng: Random, cluster: Fields, jobs: list[Fields]) -> list[Fields]:
    """Those of the jobs that could be started one after the other on the intact cluster."""
    parsed = Cluster.model_validate(cluster)
    fabric = parsed.fabric
    paths = LightPaths(parsed) if fabric.has_circuits else None
    servers, slots = range(fabric.num_servers), range(fabric.devices_per_server)
    free = [(server, slot) for server in servers for slot in slots]
    lit = 0
    started = []
    for fields in jobs:
        for _ in range(NUM_TRIES):
            found = _start(rng, parsed, paths, Job.model_validate(fields), free, lit)
            if found is not None and _has_modules(fabric, [*started, found[0]]):
                resident, devices, light = found
                free = [device for device in free if device not in devices]
                lit |= light
                extra = {"movable": rng.random() < 0.8, "move_cost": rng.choice((0.0, 1.0, 1.0, 2.5))}
                started.append(fields | resident | extra)
                break
    return started


def _has_modules(fabric: FabricBase, running: list[Fields]) -> bool:
    """Whether the pools of servers have what these jobs hold of them, where there are pools."""
    memory = fabric.memory if isinstance(fabric, Lightpath) else None
    if memory is None or not memory.shared:
        return True
    held = Counter[int]()
    for fields in running:
        for name in fields["devices"]:
            held[fabric.parse_device(name)[0]] += fields["configuration"]["memory_units"] or 0
    return max(held.values()) <= memory.units


def _start(
    rng: Random, cluster: Cluster, paths: LightPaths | None, job: Job, free: list[Device], lit: int
) -> tuple[Fields, list[Device], int] | None:
    """A random configuration on random devices, and the light that it adds."""
    fabric = cluster.fabric
    kept = job.constraints if rng.random() < 0.8 else type(job.constraints)()
    listed = enumerate_candidates(
        job.workload,
        [size for size in job.sizes if size <= fabric.most_devices_of_a_job],
        cluster.device,
        fabric,
        one_server=kept.one_server,
        per_server=job.constraints.per_server,
        collective=kept.collective,
    )
    if not len(listed):
        return None
    configuration = listed.configuration(rng.randrange(len(listed)))
    if configuration.num_devices > len(free):
        return None
    devices = rng.sample(free, configuration.num_devices)
    if not _keeps_layout(cluster, configuration, devices, job.constraints.per_server):
        return None
    lights = [] if paths is None else _lights(rng, paths, configuration, devices, lit)
    if lights is None:
        return None
    circuits = [] if paths is None else _written(paths, configuration, devices, lights)
    added = 0
    for light in (light for held in lights for light in held):
        added |= light.shared
    names = [fabric.device_name(*device) for device in devices]
    fields = {"devices": names, "configuration": configuration.model_dump(), "circuits": circuits}
    return fields, devices, added


def _keeps_layout(
    cluster: Cluster, configuration: Configuration, devices: list[Device], per_server: int | None
) -> bool:
    block, fabric = configuration.block, cluster.fabric
    if per_server is not None and set(Counter(server for server, _ in devices).values()) != {per_server}:
        return False
    if not fabric.links_racks and len({fabric.rack_of(server) for server, _ in devices}) > 1:
        return False
    firsts = range(0, len(devices), block)
    return all(len({server for server, _ in devices[i : i + block]}) == 1 for i in firsts)


def _lights(
    rng: Random, paths: LightPaths, configuration: Configuration, devices: list[Device], lit: int
) -> list[list[Light]] | None:
    """Light of each circuit, chosen at random one after the other; None where a circuit finds none."""
    held = []
    for _, circuits in required_circuits(configuration):
        used, lights = 0, []
        for a, b, width in circuits:
            domain = paths.domain((devices[a], devices[b], width))
            ways = [light for light in domain if not (light.own & used or light.shared & lit)]
            if not ways:
                return None
            lights.append(rng.choice(ways))
            used |= lights[-1].own
        held.append(lights)
    return held


def _written(
    paths: LightPaths, configuration: Configuration, devices: list[Device], lights: list[list[Light]]
) -> list[Fields]:
    fabric, written = paths.fabric, []
    for (dimension, circuits), held in zip(required_circuits(configuration), lights, strict=True):
        rows = [
            {
                "from": fabric.device_name(*devices[a]),
                "to": fabric.device_name(*devices[b]),
                "wavelengths": [w for w in range(fabric.wavelengths_per_tile) if light.wavelengths >> w & 1],
                "fibers": [fabric.fiber_name(*paths.fibers[number]) for number in light.route],
            }
            for (a, b, _), light in zip(circuits, held, strict=True)
        ]
        written.append({"dimension": dimension, "circuits": rows})
    return written
