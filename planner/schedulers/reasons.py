"""Why a job waits, and what would make it fit, in the words of its user: counted from what is free, not solved."""

from collections.abc import Sequence

from planner.replay.kinds import Kind
from planner.schedulers.decisions import Tag
from planner.schedulers.floor import Floor
from planner.schedulers.state import Entry

Reason = tuple[Tag, str]
MOST_NAMED = 4
"""jobs named in one sentence"""


def why(floor: Floor, entry: Entry, *, ran_out: bool = False) -> Reason:
    """The first of: quota, accelerators, parts that are down, their scatter, what is kept for another, light."""
    kind = floor.kind(entry)
    if not kind.rows:
        return "quota", _quota(floor, entry)
    state, needed = floor.board.state, kind.held
    if needed > state.num_free:
        return _too_few(floor, kind)
    free = f"{needed} accelerators are needed and {state.num_free} are free"
    parts = sorted({row.shape.part for row in kind.rows})
    if not any(_fits_somewhere(floor, needed, part, floor.drained) for part in parts):
        return "scattered", f"{free}, but {_scatter(floor, needed, parts[0])}{_remedy(floor, needed, parts[0])}"
    reserved = floor.ledger.reserved
    if reserved.job not in (None, entry.name):
        kept = floor.drained | frozenset(reserved.servers)
        if not any(_fits_somewhere(floor, needed, part, kept) for part in parts):
            return (
                "reserved",
                f"{free}, but {_names(floor, reserved.servers)} are kept for {reserved.job}, which is first",
            )
    if ran_out:
        return "time", f"{free}; the search for a place ran out of its time and goes on at the next event"
    where = "between the servers that have room no optical circuits are left that join them"
    return "light", f"{free}, but {where}{_remedy(floor, needed, parts[0])}"


def _quota(floor: Floor, entry: Entry) -> str:
    tenant, request = entry.request.tenant, entry.request
    quota, use = floor.settings.quota(tenant), floor.ledger.tenants.uses.get(tenant)
    held = (0, 0) if use is None else (use.accelerators, use.ports)
    said = []
    if quota.accelerators is not None:
        said.append(f"{held[0]} of its {quota.accelerators} accelerators")
    if quota.ports is not None:
        said.append(f"{held[1]} of its {quota.ports} optical ports")
    return f"tenant {tenant} holds {' and '.join(said)}: the job takes {min(request.sizes)}; it starts when others end"


def _too_few(floor: Floor, kind: Kind) -> Reason:
    state = floor.board.state
    working = sum(floor.board.working[s] for s in range(len(floor.board.working)) if s not in floor.drained)
    short = f"{kind.held} accelerators are needed and {state.num_free} are free"
    if kind.held > working:
        return "health", f"{short}; only {working} work and are not drained: it waits for a repair"
    return "room", f"{short}; it starts when running jobs leave {kind.held - state.num_free} more"


def _fits_somewhere(floor: Floor, needed: int, part: int, shut: frozenset[int]) -> bool:
    """Whether the parts of a job fit on servers that it may use together, light aside."""
    state = floor.board.state
    free = state.any if needed == 1 else state.lit
    return any(
        part * sum(free[server] // part for server in servers if server not in shut) >= needed
        for servers in state.together
    )


def _scatter(floor: Floor, needed: int, part: int) -> str:
    """Where free accelerators lie, and what is asked of them."""
    state, fabric = floor.board.state, floor.board.cluster.fabric
    lie = [server for server, count in enumerate(state.any) if count and server not in floor.drained]
    dark = sum(state.any) - sum(state.lit)
    most = max((state.lit[server] for server in lie), default=0)
    said = f"they lie on {len(lie)} servers with at most {most} each"
    if part > 1:
        said += f", and {part} ranks at a time must share a server"
    if dark:
        said += f"; {dark} have no working port"
    if not fabric.links_racks and fabric.racks > 1:
        best = max(sum(state.lit[s] for s in servers if s not in floor.drained) for servers in state.together)
        said += f"; one rack must hold all {needed}, and the emptiest has {best}"
    return said


def _remedy(floor: Floor, needed: int, part: int) -> str:
    """The server nearest to what is needed, and who stands there."""
    state = floor.board.state
    wanted = min(needed, state.per_server) if part == 1 else part
    able = [s for s, count in enumerate(floor.board.working) if count >= wanted and s not in floor.drained]
    if not able:
        return ""
    server = max(able, key=lambda s: (state.lit[s], -s))
    jobs, gained = [], state.lit[server]
    for name, ranks in sorted(floor.on(server).items(), key=lambda item: -item[1]):
        if gained >= wanted:
            break
        jobs.append(name)
        gained += ranks
    if not jobs or len(jobs) > MOST_NAMED:
        return ""
    name = state.cluster.fabric.server_name(server)
    return f"; {name} would have {gained} free without {', '.join(jobs)}"


def _names(floor: Floor, servers: Sequence[int]) -> str:
    names = [floor.board.cluster.fabric.server_name(server) for server in servers]
    shown = ", ".join(names[:MOST_NAMED])
    return shown if len(names) <= MOST_NAMED else f"{shown} and {len(names) - MOST_NAMED} more servers"
