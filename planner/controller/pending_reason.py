"""Why a job waits, and what would make it fit, in the words of its user: counted from what is free, not solved."""

from collections.abc import Sequence

from costmodel.pricing.servers_by_rack import in_words
from planner.controller.decisions import Reserve, Tag
from planner.controller.ledger import Entry
from planner.controller.state import ClusterState
from planner.fabrics.asked_racks import shared, with_room
from planner.fabrics.job_class import JobClass

Reason = tuple[Tag, str]
GOES_ON: Reason = ("time", "the search for a place ran out of its time and goes on at the next event")
NOT_REACHED: Reason = ("time", "the jobs before it took all that one event looks at: it is looked at later")
MOST_NAMED = 4
"""jobs named in one sentence"""


def why(state: ClusterState, entry: Entry, reserved: Reserve, *, unknown: Reason | None = None) -> Reason:
    """The first of: quota, accelerators, parts that are down, scatter, what is `reserved` for another, memory or
    slices, light.
    `unknown`: what is said in place of the last two, where no search for a place was made, or was ended."""
    kind = state.kind(entry)
    if not kind.rows:
        return "quota", _quota(state, entry)
    num_free = _num_free(state)
    free = _short(kind.held, num_free)
    if kind.held > num_free:
        return _too_few(state, kind, num_free, free)
    parts = kind.parts
    if not any(_fits_somewhere(state, kind, part, state.drained) for part in parts):
        return "scattered", f"{free}, but {_scatter(state, kind, parts[0])}{_remedy(state, kind, parts[0])}"
    if reserved.job not in (None, entry.name):
        kept, be = state.drained | frozenset(reserved.servers), "is" if len(reserved.servers) == 1 else "are"
        if not any(_fits_somewhere(state, kind, part, kept) for part in parts):
            return (
                "reserved",
                f"{free}, but {_names(state, reserved.servers)} {be} kept for {reserved.job}, which is first",
            )
    if unknown is not None:
        return unknown[0], f"{free}; {unknown[1]}"
    if (short := state.free.state.shortage(kind)) is not None:
        return "memory" if state.free.state.has_pool else "scattered", f"{free}, but {short}"
    where = "between the servers that have room no optical circuits are left that join them"
    if kind.over_racks and not _fits_in_a_rack(state, kind, parts[0], state.drained):
        where = "no links between racks that have room, or no optical circuits inside these, are left that join them"
    return "light", f"{free}, but {where}{_remedy(state, kind, parts[0])}"


def _quota(state: ClusterState, entry: Entry) -> str:
    tenant = entry.request.tenant
    quota, use = state.settings.quota(tenant), state.ledger.tenants.uses.get(tenant)
    held = (0, 0) if use is None else (use.accelerators, use.ports)
    parts = []
    if quota.accelerators is not None:
        parts.append(f"{held[0]} of its {quota.accelerators} accelerators")
    if quota.ports is not None:
        parts.append(f"{held[1]} of its {quota.ports} optical ports")
    fewest = state.ledger.kinds[entry.kind].held
    return f"tenant {tenant} holds {' and '.join(parts)}: the job takes {fewest}; it starts when others end"


def _num_free(state: ClusterState) -> int:
    """Working accelerators that nobody holds, on servers that take jobs."""
    free_state = state.free.state
    return free_state.num_free - sum(free_state.any[server] for server in state.drained)


def _short(needed: int, num_free: int) -> str:
    asked = "1 accelerator is" if needed == 1 else f"{needed} accelerators are"
    return f"{asked} needed and {num_free} {'is' if num_free == 1 else 'are'} free"


def _too_few(state: ClusterState, kind: JobClass, num_free: int, short: str) -> Reason:
    working = sum(state.free.working[s] for s in range(len(state.free.working)) if s not in state.drained)
    if kind.held > working:
        return (
            "health",
            f"{short}; only {working} work and are not drained: it waits {_for_health(state, kind, working)}",
        )
    return "room", f"{short}; it starts when running jobs leave {kind.held - num_free} more"


def _for_health(state: ClusterState, kind: JobClass, working: int) -> str:
    """What it waits for where too few accelerators work on servers that take jobs."""
    drained = sorted(server for server in state.drained if state.free.working[server])
    if not drained:
        return "for a repair"
    undrained = f"until drained servers take jobs again (undrain {_names(state, drained)})"
    is_enough = kind.held <= working + sum(state.free.working[server] for server in drained)
    return undrained if is_enough else f"for a repair and {undrained}"


def _fits_somewhere(state: ClusterState, kind: JobClass, part: int, barred: frozenset[int]) -> bool:
    """True if the parts of a job fit on servers that it may use together, light and links aside."""
    if _fits_in_a_rack(state, kind, part, barred):
        return True
    ways = {(row.shape.racks, row.shape.num_parts // row.shape.racks) for row in kind.over_racks if row.part == part}
    together = state.free.state.together
    return any(sum(_holds(state, servers, part, each, barred) for servers in together) >= racks for racks, each in ways)


def _holds(state: ClusterState, servers: Sequence[int], part: int, parts: int, barred: frozenset[int]) -> bool:
    """True if so many parts fit on some servers."""
    lit = state.free.state.lit
    return sum(lit[server] // part for server in servers if server not in barred) >= parts


def _fits_in_a_rack(state: ClusterState, kind: JobClass, part: int, barred: frozenset[int]) -> bool:
    """The same in one rack, or anywhere where racks are linked."""
    free_state = state.free.state
    free = free_state.any if kind.held == 1 else free_state.lit
    most = 1 if kind.is_even else kind.held
    if kind.rows[0].shape.servers_by_rack is not None and state.free.cluster.fabric.links_racks:
        return shared(kind.rows[0].shape, _servers_of_racks(state, kind, part, barred)) is not None
    for servers in free_state.together:
        missing = kind.held
        for server in servers:
            if free[server] >= part and server not in barred:
                missing -= part * min(free[server] // part, most)
                if missing <= 0:
                    return True
    return False


def _servers_of_racks(state: ClusterState, kind: JobClass, part: int, barred: frozenset[int]) -> list[int]:
    """Servers of each rack on which a part of a job fits."""
    free_state, fabric = state.free.state, state.free.cluster.fabric
    fits = [count >= part for count in (free_state.any if kind.held == 1 else free_state.lit)]
    open_to = (server for server in range(len(fits)) if server not in barred)
    return [len(servers) for servers in with_room(fits, open_to, fabric)]


def _most_parts(state: ClusterState, kind: JobClass, part: int, barred: frozenset[int]) -> int:
    """Parts of a job that fit on servers that it may use together."""
    free_state = state.free.state
    free = free_state.any if kind.held == 1 else free_state.lit
    most = 1 if kind.is_even else kind.held
    return max(
        sum(min(free[server] // part, most) for server in servers if server not in barred)
        for servers in free_state.together
    )


def _scatter(state: ClusterState, kind: JobClass, part: int) -> str:
    """Describes how free accelerators are scattered over servers, beside what the job needs."""
    free_state, fabric, needed = state.free.state, state.free.cluster.fabric, kind.held
    if kind.is_even:
        found, number = _most_parts(state, kind, part, state.drained), needed // part
        on = "one server" if number == 1 else f"each of {number} servers"
        if (asked := kind.rows[0].shape.servers_by_rack) is not None:
            racks = sorted(_servers_of_racks(state, kind, part, state.drained), reverse=True)
            have = ", ".join(map(str, racks[:MOST_NAMED])) + " and fewer" * (len(racks) > MOST_NAMED)
            return f"it takes {part} on {on}, {in_words(asked)}, and racks have {have} with as many free"
        of = "" if fabric.links_racks or fabric.racks == 1 else " of one rack"
        return f"it takes {part} on {on}{of}, and {found or 'none'} {'have' if found > 1 else 'has'} as many free"
    lie = [server for server, count in enumerate(free_state.any) if count and server not in state.drained]
    dark = sum(free_state.any) - sum(free_state.lit)
    most = max((free_state.lit[server] for server in lie), default=0)
    text = f"they lie on {len(lie)} servers with at most {most} each" if len(lie) > 1 else "they lie on one server"
    if part > 1:
        text += f", and {part} ranks at a time must share a server"
    if dark:
        text += f"; {dark} have no working port"
    if not fabric.links_racks and fabric.racks > 1:
        best = max(sum(free_state.lit[s] for s in servers if s not in state.drained) for servers in free_state.together)
        parts = " or several equal parts of them" if kind.over_racks else ""
        text += f"; one rack must hold all {needed}{parts}, and the emptiest has {best}"
    return text


def _remedy(state: ClusterState, kind: JobClass, part: int) -> str:
    """The server nearest to what is needed, and who stands there."""
    free_state = state.free.state
    wanted = min(kind.held, free_state.per_server) if part == 1 and not kind.is_even else part
    drained = state.drained
    able = [s for s, count in enumerate(state.free.working) if count >= wanted and s not in drained]
    if kind.is_even:
        able = [server for server in able if free_state.lit[server] < part]
    if not able:
        return ""
    server = max(able, key=free_state.lit.__getitem__)
    jobs, gained = [], free_state.lit[server]
    for name, ranks in sorted(state.on(server).items(), key=lambda item: -item[1]):
        if gained >= wanted:
            break
        jobs.append(name)
        gained += ranks
    if not jobs or len(jobs) > MOST_NAMED:
        return ""
    name = free_state.cluster.fabric.server_name(server)
    return f"; {name} would have {gained} free without {', '.join(jobs)}"


def _names(state: ClusterState, servers: Sequence[int]) -> str:
    names = [state.free.cluster.fabric.server_name(server) for server in servers]
    shown = ", ".join(names[:MOST_NAMED])
    return shown if len(names) <= MOST_NAMED else f"{shown} and {len(names) - MOST_NAMED} more servers"
