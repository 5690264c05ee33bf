"""A running job goes on with fewer accelerators: those that it keeps host its ranks in their order, nothing moves.

Only where any accelerators may have any ranks, in one rack where racks are joined: circuits, and links between racks,
join the ranks that they were planned for.
"""

from collections.abc import Sequence

from costmodel.wording import counted
from planner.controller.free_state import Found
from planner.controller.ledger import Entry
from planner.controller.settings import Request
from planner.controller.state import ClusterState
from planner.fabrics.free_slots import Device
from planner.fabrics.job_class import Option
from planner.model.edit import edited
from planner.model.errors import ConflictError, InputError


def find_among(state: ClusterState, entry: Entry, request: Request, kind: str, kept: Sequence[str]) -> Found:
    """The most valuable configuration of a smaller request on the accelerators that are kept; the state is left as it
    was. InputError, or ConflictError where there is none."""
    devices = _kept(entry, request, kept)
    held = state.free.held[entry.name]
    state.free.state.release(held)
    try:
        for row in state.ledger.kinds[kind].rows:
            found = _on(state, request, kind, row, devices)
            if found is not None:
                return found
    finally:
        state.free.state.take(held)
    number = counted(len(devices), "accelerator")
    problem = f"has no configuration of {number}, without circuits or links between racks, on those that it would keep"
    raise ConflictError("shrink", entry.name, f"{problem}; it goes on with all that it has")


def carry_out(state: ClusterState, entry: Entry, found: Found) -> None:
    """Give back what is not kept."""
    assert found.placement is not None
    assert found.place is not None
    state.free.release(entry.name)
    state.free.state.take(found.placement)
    because = f"goes on with {counted(len(found.place.devices), 'accelerator')}, as its user asked"
    state.move(entry, found.placement, found.place, because, downtime_s=0.0)


def _kept(entry: Entry, request: Request, kept: Sequence[str]) -> list[Device]:
    """Those of a place that are kept, by rank."""
    if entry.place is None:
        raise ConflictError("shrink", entry.name, "waits and has not started; submit it anew instead")
    if edited(request, accelerators=entry.request.accelerators, constraints=entry.request.constraints) != entry.request:
        raise ConflictError("shrink", entry.name, "differs in more than accelerators and constraints; submit it anew")
    names, wanted = entry.place.device_names, {*kept}
    found = [device for device, name in zip(entry.place.devices, names, strict=True) if name in wanted]
    if not 0 < len(found) == len(kept) < len(names) or len(found) not in request.sizes:
        problem = f"{len(kept)} accelerators are not fewer of its {len(names)}, as many as it asks for now"
        raise InputError("shrink", entry.name, f"{problem}; name those that it keeps")
    return found


def _on(state: ClusterState, request: Request, kind: str, row: Option, devices: Sequence[Device]) -> Found | None:
    """A configuration on these devices, free now, that the validator agrees with; not taken."""
    shape = row.shape
    if shape.num_ranks != len(devices) or shape.racks > 1 or row.sets_circuits or shape.pooled_units:
        return None
    placement = state.free.state.realize_on(row, devices, devices)
    if placement is None:
        return None
    state.free.state.take(placement)
    found = state.free.named(kind, placement)
    if found.place is None or found.placement is None:
        return None
    state.free.state.release(found.placement)
    return found if state.validator.objection(request, found.place) is None else None
