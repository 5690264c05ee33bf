"""Changes from one plan to another, played stage by stage; and the fewest pauses by trying every set of tenants."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from costmodel.fabrics import Lightpath
from planner.model.plan import Assignment
from planner.whatif.transition import Transition
from tests.oracles.light_paths import LightPaths

Holding = set[tuple[object, ...]]


def holding(paths: LightPaths, assignment: Assignment) -> Holding:
    """All that one tenant occupies: devices, and (fiber or boundary, wavelength)."""
    fabric = paths.fabric
    held: Holding = {("device", name) for name in assignment.devices}
    for circuit in (c for h in assignment.circuits for c in h.circuits):
        media: list[object] = list(circuit.fibers)
        if paths.is_shared:
            media += _crossed(paths, fabric, circuit.source, circuit.destination, circuit.fibers)
        held |= {(medium, w) for medium in media for w in circuit.wavelengths}
    return held


def _crossed(
    paths: LightPaths, fabric: Lightpath, source: str, destination: str, fibers: Sequence[str]
) -> list[object]:
    ends = fabric.parse_device(source), fabric.parse_device(destination)
    for route, boundaries in paths.between(*ends):
        if [fabric.fiber_name(*paths.fibers[number]) for number in route] == list(fibers):
            return list(boundaries)
    raise LookupError(f"no way from {source} to {destination} over {fibers}")


def play(paths: LightPaths, old: Iterable[Assignment], new: Iterable[Assignment], change: Transition) -> None:
    """Raise AssertionError where a stage takes what another tenant held before it, or the end is not the new plan."""
    after = {a.job: a for a in new}
    running = {a.job: a for a in old}
    for stage in change.stages:
        held = {job: holding(paths, assignment) for job, assignment in running.items()}
        for step in stage:
            if step.action in ("start", "switch", "resume"):
                needed = holding(paths, after[step.job])
                for job, taken in held.items():
                    assert job == step.job or not taken & needed, f"{step.job} takes from {job}"
                assert (step.job in running) == (step.action == "switch")
        for step in stage:
            if step.action in ("stop", "pause"):
                del running[step.job]
            else:
                running[step.job] = after[step.job]
    assert running == after


def fewest_pauses(paths: LightPaths, old: Iterable[Assignment], new: Iterable[Assignment]) -> int:
    """Fewest tenants that must be torn down before they can be set up again."""
    before, after = {a.job: a for a in old}, {a.job: a for a in new}
    both = [job for job in after if job in before]
    for count in range(len(both) + 1):
        if any(_gets_through(paths, before, after, set(paused)) for paused in combinations(both, count)):
            return count
    raise AssertionError("pausing everybody always works")


def _gets_through(
    paths: LightPaths, before: dict[str, Assignment], after: dict[str, Assignment], paused: set[str]
) -> bool:
    held = {job: holding(paths, a) for job, a in before.items() if job in after and job not in paused}
    waiting = set(after)
    while ready := set(_ready(paths, held, after, waiting)):
        for job in ready:
            held[job] = holding(paths, after[job])
        waiting -= ready
    return not waiting


def _ready(
    paths: LightPaths, held: dict[str, Holding], after: dict[str, Assignment], waiting: set[str]
) -> Iterator[str]:
    for job in waiting:
        needed = holding(paths, after[job])
        if not any(other != job and taken & needed for other, taken in held.items()):
            yield job
            return
