"""A running job goes on with more accelerators, beside those that it has: its ranks stay, new ones come after them.

Circuits that it has stay on as they are, and others come beside them, unless that would make it slower. Where the
fabric cannot have that, only a job without circuits grows; what it grows into may have them.
"""

import time
from collections.abc import Callable, Sequence
from itertools import islice

from costmodel.wording import counted
from planner.controller.decisions import Reserve, Tag
from planner.controller.free_state import ControllerFreeState, Found
from planner.controller.growing_racks import grown_over_racks, why_not_kept
from planner.controller.ledger import Entry
from planner.controller.resized import on_these, require_resizable, set_aside
from planner.controller.settings import Request
from planner.controller.state import ClusterState
from planner.fabrics.free_slots import Device
from planner.fabrics.job_class import Option
from planner.fabrics.search import NOBODY, OutOfTimeError, require_time
from planner.model.errors import ConflictError, InputError
from planner.placement.placement import Place

MOST_REFUSED = 30
"""ways to lie of one configuration that light refuses before no other is tried"""
SLOWER, WITHOUT_LIGHT, NOWHERE, NOT_JOINED = range(4)
"""how far the configuration came that came furthest"""
TAGS: tuple[Tag, ...] = ("refused", "refused", "scattered", "light")
IN_THE_WAY = {
    SLOWER: "has no larger configuration that is as fast as it is now",
    WITHOUT_LIGHT: "has circuits on that none of its larger configurations has, of those as fast as it is now",
    NOWHERE: "none of its configurations lies on these and leaves each rank where it is",
    NOT_JOINED: "no free light, memory or links join these with those that it has",
}


class NotGrownError(ConflictError):
    """A job goes on as it is."""

    def __init__(self, where: str, field: str, problem: str, tag: Tag = "refused") -> None:
        """`tag`: what it could wait for; "refused" where waiting would be in vain."""
        self.tag: Tag = tag
        super().__init__(where, field, problem)


def find_beside(
    state: ClusterState, entry: Entry, request: Request, kind: str, barred: frozenset[int], budget_s: float
) -> Found:
    """The most valuable configuration of a larger request that keeps all ranks where they are, and takes none of the
    `barred` servers; looked for in so many seconds. The state is left as it was. InputError, or NotGrownError with what
    stands in the way."""
    place = require_resizable("grow", entry, request)
    if not any(size > len(place.devices) for size in request.sizes):
        problem = f"has {counted(len(place.devices), 'accelerator')} and asks for no more; give a larger number"
        raise InputError("grow", entry.name, problem)
    if place.circuits and not state.free.state.keeps_lit:
        problem = "holds circuits, and what joins its accelerators would all have to be set anew for more of them"
        raise NotGrownError("grow", entry.name, f"{problem}; submit it anew to have it larger")
    rows = _within_quota(state, entry, place, kind)
    try:
        with set_aside(state, entry):
            found, reached = _first(
                state.free, lambda row, devices: on_these(state, request, kind, row, devices, place.lit, place.upper),
                rows, place, barred, time.perf_counter() + max(budget_s, 0.0),
            )  # fmt: skip
    except OutOfTimeError:
        needed, short = needed_beside(state, place, rows, barred)
        if short is not None:
            raise NotGrownError("grow", entry.name, f"{needed}; it goes on as it is", short) from None
        problem = (
            f"no place beside its own was found in {max(budget_s, 0.0) * 1e3:.3g} ms; ask again, or raise repair_budget"
        )
        raise NotGrownError("grow", entry.name, f"{problem}. It goes on as it is", "time") from None
    if found is None:
        problem, tag = _why_not(state, place, rows, barred, reached)
        raise NotGrownError("grow", entry.name, f"{problem}; it goes on as it is", tag)
    return found


def may_ever_grow(state: ClusterState, entry: Entry, kind: str, budget_s: float) -> bool:
    """Whether a running job would find room beside its own if no other ran, all parts worked and nothing were drained;
    True also where that is not found out in so many seconds."""
    place, free = entry.place, ControllerFreeState(state.free.damaged(()))
    assert place is not None
    larger = larger_rows(state.ledger.kinds[kind].rows, place)

    def on(row: Option, devices: Sequence[Device]) -> Found | None:
        found = free.on(kind, row, devices, place.lit, place.upper)
        return None if found.place is None else found

    try:
        return _first(free, on, larger, place, NOBODY, time.perf_counter() + budget_s)[0] is not None
    except OutOfTimeError:
        return True


def left_alone(kept: Reserve, entry: Entry, now_s: float) -> frozenset[int]:
    """Servers, of those kept for the first in the queue, that a running job may not grow onto: none where it is that
    job, or will have left them in time by its limit, which is not over."""
    is_gone = kept.at_s is not None and now_s < entry.end_s <= kept.at_s
    return NOBODY if is_gone or kept.job == entry.name else frozenset(kept.servers)


def _first(
    free: ControllerFreeState, on: Callable[[Option, Sequence[Device]], Found | None], rows: Sequence[Option],
    place: Place, barred: frozenset[int], deadline_s: float,
) -> tuple[Found | None, int]:  # fmt: skip
    """The first row that lies beside the ranks of a place, `on` such devices, and how far any came. Rows around
    circuits that stay are no slower than what runs. OutOfTimeError after `deadline_s`."""
    lit, reached = place.lit, SLOWER
    for row in rows:
        require_time(deadline_s)
        if place.has_circuits and row.rate < place.row.rate:
            continue
        if lit and why_not_kept(free.state, row, place) is not None:
            reached = max(reached, WITHOUT_LIGHT)
            continue
        reached = max(reached, NOWHERE)
        if row.shape.racks > 1:
            ways = grown_over_racks(free, row, place.devices, barred, deadline_s)
        else:
            ways = free.state.grown(row, place.devices, barred, deadline_s)
        for devices in islice(ways, MOST_REFUSED):
            require_time(deadline_s)
            found = on(row, devices)
            if found is not None:
                return found, NOT_JOINED
            reached = NOT_JOINED
    return None, reached


def larger_rows(rows: Sequence[Option], place: Place) -> list[Option]:
    """Those of more ranks than a place has, in no fewer racks."""
    number, racks = len(place.devices), place.row.shape.racks
    return [row for row in rows if row.shape.num_ranks > number and row.shape.racks >= racks]


def _within_quota(state: ClusterState, entry: Entry, place: Place, kind: str) -> list[Option]:
    """Larger rows, in no fewer racks, as far as the tenant may hold them; ConflictError where it may hold none."""
    number, tenant = len(place.devices), entry.request.tenant
    larger = larger_rows(state.ledger.kinds[kind].rows, place)
    if not larger:
        problem = "has no larger configuration in as many racks; ask for other numbers"
        raise NotGrownError("grow", entry.name, problem)
    accelerators, ports = state.ledger.tenants.left(tenant)
    few = [row for row in larger if row.shape.num_ranks - number <= accelerators]
    able = [row for row in few if not row.sets_circuits or row.shape.num_ranks - place.num_ports <= ports]
    if not able:
        left = f"{ports} more optical ports" if few else f"{accelerators} more accelerators"
        needed = min(row.shape.num_ranks for row in larger) - (place.num_ports if few else number)
        raise NotGrownError("grow", entry.name, f"tenant {tenant} may hold {left}, and it needs {needed}", "quota")
    return able


def _why_not(
    state: ClusterState, place: Place, rows: Sequence[Option], barred: frozenset[int], reached: int
) -> tuple[str, Tag]:
    """What stands in the way, in the words of the user."""
    if reached == WITHOUT_LIGHT:
        best = next(row for row in rows if row.rate >= place.row.rate)
        way = f"{IN_THE_WAY[reached]}: for the best of these {why_not_kept(state.free.state, best, place)}"
        return way, TAGS[reached]
    if reached == SLOWER:
        return IN_THE_WAY[reached], TAGS[reached]
    needed, short = needed_beside(state, place, rows, barred)
    return (needed, short) if short is not None else (f"{needed}, but {IN_THE_WAY[reached]}", TAGS[reached])


def needed_beside(
    state: ClusterState, place: Place, rows: Sequence[Option], barred: frozenset[int]
) -> tuple[str, Tag | None]:
    """What the smallest of larger rows needs and what is free, in words, and what it waits for where that is less."""
    more = min(row.shape.num_ranks for row in rows) - len(place.devices)
    together, is_joined = state.free.state.together, state.free.state.links is not None
    near = [s for servers in together if is_joined or place.devices[0][0] in servers for s in servers]
    free = sum(state.free.state.lit[server] for server in near if server not in barred)
    kept = sum(state.free.state.lit[server] for server in near if server in barred)
    needed = f"needs {counted(more, 'accelerator')} more where its ranks can use them, and {free} are free there"
    if kept:
        needed += f" beside {kept} on servers that are drained or kept for a job that waits"
    if free >= more:
        return needed, None
    return needed, "reserved" if free + kept >= more else "room"
