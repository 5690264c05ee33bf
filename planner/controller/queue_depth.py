"""How far down the queue one event looks: jobs behind the first one, but for those that have no chance."""

from planner.controller.decisions import Reserve
from planner.controller.job_queue import Group
from planner.controller.ledger import Entry
from planner.controller.pending_reason import NOT_REACHED, Reason
from planner.controller.reservation import may_enter
from planner.controller.state import ClusterState
from planner.fabrics.job_class import JobClass

LOOKS = 20
"""jobs passed over at one event, for each that is looked at"""


def tried_behind(state: ClusterState, entry: Entry) -> str:
    """Which servers a job behind the first one may enter: those that are open to all, or those beside what is kept."""
    reserved = state.ledger.reserved
    return "open" if not reserved.servers or may_enter(reserved, entry, state.now_s) else "beside"


def is_passed_over(state: ClusterState, entry: Entry, kind: JobClass, passed: set[Group]) -> bool:
    """True if a job behind the first one is known to have no place.

    Its group is passed over from now on where no other job of it has a chance.
    """
    tried = tried_behind(state, entry)
    if (kind, tried) in state.negative_cache:
        if tried == "open" or (kind, "open") in state.negative_cache:
            passed.add(state.queue.group_of(entry))
        return True
    if kind.held > state.free.state.num_free:
        passed.add(state.queue.group_of(entry))
        return True
    return False


def goes_before_its_tenant(state: ClusterState, entry: Entry, now_s: float) -> bool:
    """True if a job that its tenant's quota keeps out has waited longer than its patience, and all of the quota would
    let it in: until it starts no other job of the tenant does, so that the quota comes free."""
    is_patient = now_s - entry.waits_since_s <= state.settings.patience_s
    return not is_patient and bool(
        state.ledger.kinds.limited(entry.kind, *state.ledger.tenants.all_of(entry.request.tenant)).rows
    )


def lets_go_first(first: Entry) -> Reason:
    """Why other jobs of its tenant wait."""
    return "quota", f"{first.name} of its tenant has waited longer than its patience for the quota, and goes first"


def within_quota(state: ClusterState, entry: Entry, kind: JobClass, kept: Reserve) -> JobClass:
    """Ways of a job behind the one that something is kept for that leave that one, where it is of the same tenant,
    enough of the quota."""
    first = state.ledger.jobs.get(kept.job or "")
    if first is None or first.place is not None or first.name == entry.name or entry.grows:
        return kind
    needed = min(state.kind(first).rows, key=lambda row: row.size, default=None)
    if needed is None or first.request.tenant != entry.request.tenant:
        return kind
    accelerators, ports = state.ledger.tenants.left(entry.request.tenant)
    ports -= needed.size if needed.sets_circuits else 0
    return state.ledger.kinds.limited(entry.kind, accelerators - needed.size, ports)


def quota_is_kept_for(first: str) -> Reason:
    """Why a job of its tenant waits."""
    return "quota", f"what its tenant may still take is kept for {first}, which is first"


def why_not_reached(state: ClusterState, entry: Entry, now_s: float) -> Reason | None:
    """Why an event now would not look for a place of a job: too many that are served before it are looked at, or one of
    its tenant goes first; None where it would."""
    rank, passed, depth = state.queue.rank(entry, now_s), set[Group](), state.settings.depth
    looked, is_first, first_of = 0, True, dict[str, Entry]()
    for seen, other in enumerate(state.queue.ordered(now_s, passed=passed)):
        if state.queue.rank(other, now_s) >= rank:
            break
        if looked >= depth or seen >= LOOKS * depth:
            return NOT_REACHED
        kind, tenant = state.kind(other), other.request.tenant
        if tenant in first_of or not (kind.rows or other.grows):
            passed.add(state.queue.group_of(other))
            if goes_before_its_tenant(state, other, now_s):
                first_of.setdefault(tenant, other)
        elif is_first:
            is_first = False
        else:
            looked += other.grows or not is_passed_over(state, other, kind, passed)
    if (first := first_of.get(entry.request.tenant)) is not None:
        return lets_go_first(first)
    return NOT_REACHED if looked >= depth else None


def why_not_looked_for(state: ClusterState, entry: Entry, kept: Reserve, now_s: float) -> Reason | None:
    """Why an event now would look for no place of a job that its tenant's quota admits; None where it would."""
    if (reason := why_not_reached(state, entry, now_s)) is not None:
        return reason
    kind = state.kind(entry)
    is_kept_out = kind.rows and not within_quota(state, entry, kind, kept).rows
    return quota_is_kept_for(kept.job) if is_kept_out and kept.job is not None else None
