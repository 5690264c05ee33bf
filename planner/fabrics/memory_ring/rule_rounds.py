"""All-reduces that pass on parts both ways around the rings of a node at once, run round by round."""

from collections.abc import Iterator, Sequence

from costmodel.fabrics import GroupPlan, MemoryNodeRings, plans_by_pool
from costmodel.parallelism.configuration import Collective
from costmodel.parallelism.mappings import DIMENSIONS
from planner.checks.charged import compare_time
from planner.checks.circuit_rules import CircuitSpeed, message_time
from planner.checks.required import groups_in_racks, prompt_groups
from planner.checks.schedule import reduces_once, schedule_of
from planner.model.plan import Assignment
from planner.model.violation import Violation


def check_both_ways(
    fabric: MemoryNodeRings, assignment: Assignment, charged: Sequence[GroupPlan]
) -> Iterator[Violation]:
    """Their circulants lead to the next rank on either side, reduce every chunk once and take the time charged."""
    for axis, dimension in enumerate(DIMENSIONS):
        collective: Collective = getattr(assignment.configuration, f"{dimension}_collective")
        plans, where = plans_by_pool(charged[axis]), f"{assignment.job}: {dimension}"
        ranks = len(groups_in_racks(assignment.configuration, dimension)[0])
        yield from _check(fabric, collective, ranks, plans[-1], where)
        if collective.prefill is not None and len(plans) > 1:
            first = len(prompt_groups(assignment.configuration, dimension)[0])
            yield from _check(fabric, collective.prefill, first, plans[0], where)


def _check(
    fabric: MemoryNodeRings, collective: Collective, ranks: int, charged: GroupPlan, where: str
) -> Iterator[Violation]:
    if collective.kind != "circulant":
        return
    if ranks < 3 or collective.radices != (1, ranks - 1):
        strides = " and ".join(map(str, collective.radices))
        message = f"{where}: rings join {ranks} ranks to those 1 and {ranks - 1} ahead, not {strides}"
        yield Violation("rounds", where, message)
        return
    if not reduces_once(collective, ranks):
        yield Violation("rounds", where, f"{where}: its rounds do not reduce every chunk once")
    names = [*map(str, range(ranks))]
    beside = {(names[a], names[(a + far) % ranks]): 1 for a in range(ranks) for far in (1, ranks - 1)}
    time = message_time(_speed(fabric, ranks), schedule_of(collective, ranks), names, [beside])
    yield from compare_time(time, charged, where)


def _speed(fabric: MemoryNodeRings, ranks: int) -> CircuitSpeed:
    """From a rank to the next one on one side: half of the links, as many groups as the node holds share them, and the
    mean of all ways between ranks on the ring with the most memory nodes."""
    node = fabric.node
    passed = max((sum(gap) * node.devices // len(gap) for gap in node.gaps), default=0)
    hops = (node.devices + passed) / ranks
    rate = node.links / 2 * node.link_bandwidth_bytes_per_s
    return CircuitSpeed(hops * node.alpha_s, rate * ranks / node.devices)
