"""A running job goes on with more accelerators, beside those that it has: its ranks stay, new ones come after them.

Circuits that it has stay on as they are, and others come beside them, unless that would make it slower. Where the
fabric cannot have that, only a job without circuits grows; what it grows into may have them.
"""

import time
from collections.abc import Sequence
from itertools import islice

from costmodel.wording import counted
from planner.controller.free_state import Found
from planner.controller.growing_racks import grown_over_racks, why_not_kept
from planner.controller.ledger import Entry
from planner.controller.reservation import kept_for_first
from planner.controller.resized import on_these, require_resizable, set_aside
from planner.controller.settings import Request
from planner.controller.state import ClusterState
from planner.fabrics.job_class import Option
from planner.fabrics.search import NOBODY, OutOfTimeError, require_time
from planner.model.errors import ConflictError, InputError
from planner.placement.placement import Place

LEAST_SEARCH_S = 0.1
"""that a growth may take, however short the budgets of an event are: a user asks for it once"""
MOST_REFUSED = 30
"""ways to lie of one configuration that light refuses before no other is tried"""
SLOWER, WITHOUT_LIGHT, NOWHERE, NOT_JOINED = range(4)
"""how far the configuration came that came furthest"""
IN_THE_WAY = {
    SLOWER: "has no larger configuration that is as fast as it is now",
    WITHOUT_LIGHT: "has circuits on that none of its larger configurations has, of those as fast as it is now",
    NOWHERE: "none of its configurations lies on these and leaves each rank where it is",
    NOT_JOINED: "no free light, memory or links join these with those that it has",
}


def find_beside(state: ClusterState, entry: Entry, request: Request, kind: str, now_s: float, budget_s: float) -> Found:
    """The most valuable configuration of a larger request that keeps all ranks where they are, looked for in
    `budget_s`, or LEAST_SEARCH_S if that is more; the state is left as it was. InputError, or ConflictError with what
    stands in the way."""
    budget_s = max(budget_s, LEAST_SEARCH_S)
    place = require_resizable("grow", entry, request)
    if not any(size > len(place.devices) for size in request.sizes):
        problem = f"has {counted(len(place.devices), 'accelerator')} and asks for no more; give a larger number"
        raise InputError("grow", entry.name, problem)
    if place.circuits and not state.free.state.keeps_lit:
        problem = "holds circuits, and what joins its accelerators would all have to be set anew for more of them"
        raise ConflictError("grow", entry.name, f"{problem}; submit it anew to have it larger")
    rows = _within_quota(state, entry, place, kind)
    barred = state.drained | _kept(state, entry, now_s)
    try:
        with set_aside(state, entry):
            found, reached = _first(state, request, kind, rows, place, barred, time.perf_counter() + budget_s)
    except OutOfTimeError:
        problem = f"no place beside its own was found in {budget_s * 1e3:.3g} ms; ask again, or raise repair_budget"
        raise ConflictError("grow", entry.name, f"{problem}. It goes on as it is") from None
    if found is None:
        raise ConflictError("grow", entry.name, f"{_why_not(state, place, rows, barred, reached)}; it goes on as it is")
    return found


def _first(
    state: ClusterState, request: Request, kind: str, rows: Sequence[Option], place: Place, barred: frozenset[int],
    deadline_s: float,
) -> tuple[Found | None, int]:  # fmt: skip
    """The first row that lies beside the ranks of a place, and how far any came. Rows around circuits that stay are no
    slower than what runs. OutOfTimeError after `deadline_s`."""
    lit, free, reached = place.lit, state.free.state, SLOWER
    for row in rows:
        require_time(deadline_s)
        if place.has_circuits and row.rate < place.row.rate:
            continue
        if lit and why_not_kept(free, row, place) is not None:
            reached = max(reached, WITHOUT_LIGHT)
            continue
        reached = max(reached, NOWHERE)
        if row.shape.racks > 1:
            ways = grown_over_racks(state.free, row, place.devices, barred, deadline_s)
        else:
            ways = free.grown(row, place.devices, barred, deadline_s)
        for devices in islice(ways, MOST_REFUSED):
            require_time(deadline_s)
            found = on_these(state, request, kind, row, devices, lit, place.upper)
            if found is not None:
                return found, NOT_JOINED
            reached = NOT_JOINED
    return None, reached


def _within_quota(state: ClusterState, entry: Entry, place: Place, kind: str) -> list[Option]:
    """Larger rows, in no fewer racks, as far as the tenant may hold them; ConflictError where it may hold none."""
    number, tenant = len(place.devices), entry.request.tenant
    racks = place.row.shape.racks
    larger = [r for r in state.ledger.kinds[kind].rows if r.shape.num_ranks > number and r.shape.racks >= racks]
    if not larger:
        raise ConflictError("grow", entry.name, "has no larger configuration in as many racks; ask for other numbers")
    accelerators, ports = state.ledger.tenants.left(tenant)
    few = [row for row in larger if row.shape.num_ranks - number <= accelerators]
    able = [row for row in few if not row.sets_circuits or row.shape.num_ranks - place.num_ports <= ports]
    if not able:
        left = f"{ports} more optical ports" if few else f"{accelerators} more accelerators"
        needed = min(row.shape.num_ranks for row in larger) - (place.num_ports if few else number)
        raise ConflictError("grow", entry.name, f"tenant {tenant} may hold {left}, and it needs {needed}")
    return able


def _kept(state: ClusterState, entry: Entry, now_s: float) -> frozenset[int]:
    """Servers that are kept for the first waiting job, unless this one will have left them in time by its limit, which
    is not over."""
    kept = kept_for_first(state, now_s)
    is_gone = kept.at_s is not None and now_s < entry.end_s <= kept.at_s
    return NOBODY if is_gone else frozenset(kept.servers)


def _why_not(state: ClusterState, place: Place, rows: Sequence[Option], barred: frozenset[int], reached: int) -> str:
    """What stands in the way, in the words of the user."""
    if reached == WITHOUT_LIGHT:
        best = next(row for row in rows if row.rate >= place.row.rate)
        return f"{IN_THE_WAY[reached]}: for the best of these {why_not_kept(state.free.state, best, place)}"
    if reached == SLOWER:
        return IN_THE_WAY[reached]
    more = min(row.shape.num_ranks for row in rows) - len(place.devices)
    together, is_joined = state.free.state.together, state.free.state.links is not None
    near = [s for servers in together if is_joined or place.devices[0][0] in servers for s in servers]
    free = sum(state.free.state.lit[server] for server in near if server not in barred)
    kept = sum(state.free.state.lit[server] for server in near if server in barred)
    needed = f"needs {counted(more, 'accelerator')} more where its ranks can use them, and {free} are free there"
    if kept:
        needed += f" beside {kept} on servers that are drained or kept for a job that waits"
    return needed if free < more else f"{needed}, but {IN_THE_WAY[reached]}"
