"""Ledger, free state, validator and queue, which change together: by decisions, each checked before it is made."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from planner.controller.decisions import Decision, Move, Reserve, Start, Stop, Tag, Wait, Why
from planner.controller.free_state import ControllerFreeState, Found
from planner.controller.job_queue import JobQueue
from planner.controller.ledger import Entry, Ledger
from planner.controller.negative_cache import NegativeCache
from planner.controller.occupancy import Occupancy
from planner.controller.validator import Validator
from planner.fabrics.job_class import JobClass
from planner.fabrics.placement import Placement
from planner.fabrics.search import NOBODY
from planner.model.cluster import Cluster
from planner.placement.placement import Place


@dataclass
class Counts:
    """Outcomes of the searches of a controller, counted."""

    greedy: int = 0
    """jobs that started where first found"""
    rescued: int = 0
    """jobs that started because others moved"""
    joint: int = 0
    """jobs that started because a batch was placed as a whole"""
    moves: int = 0
    """jobs that moved for others, not for failures"""
    preempted: int = 0
    refused: int = 0
    """places that the validator objected to: none, unless there is an error"""


class ClusterState:
    """All that an event changes."""

    def __init__(self, cluster: Cluster, ledger: Ledger) -> None:
        self.ledger = ledger
        self.settings = ledger.settings
        self.free = ControllerFreeState(cluster)
        self.validator = Validator(cluster)
        self.queue = JobQueue(ledger.tenants)
        self.decisions: list[Decision] = []
        """of the event at hand, for each job where it ends up"""
        self._pauses: dict[str, float] = {}
        """of jobs that moved, before the event at hand"""
        self.counts = Counts()
        self.negative_cache = NegativeCache(self.free.state.together)
        self.useless: set[tuple[int, ...]] = set()
        """servers that were kept together for the first job, and were free and of no use to it"""
        self._priorities: Counter[int] = Counter()
        """of running jobs that may be stopped"""
        fabric = cluster.fabric
        self.occupancy = Occupancy(fabric.num_servers, ledger.jobs)
        self.server_numbers = {fabric.server_name(s): s for s in range(fabric.num_servers)}
        for entry in ledger.jobs.values():
            if entry.place is None:
                self.queue.push(entry)
            else:
                self._enter(entry, entry.place)
        for growth in ledger.growths.values():
            self.queue.push(growth)
        self.all_servers = frozenset(range(fabric.num_servers))
        self.health_changed()

    @property
    def now_s(self) -> float:
        return self.ledger.now_s

    @property
    def drained(self) -> frozenset[int]:
        """Servers that take no job."""
        names = self.ledger.drained
        return frozenset(self.server_numbers[name] for name in names) if names else NOBODY

    def on(self, server: int) -> Mapping[str, int]:
        """Ranks by running job on a server."""
        return self.occupancy.on(server)

    def running(self) -> list[Entry]:
        """Jobs that run, in the order of arrival."""
        return [entry for entry in self.ledger.jobs.values() if entry.place is not None]

    def kind(self, entry: Entry) -> JobClass:
        """Ways to run a job within what its tenant may still take; one that grows has a part of that already."""
        accelerators, ports = self.ledger.tenants.left(entry.request.tenant)
        place = self.ledger.jobs[entry.name].place if entry.grows else None
        if place is not None:
            accelerators, ports = accelerators + len(place.devices), ports + place.num_ports
        return self.ledger.kinds.limited(entry.kind, accelerators, ports)

    def find(self, entry: Entry, barred: frozenset[int], deadline_s: float) -> Found:
        """A place for a waiting job, taken; nothing is decided yet."""
        kind = self.kind(entry)
        if not kind.rows or kind.held > self.free.state.num_free:
            return Found()
        return self.free.find(entry.kind, kind, barred, deadline_s)

    def start(self, entry: Entry, found: Found, leaving: Sequence[str] = ()) -> bool:
        """A job starts where a place was found; False, and the place is given back, where the validator objects."""
        assert found.place is not None
        assert found.placement is not None
        objection = self.validator.objection(entry.request, found.place, leaving)
        if objection is not None:
            self.free.state.release(found.placement)
            self.counts.refused += 1
            self.wait(entry, "refused", f"the place found for it breaks a rule: {objection}")
            return False
        self.free.held[entry.name] = found.placement
        self._enter(entry, found.place)
        self.queue.remove(entry)
        self.decide(Start(entry.name, found.place))
        return True

    def move(
        self,
        entry: Entry,
        placement: Placement,
        place: Place,
        because: str,
        *,
        downtime_s: float | None = None,
        frees: bool = True,
    ) -> None:
        """A running job goes on at a place that is taken; what it held there is given back already. It pauses for
        `downtime_s`, that of the settings unless given. `frees`: others may have something that it held."""
        before = entry.place
        assert before is not None
        self._leave(entry)
        self.free.held[entry.name] = placement
        self._enter(entry, place)
        if frees:
            self.negative_cache.free(before.servers)
        if entry.name in self.ledger.growths:
            self.negative_cache.free(place.servers)
        pause_s = self.settings.downtime_s if downtime_s is None else downtime_s
        self.decide(Move(entry.name, place, before, pause_s, because))

    def stop(self, entry: Entry, why: Why, because: str, *, waits: bool = False) -> None:
        """A job leaves, what it holds is free; or it waits again."""
        before = entry.place
        if before is not None:
            if entry.name in self.free.held:
                self.free.release(entry.name)
            self._leave(entry)
            self.negative_cache.free(before.servers)
        elif not waits:
            self.queue.remove(entry)
        self.decide(Stop(entry.name, before, why, waits, because))
        if waits:
            self.queue.push(entry)

    def wait(self, entry: Entry, tag: Tag, because: str) -> None:
        """Tell the user of a waiting job why it waits, if that is news."""
        if entry.wait is None or (entry.wait.tag, entry.wait.because) != (tag, because):
            self.decide(Wait(entry.name, tag, because))

    def begin(self) -> None:
        """An event is at hand."""
        self.decisions, self._pauses = [], {}

    @property
    def void(self) -> frozenset[int]:
        """Servers that were of no use to the first job."""
        return frozenset().union(*self.useless)

    def decide(self, decision: Decision) -> None:
        """Write a decision into the ledger and the answer."""
        if isinstance(decision, Reserve):
            self.negative_cache.forget("beside")
            if decision.job != self.ledger.reserved.job:
                self.useless.clear()
        elif isinstance(decision, Move | Stop):
            decision = self._joined(decision)
        growth = self.ledger.growths.get(decision.job or "")
        self.ledger.apply(decision)
        self.decisions.append(decision)
        if growth is not None and decision.job not in self.ledger.growths:
            self.queue.remove(growth)
            self.decisions = [
                each for each in self.decisions if not (isinstance(each, Wait) and each.job == growth.name)
            ]

    @property
    def new(self) -> set[str]:
        """Jobs that start at the event at hand: they may go elsewhere still, and are not stopped for others."""
        return {decision.job for decision in self.decisions if isinstance(decision, Start)}

    def _joined(self, decision: Move | Stop) -> Decision:
        """A decision in one with what this event decided of the same job before, which nobody has heard of yet."""
        entry = self.ledger.jobs[decision.job]
        self._pauses.setdefault(entry.name, entry.pause_s)
        for number, earlier in enumerate(self.decisions):
            if earlier.job == entry.name and isinstance(earlier, Start | Move):
                del self.decisions[number]
                if isinstance(earlier, Start):
                    assert isinstance(decision, Move)
                    return Start(entry.name, decision.place)
                entry.pause_s = self._pauses[entry.name]
                if isinstance(decision, Move) and decision.downtime_s < earlier.downtime_s:
                    because = f"{earlier.because}, and {decision.because}"
                    decision = replace(decision, downtime_s=earlier.downtime_s, because=because)
                return replace(decision, before=earlier.before)
        return decision

    def health_changed(self) -> list[Entry]:
        """Take failed parts from what is free, or give them back; running jobs that stand on one are left out."""
        cluster = self.free.damaged(self.ledger.failed)
        places = {e.name: e.place for e in self.ledger.jobs.values() if e.place is not None}
        broken = self.free.rebuild(cluster, places)
        self.validator.healed(cluster)
        self.negative_cache.clear()
        self.useless.clear()
        return [self.ledger.jobs[name] for name in broken]

    def has_below(self, priority: int) -> bool:
        """True if some running job of a lower priority may be stopped."""
        return any(number and lower < priority for lower, number in self._priorities.items())

    def _enter(self, entry: Entry, place: Place) -> None:
        self.validator.take(entry.request, place)
        self._priorities[entry.request.priority] += entry.request.preemptible
        self.occupancy.enter(entry.name, place)

    def _leave(self, entry: Entry) -> None:
        assert entry.place is not None
        self.validator.release(entry.name)
        self._priorities[entry.request.priority] -= entry.request.preemptible
        self.occupancy.leave(entry.name, entry.place)
