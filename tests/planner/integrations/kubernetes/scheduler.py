"""kube-scheduler around an extender, as far as it matters when a pod is tried again.

As in `pkg/scheduler/backend/queue` and `schedule_one.go`, read strictly:

- A pod that filters turn away waits among the unschedulable. Only an event that one of those who turned it away has
  registered for brings it back, else a flush that each 30 s takes who waited for five minutes. An extender is
  registered for all events; NodeResourcesFit for pods that leave and nodes that change.
- What comes back waits for the rest of its backoff, 1 s after the first try, then doubled to at most 10 s.
- An error (of an extender, or of binding) brings a pod back after its backoff without any event.
- Pods are tried one after the other: an extender that takes its time to filter holds up all. Binding goes on beside.
- Changes of a pod's own status are no event here, though kube-scheduler writes one, so that nothing rests on it.
"""

import copy
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any, Protocol

from planner.integrations.kubernetes.pods import Pod
from tests.planner.integrations.kubernetes.emulator import Emulator
from tests.planner.integrations.kubernetes.history import Change
from tests.planner.integrations.kubernetes.objects import NODES, PODS

FIRST_BACKOFF_S, MOST_BACKOFF_S = 1.0, 10.0
FLUSH_S, LEFTOVER_S = 30.0, 300.0
EXTENDER, FIT = "Extender", "NodeResourcesFit"


class Asks(Protocol):
    """An extender, as its HTTP client shows it; an error of it is an exception."""

    def filter(self, item: dict[str, Any], names: list[str]) -> list[str]: ...

    def bind(self, item: dict[str, Any], node: str) -> None: ...


@dataclass
class Queued:
    """One pod of the queue."""

    item: dict[str, Any]
    since_s: float
    """of its last try"""
    attempts: int = 0
    rejectors: frozenset[str] = frozenset()
    said: str = ""

    @property
    def ready_s(self) -> float:
        """When its backoff is over."""
        if not self.attempts:
            return self.since_s
        return self.since_s + min(FIRST_BACKOFF_S * 2 ** (self.attempts - 1), MOST_BACKOFF_S)


@dataclass
class Scheduler:
    """One kube-scheduler; `step` does what is due. `beside`: where binding runs, None for at once."""

    emulator: Emulator
    ask: Asks
    clock: Callable[[], float]
    fits: Callable[[dict[str, Any], dict[str, str]], list[str]]
    """nodes that pass the other filters, for a pod and the nodes of those that are being bound, by uid"""
    beside: Executor | None = None
    active: dict[str, Queued] = field(default_factory=dict)
    """by uid, in this order; as the next three"""
    backoff: dict[str, Queued] = field(default_factory=dict)
    unschedulable: dict[str, Queued] = field(default_factory=dict)
    binding: dict[str, tuple[Queued, str, Future[None]]] = field(default_factory=dict)
    bound_s: dict[str, float] = field(default_factory=dict)
    """by name: when a pod was bound"""
    tries: list[str] = field(default_factory=list)
    """names of pods, one for each try"""
    leftover_s: float = LEFTOVER_S
    """after so long an unschedulable pod is tried without any event"""
    _seen: int = 0
    _flushed_s: float = -1e18

    def step(self) -> None:
        """Follow what has happened, then try all that is due once."""
        while self._seen < len(self.emulator.events):
            self._follow(self.emulator.events[self._seen])
            self._seen += 1
        self._settle()
        self._flush()
        for uid, one in list(self.backoff.items()):
            if one.ready_s <= self.clock():
                self.active[uid] = self.backoff.pop(uid)
        while self.active:
            uid = next(iter(self.active))
            self._try(uid, self.active.pop(uid))

    def _follow(self, change: Change) -> None:
        before, after = change.before, change.after
        if str(change.resource) == str(_of(NODES)) and self._is_of_node(before, after):
            self._move({EXTENDER, FIT})
        if str(change.resource) != str(_of(PODS)):
            return
        uid = str((after or before or {})["metadata"]["uid"])
        if after is not None and not Pod(after).node and not Pod(after).is_over:
            self._follow_waiting(uid, before, after)
            return
        for queue in (self.active, self.backoff, self.unschedulable):
            queue.pop(uid, None)
        if after is not None and Pod(after).node and (before is None or not Pod(before).node):
            self.bound_s[Pod(after).name] = self.clock()
            self._move({EXTENDER})
        elif before is not None and Pod(before).node and (after is None or Pod(after).is_over):
            self._move({EXTENDER, FIT})

    def _follow_waiting(self, uid: str, before: Any, after: dict[str, Any]) -> None:
        for queue in (self.active, self.backoff):
            if uid in queue:
                queue[uid].item = after
                return
        if uid in self.binding:
            return
        if uid not in self.unschedulable:
            self.active[uid] = Queued(after, self.clock())
            return
        one = self.unschedulable[uid]
        one.item = after
        if EXTENDER in one.rejectors and _stripped(before) != _stripped(after):
            self.backoff[uid] = self.unschedulable.pop(uid)

    @staticmethod
    def _is_of_node(before: Any, after: Any) -> bool:
        """Whether scheduling may have changed: heartbeats do not count."""

        def seen(item: Any) -> Any:
            conditions = {one["type"]: one["status"] for one in item["status"].get("conditions", ())}
            about = item["metadata"]
            return item["spec"], conditions, about.get("labels"), about.get("annotations")

        return before is None or after is None or seen(before) != seen(after)

    def _move(self, registered: set[str]) -> None:
        for uid, one in list(self.unschedulable.items()):
            if one.rejectors & registered:
                self.backoff[uid] = self.unschedulable.pop(uid)

    def _flush(self) -> None:
        if self.clock() < self._flushed_s + FLUSH_S:
            return
        self._flushed_s = self.clock()
        for uid, one in list(self.unschedulable.items()):
            if self.clock() - one.since_s > self.leftover_s:
                self.backoff[uid] = self.unschedulable.pop(uid)

    def _try(self, uid: str, one: Queued) -> None:
        """One scheduling cycle: an error goes to the backoff, a refusal to the unschedulable."""
        one.attempts += 1
        self.tries.append(Pod(one.item).name)
        names = self.fits(one.item, {other: node for other, (_, node, _) in self.binding.items()})
        kept, one.said = names, "no node fits" if not names else ""
        try:
            kept = self.ask.filter(copy.deepcopy(one.item), names) if names else []
        except Exception as error:
            one.since_s, one.said, one.rejectors = self.clock(), str(error), frozenset()
            self.backoff[uid] = one
            return
        if not kept:
            rejectors = {FIT} if len(names) < self._num_nodes() else set()
            one.since_s, one.rejectors = self.clock(), frozenset(rejectors | ({EXTENDER} if names else set()))
            self.unschedulable[uid] = one
            return
        self._bind(uid, one, kept[0])

    def _num_nodes(self) -> int:
        return len(self.emulator.all(NODES))

    def _bind(self, uid: str, one: Queued, node: str) -> None:
        if self.beside is not None:
            self.binding[uid] = (one, node, self.beside.submit(self.ask.bind, one.item, node))
            return
        done: Future[None] = Future()
        try:
            self.ask.bind(one.item, node)
            done.set_result(None)
        except Exception as error:
            done.set_exception(error)
        self.binding[uid] = (one, node, done)
        self._settle()

    def _settle(self) -> None:
        for uid, (one, _, done) in list(self.binding.items()):
            if not done.done():
                continue
            del self.binding[uid]
            error = done.exception()
            if error is not None:
                one.since_s, one.said, one.rejectors = self.clock(), str(error), frozenset()
                self.backoff[uid] = one
                self._move({EXTENDER, FIT})


def _of(resource: str) -> Any:
    import kmock

    return kmock.resource(resource)


def _stripped(item: Any) -> Any:
    """What of a pod that waits is an event: not its status, nor what the API or finalizers keep on it."""
    about = {key: one for key, one in item["metadata"].items() if key not in ("resourceVersion", "finalizers")}
    return about, item["spec"]
