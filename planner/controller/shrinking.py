"""A running job goes on with fewer accelerators: those that it keeps host its ranks in their order, nothing moves.

Circuits, and links between racks, join the ranks that they were planned for: on a lightpath and in a pool, in one rack,
it goes on over circuits and memory that are among those that it has, elsewhere where it needs none.
"""

from collections.abc import Sequence

from costmodel.wording import counted
from planner.controller.free_state import Found
from planner.controller.ledger import Entry
from planner.controller.resized import require_resizable, set_aside, within
from planner.controller.settings import Request
from planner.controller.state import ClusterState
from planner.fabrics.free_slots import Device
from planner.model.errors import ConflictError, InputError
from planner.placement.placement import Place


def find_among(state: ClusterState, entry: Entry, request: Request, kind: str, kept: Sequence[str]) -> Found:
    """The most valuable configuration of a smaller request on the accelerators that are kept; the state is left as it
    was. InputError, or ConflictError where there is none."""
    place = require_resizable("shrink", entry, request)
    devices, lit = _kept(entry, place, request, kept), place.lit.among(kept)
    with set_aside(state, entry):
        for row in state.ledger.kinds[kind].rows:
            if row.shape.num_ranks == len(devices) and row.shape.racks == 1:
                found = within(state, request, kind, row, devices, lit)
                if found is not None:
                    return found
    number = counted(len(devices), "accelerator")
    lacking = (
        " in one rack over circuits and memory alone of those" if state.free.state.keeps_lit
        else ", without circuits or links between racks, on those"
    )  # fmt: skip
    problem = f"has no configuration of {number}{lacking} that it would keep"
    raise ConflictError("shrink", entry.name, f"{problem}; it goes on with all that it has")


def _kept(entry: Entry, place: Place, request: Request, kept: Sequence[str]) -> list[Device]:
    """Those of a place that are kept, by rank."""
    names, wanted = place.device_names, {*kept}
    found = [device for device, name in zip(place.devices, names, strict=True) if name in wanted]
    if not 0 < len(found) == len(kept) < len(names) or len(found) not in request.sizes:
        problem = f"{len(kept)} accelerators are not fewer of its {len(names)}, as many as it asks for now"
        raise InputError("shrink", entry.name, f"{problem}; name those that it keeps")
    return found
