"""States of the optical switches of pooled racks, from the circuits of jobs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from costmodel.fabrics import Sipam
from costmodel.fabrics.part_names import owning_server
from planner.fabrics.switch_ports import Connection, states_of
from planner.model.instance import Instance
from planner.model.plan import Assignment, Circuit, MemoryCircuit, PhaseChange, SwitchSetting
from planner.model.resident_plan import plan_of_residents


def setting_of(instance: Instance, assignments: Iterable[Assignment]) -> SwitchSetting:
    """From what the residents of an instance have on to a plan."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, Sipam)
    phases = {job.name: job.workload.phases for job in instance.all_jobs}
    return _setting(fabric, plan_of_residents(instance).assignments, assignments, phases)


def _setting(
    fabric: Sipam, before: Iterable[Assignment], after: Iterable[Assignment], phases: Mapping[str, Sequence[str]]
) -> SwitchSetting:
    """From the circuits that are on to those of a plan; no time where these are the same. `phases` of jobs by name."""
    planned = list(after)
    old, new = (
        states_of(pair for a in each for pair in _connections(fabric, a, (None, *phases[a.job][:1])))
        for each in (before, planned)
    )
    return SwitchSetting(
        time_s=0.0 if old == new else fabric.reconfiguration_s,
        before=old,
        after=new,
        phases=tuple(_change(fabric, a, phases[a.job]) for a in planned if a.configuration.first_phase is not None),
    )


def _change(fabric: Sipam, assignment: Assignment, phases: Sequence[str]) -> PhaseChange:
    """From the first phase of a job to its last one: of circuits that are on in both nothing changes."""
    first, last = (set(_connections(fabric, assignment, each)) for each in (phases[:1], phases[-1:]))
    return PhaseChange(
        job=assignment.job,
        phase=phases[-1],
        time_s=fabric.reconfiguration_s,
        undone=states_of(first - last),
        made=states_of(last - first),
    )


def _connections(fabric: Sipam, assignment: Assignment, phases: Sequence[str | None]) -> Iterator[Connection]:
    """What a job needs of circuits that are on in one of these phases; None: in all."""
    for memory in assignment.memory:
        if memory.phase in phases:
            yield from _of_memory(fabric, memory)
    for held in assignment.circuits:
        for circuit in held.circuits if held.phase in phases else ():
            yield from of_circuit(fabric, circuit)


def _of_memory(fabric: Sipam, circuit: MemoryCircuit) -> Iterator[Connection]:
    """Both ways through the switch of the rail."""
    switch = fabric.switch_name(circuit.rail, fabric.parse_device(circuit.device)[0])
    yield switch, circuit.device, circuit.port
    yield switch, circuit.port, circuit.device


def of_circuit(fabric: Sipam, circuit: Circuit) -> Iterator[Connection]:
    """Through the switch of each rail; between servers through those of both and of their zone. One end may be the
    port of a tray."""
    source, destination = circuit.source, circuit.destination
    here, there = owning_server(fabric, source), owning_server(fabric, destination)
    for number, rail in enumerate(circuit.wavelengths):
        if here == there:
            yield fabric.switch_name(rail, here), source, destination
            continue
        out, into = _pair(circuit.fibers, number)
        yield fabric.switch_name(rail, here), source, out
        yield fabric.switch_name(rail, fabric.num_servers + fabric.rack_of(here)), out, into
        yield fabric.switch_name(rail, there), into, destination


def _pair(fibers: Sequence[str], number: int) -> tuple[str, str]:
    return fibers[2 * number], fibers[2 * number + 1]
