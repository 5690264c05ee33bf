"""How far down the queue one event looks: jobs behind the first one, but for those that have no chance."""

from planner.controller.job_queue import Group, group_of
from planner.controller.ledger import Entry
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
            passed.add(group_of(entry))
        return True
    if kind.held > state.free.state.num_free:
        passed.add(group_of(entry))
        return True
    return False


def is_reached(state: ClusterState, entry: Entry, now_s: float) -> bool:
    """True if an event now would look at a job: not too many that are served before it are looked at too."""
    rank, passed, depth = state.queue.rank(entry, now_s), set[Group](), state.settings.depth
    looked, is_first = 0, True
    for seen, other in enumerate(state.queue.ordered(now_s, passed=passed)):
        if state.queue.rank(other, now_s) > rank:
            return True
        if looked >= depth or seen >= LOOKS * depth:
            return False
        kind = state.kind(other)
        if not (kind.rows or other.grows):
            passed.add(group_of(other))
        elif is_first:
            is_first = False
        else:
            looked += other.grows or not is_passed_over(state, other, kind, passed)
    return looked < depth
