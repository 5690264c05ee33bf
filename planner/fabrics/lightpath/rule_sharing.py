"""Light of several circuits on one fiber or waveguide."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from costmodel.fabrics import Lightpath
from planner.checks.names import admitted
from planner.fabrics.lightpath.rule_fibers import Fiber
from planner.fabrics.lightpath.rule_light import Boundary, circuits_of, trace
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan
from planner.model.violation import Violation

Ray = tuple[Fiber | Boundary, int]
"""one wavelength on one fiber (server, server, index) or boundary (server, slot, slot), under its own kind"""


def check_sharing(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """A wavelength of a fiber or shared waveguide: one circuit per configuration, one job in all."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Lightpath)
    jobs: defaultdict[tuple[str, Ray], set[str]] = defaultdict(set)
    for job, assignment in admitted(instance, plan):
        for (number, kind, ray), count in _rays(fabric, assignment).items():
            jobs[kind, ray].add(job.name)
            if count > 1:
                where = _named(fabric, kind, ray)
                message = f"{job.name}: configuration {number} has {count} circuits on {where}"
                yield Violation("sharing", where, message, count - 1.0)
    for (kind, ray), names in jobs.items():
        if len(names) > 1:
            where = _named(fabric, kind, ray)
            yield Violation("sharing", where, f"{', '.join(sorted(names))} share {where}", len(names) - 1.0)


def _rays(fabric: Lightpath, assignment: Assignment) -> Counter[tuple[int, str, Ray]]:
    """Circuits of a job on each wavelength of each part that is not dedicated, by configuration."""
    rays: Counter[tuple[int, str, Ray]] = Counter()
    for number, _, circuit in circuits_of(assignment):
        is_alone = not circuit.fibers and fabric.waveguides != "shared"
        path = None if is_alone else trace(fabric, circuit)
        if path is None:
            continue
        parts: list[tuple[str, Fiber | Boundary]] = [("fiber", fiber) for fiber in path.fibers]
        if fabric.waveguides == "shared":
            parts += [("waveguide", boundary) for boundary in path.boundaries]
        rays.update((number, kind, (part, w)) for kind, part in parts for w in set(circuit.wavelengths))
    return rays


def _named(fabric: Lightpath, kind: str, ray: Ray) -> str:
    (a, b, c), wavelength = ray
    if kind == "fiber":
        part = fabric.fiber_name(a, b, c)
    else:
        part = f"{fabric.device_name(a, b)} to {fabric.device_name(a, c)}"
    return f"wavelength {wavelength} of {kind} {part}"
