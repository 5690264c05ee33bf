"""What becomes of jobs when a part fails: placed anew, evicted, given whole spare servers, or repaired in place."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, get_args

from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.placement import Placement
from planner.model.cluster import Cluster
from planner.simulate.in_place import hit_servers, keep_others, swap_servers
from planner.simulate.make_room import rescue
from planner.simulate.placer import Placer
from planner.simulate.runs import Run, Runs

Response = Literal["place_again", "requeue", "spare_server", "repair"]
RESPONSES: tuple[Response, ...] = get_args(Response)
RESPONSE_MEANINGS: dict[Response, str] = {
    "place_again": "placed anew by the policy at once, in the queue where it finds no place",
    "requeue": "evicted, and placed anew when the queue comes to it",
    "spare_server": "given a whole spare server for each that a fault took, which is drained until it is repaired (in "
    "a torus of cubes a server is a cube); in the queue where there is none",
    "repair": "left its other accelerators and given free or spare ones for what failed; else placed anew; else others "
    "make room; in the queue where all of that fails",
}
Moves = Sequence[tuple[Run, Placement]]
WITH_SPARES = frozenset({"spare_server", "repair"})
"""responses for which spare servers are kept"""


class Recovery:
    """One response on one replay, with whole servers kept free for it."""

    def __init__(self, response: Response = "place_again", num_spares: int = 0) -> None:
        self.response = response
        self._wanted = num_spares if response in WITH_SPARES else 0
        self._spares: list[int] = []
        self._swaps: dict[int, int] = {}
        """by server that failed now: the spare in its place"""
        self.num_down = 0
        """accelerators that do not work now"""
        self._own: dict[int, list[Device]] = {}
        """by job that stopped: what works of its devices, kept for it until its turn comes"""

    @property
    def is_default(self) -> bool:
        """True if jobs are placed anew as a failure model alone has it."""
        return self.response == "place_again"

    @property
    def num_spares(self) -> int:
        """Spare servers that are kept free now."""
        return len(self._spares)

    def begin(self, state: FreeState) -> None:
        """A replay begins with nothing placed."""
        self.num_down = state.cluster.fabric.num_devices - state.num_free

    def refill(self, state: FreeState) -> bool:
        """Keep servers that are wholly free, the last ones first, as far as spares are missing; whether there were."""
        missing = self._wanted - len(self._spares)
        if missing <= 0:
            return False
        whole = [server for server, free in enumerate(state.any) if free == state.per_server][-missing:]
        for server in whole:
            self._keep(state, server)
        return bool(whole)

    def _keep(self, state: FreeState, server: int) -> None:
        state.hold(_slots(state, server))
        self._spares.append(server)

    def _let_go(self, state: FreeState, server: int) -> None:
        self._spares.remove(server)
        state.give_back(_slots(state, server))

    def strike(
        self, cluster: Cluster, state: FreeState, runs: Runs, now_s: float, make: Callable[[FreeState], Placer]
    ) -> tuple[Placer, list[Run]]:
        """Parts fail or work again: jobs that stand on one stop. A placer on the new state, and they."""
        new = FreeState.empty(cluster)
        self.begin(new)
        broken = [run for run in runs.running.values() if new.broken(run.placement)]
        for run in broken:
            runs.interrupt(run, now_s, state)
        for run in runs.running.values():
            working = new.working(run.placement)
            new.take(working)
            if not self.is_default:
                runs.keep(run, working)
        placer, held, self._spares, self._swaps = make(new), self._spares, [], {}
        for server in held:
            if new.any[server] == new.per_server:
                self._keep(new, server)
        if self.response in WITH_SPARES:
            for run in broken:
                self._own[run.job] = [device for device in run.placement.held if device not in new.failed]
                new.hold(self._own[run.job])
        return placer, sorted(broken, key=lambda run: run.job)

    def again(self, run: Run, placer: Placer, running: Iterable[Run]) -> tuple[Placement, Moves] | None:
        """A place, taken, for a job that stopped, and new ones for those that make room; None: it goes to the queue."""
        placement: Placement | None = None
        placer.state.give_back(self._own.pop(run.job, []))
        if self.response == "place_again":
            placement = placer.place(run.kind)
        elif self.response == "spare_server":
            placement = self._swapped(run, placer.state)
        elif self.response == "repair":
            return self._repaired(run, placer, running)
        return None if placement is None else (placement, ())

    def _swapped(self, run: Run, state: FreeState) -> Placement | None:
        """Whole servers of the same rack for those that failed; one spare for all jobs of a server."""
        for server in sorted(hit_servers(state, run.placement) - self._swaps.keys()):
            rack = next(servers for servers in state.together if server in servers)
            spare = next((each for each in self._spares if each in rack), None)
            if spare is None:
                return None
            self._let_go(state, spare)
            self._swaps[server] = spare
        return swap_servers(state, run.placement, self._swaps)

    def _repaired(self, run: Run, placer: Placer, running: Iterable[Run]) -> tuple[Placement, Moves] | None:
        """First without the spares, then with them."""
        state = placer.state
        placement = keep_others(state, run.placement)
        if placement is None and self._spares:
            for server in [*self._spares]:
                self._let_go(state, server)
            placement = keep_others(state, run.placement)
        placement = placement or placer.place(run.kind)
        if placement is not None:
            return placement, ()
        return rescue(state, run.kind, running) if run.kind.held <= state.num_free else None


def _slots(state: FreeState, server: int) -> list[Device]:
    return [(server, slot) for slot in range(state.per_server)]
