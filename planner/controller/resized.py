"""What shrinking and growing have in common: a running job goes on with other accelerators, and none of its ranks
moves."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from costmodel.wording import counted
from planner.controller.free_state import Found
from planner.controller.ledger import Entry
from planner.controller.settings import Request
from planner.controller.state import ClusterState
from planner.fabrics.free_slots import Device
from planner.fabrics.job_class import Option
from planner.fabrics.lit import Lit
from planner.model.errors import ConflictError
from planner.model.plan import RackCircuit
from planner.placement.placement import Place

Resizing = Literal["shrink", "grow"]


def require_resizable(event: Resizing, entry: Entry, request: Request) -> Place:
    """The place of a job that runs and asks for other accelerators, and nothing else; ConflictError for any other."""
    if entry.place is None:
        raise ConflictError(event, entry.name, "waits and has not started; submit it anew instead")
    if others := changed(entry.request, request):
        problem = f"differs in more than accelerators and constraints, in {' and '.join(others)}; submit it anew"
        raise ConflictError(event, entry.name, problem)
    return entry.place


def changed(before: Request, after: Request) -> list[str]:
    """Fields, beside accelerators and constraints, that a job may not change while it runs, and that differ."""
    fields = (name for name in Request.model_fields if name not in ("accelerators", "constraints"))
    return [name for name in fields if getattr(before, name) != getattr(after, name)]


@contextmanager
def set_aside(state: ClusterState, entry: Entry) -> Iterator[None]:
    """What a running job holds is free meanwhile."""
    held = state.free.held[entry.name]
    state.free.state.release(held)
    try:
        yield
    finally:
        state.free.state.take(held)


def on_these(
    state: ClusterState, request: Request, kind: str, row: Option, devices: Sequence[Device],
    lit: Lit, upper: Sequence[RackCircuit],
) -> Found | None:  # fmt: skip
    """A configuration with rank i on devices[i], free now, that the validator agrees with, and whose circuits are those
    that are `lit`, or between racks `upper`, and others; not taken."""
    found = state.free.on(kind, row, devices, lit, upper)
    if found.place is None or not lit.by_phase <= found.place.lit.by_phase:
        return None
    if not {*upper} <= {*found.place.upper}:
        return None
    return found if state.validator.objection(request, found.place) is None else None


def within(
    state: ClusterState, request: Request, kind: str, row: Option, devices: Sequence[Device], lit: Lit
) -> Found | None:
    """The same in one rack of those that are `lit` alone."""
    found = state.free.within(kind, row, devices, lit)
    if found.place is None or not found.place.lit.by_phase <= lit.by_phase:
        return None
    return found if state.validator.objection(request, found.place) is None else None


def carry_out(state: ClusterState, entry: Entry, found: Found, event: Resizing) -> None:
    """Take what was found in place of what the job holds; one that grows gives nothing back."""
    assert found.placement is not None
    assert found.place is not None
    state.free.release(entry.name)
    state.free.state.take(found.placement)
    because = f"goes on with {counted(len(found.place.devices), 'accelerator')}, as its user asked"
    state.move(entry, found.placement, found.place, because, downtime_s=0.0, frees=event == "shrink")
