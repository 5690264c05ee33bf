"""A plan file from what the enumeration chose."""

from collections.abc import Iterator, Sequence

from costmodel.fabrics import Lightpath
from costmodel.parallelism.configuration import Configuration
from planner.model.instance import Instance
from planner.model.job import Resident
from planner.model.plan import Assignment, Circuit, HeldCircuits, Plan
from tests.oracles.choices import Choice, source_of
from tests.oracles.circuits import required_circuits
from tests.oracles.light_paths import Light, LightPaths
from tests.oracles.placement import Placed


def written_plan(instance: Instance, chosen: Sequence[Choice], placed: Placed) -> Plan:
    """The plan by name, with all its circuits and the objectives that it reaches."""
    totals = {name: sum(getattr(choice, name) for choice in chosen) for name in ("value", "moves", "energy")} | {
        "fragmentation": placed.fragmentation
    }
    assignments = [
        _assignment(instance, job, choice, placed) for job, choice in enumerate(chosen) if choice.mode is not None
    ]
    return Plan(
        instance=instance.name,
        assignments=tuple(assignments),
        objectives={objective.name: totals[objective.name] for objective in instance.objectives},
    )


def _assignment(instance: Instance, job: int, choice: Choice, placed: Placed) -> Assignment:
    fabric = instance.cluster.fabric
    assert choice.configuration is not None
    devices = tuple(fabric.device_name(*device) for device in placed.devices[job])
    circuits = tuple(_held_circuits(instance, job, choice, placed))
    return Assignment(
        job=instance.all_jobs[job].name,
        configuration=choice.configuration,
        devices=devices,
        circuits=circuits,
        is_moved=job < len(instance.residents)
        and not _is_current(instance.residents[job], choice.configuration, devices, circuits),
        value=choice.value,
        speed=choice.speed,
        step_s=choice.step_s,
        energy_per_work=choice.energy_per_work,
        power_w=choice.power_w,
    )


def _is_current(
    resident: Resident, configuration: Configuration, devices: tuple[str, ...], circuits: tuple[HeldCircuits, ...]
) -> bool:
    """Whether nothing changes, the order of circuits apart."""
    sets = [[(held.dimension, frozenset(held.circuits)) for held in each] for each in (circuits, resident.circuits)]
    return (devices, configuration) == (resident.devices, resident.configuration) and sets[0] == sets[1]


def _held_circuits(instance: Instance, job: int, choice: Choice, placed: Placed) -> Iterator[HeldCircuits]:
    fabric, devices = instance.cluster.fabric, placed.devices[job]
    if not isinstance(fabric, Lightpath):
        return
    assert choice.configuration is not None
    assert choice.mode is not None
    paths = LightPaths(instance.cluster)
    for number, held in enumerate(required_circuits(choice.configuration)):
        lights = [placed.routing[job][c][i] for c, i in source_of(held, choice.mode, number)]
        circuits = [
            _circuit(fabric, paths, devices[a], devices[b], light)
            for (a, b, _), light in zip(held[1], lights, strict=True)
        ]
        yield HeldCircuits(dimension=held[0], circuits=tuple(circuits))


def _circuit(
    fabric: Lightpath, paths: LightPaths, source: tuple[int, int], destination: tuple[int, int], light: Light
) -> Circuit:
    wavelengths = [w for w in range(light.wavelengths.bit_length()) if light.wavelengths >> w & 1]
    return Circuit.model_validate(
        {
            "from": fabric.device_name(*source),
            "to": fabric.device_name(*destination),
            "wavelengths": wavelengths,
            "fibers": [fabric.fiber_name(*paths.fibers[number]) for number in light.route],
        }
    )
