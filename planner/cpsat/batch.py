"""Which jobs of a batch start, in which way and where, and which running jobs move for them: counts by server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ortools.sat.python import cp_model

from costmodel.pricing.servers_by_rack import ServersByRack
from planner.cpsat.make_room import RoomProblem
from planner.formulation.servers_by_rack import AskedOfRacks
from planner.formulation.solver import new_solver

RESOLUTION = 1000
"""steps of value within a level"""
MOST_WEIGHT = 2**58


@dataclass(frozen=True)
class Way:
    """One way to run a job."""

    part: int
    """accelerators that a server gives together"""
    parts: int
    most: int
    """parts that one server may give"""
    ports: int
    value: float
    servers_by_rack: ServersByRack | None = None
    """that it takes, one part of each"""

    @property
    def ranks(self) -> int:
        return self.part * self.parts


@dataclass(frozen=True)
class Entrant:
    """A job of the batch."""

    ways: tuple[Way, ...]
    level: int
    """value of a lower level goes before all of a higher one"""
    tenant: int
    servers: frozenset[int]
    """that it may use"""
    gain_s: int
    """accelerator-seconds that starting now saves"""


@dataclass(frozen=True)
class BatchRoom:
    """Servers, and what may change there."""

    room: RoomProblem
    together: tuple[tuple[int, ...], ...]
    """servers that one job may use together"""
    entered: frozenset[int]
    """servers that running jobs may move to"""
    quotas: tuple[tuple[int, int], ...]
    """accelerators and ports that each tenant may still take"""
    downtime_s: int
    """of a rank that moves"""
    gained_s: int
    """accelerator-seconds that are saved where nothing moves"""
    racks: tuple[int, ...] = ()
    """of each server; needed where ways ask for servers by rack"""


@dataclass(frozen=True)
class BatchPlan:
    """Jobs that start, and jobs that move."""

    starts: Mapping[int, tuple[Way, tuple[tuple[int, int], ...]]]
    """by number of the entrant, its way and how many parts on each server"""
    moves: Mapping[tuple[int, int, int], int]
    """number of jobs by (server they leave, their ranks, server they enter)"""


class BatchModel:
    """Most value level by level, then the fewest ranks that move, then the fewest servers of each job."""

    def __init__(self, hall: BatchRoom, entrants: Sequence[Entrant]) -> None:
        self._hall, self._entrants = hall, entrants
        self._cp = cp_model.CpModel()
        self._load: list[list[cp_model.LinearExprT]] = [[] for _ in hall.room.free]
        self._within = list(hall.room.free)
        for server, ranks, number in hall.room.guests:
            self._within[server] += ranks * number
        self._chosen: dict[tuple[int, int], list[cp_model.IntVar]] = {}
        self._counts: dict[tuple[int, int], list[tuple[int, cp_model.IntVar, cp_model.IntVar]]] = {}
        for number in range(len(entrants)):
            self._enter(number)
        self._left: dict[tuple[int, int], cp_model.IntVar] = {}
        self._entered: dict[tuple[int, int], cp_model.IntVar] = {}
        self._change_places()
        for load, within in zip(self._load, self._within, strict=True):
            self._cp.add(sum(load) <= within)
        self._keep_quotas()
        self._maximize()

    def _enter(self, number: int) -> None:
        """A job starts in one way on servers that it may use together, or not at all."""
        cp, entrant = self._cp, self._entrants[number]
        for w, way in enumerate(entrant.ways):
            for servers in self._hall.together:
                able = [s for s in servers if s in entrant.servers and self._within[s] >= way.part]
                room = {s: min(self._within[s] // way.part, way.most, way.parts) for s in able}
                if sum(room.values()) < way.parts:
                    continue
                here = cp.new_bool_var("")
                self._chosen.setdefault((number, w), []).append(here)
                counts = []
                for s, most in room.items():
                    count, used = cp.new_int_var(0, most, ""), cp.new_bool_var("")
                    cp.add(count <= most * used)
                    self._load[s].append(way.part * count)
                    counts.append((s, count, used))
                cp.add(sum(count for _, count, _ in counts) == way.parts * here)
                if way.servers_by_rack is not None:
                    racks = tuple(self._hall.racks[s] for s, _, _ in counts)
                    AskedOfRacks(way.servers_by_rack, racks).add(cp, [count for _, count, _ in counts], here)
                self._counts.setdefault((number, w), []).extend(counts)
        cp.add_at_most_one(self._of(number))

    def _of(self, number: int) -> list[cp_model.IntVar]:
        """Literals of all ways of a job."""
        ways = range(len(self._entrants[number].ways))
        return [literal for w in ways for literal in self._chosen.get((number, w), ())]

    def _change_places(self) -> None:
        """Running jobs stay or move, where what that costs is less than what they make room for saves."""
        cp, hall = self._cp, self._hall
        total: dict[int, int] = {}
        for server, ranks, number in hall.room.guests:
            left = self._left[server, ranks] = cp.new_int_var(0, number, "")
            self._load[server].append(ranks * (number - left))
            total[ranks] = total.get(ranks, 0) + number
        for ranks, number in total.items():
            for server in sorted(hall.entered):
                if self._within[server] >= ranks:
                    most = min(number, self._within[server] // ranks)
                    entered = self._entered[server, ranks] = cp.new_int_var(0, most, "")
                    self._load[server].append(ranks * entered)
            gone = [left for (_, each), left in self._left.items() if each == ranks]
            come = [entered for (_, each), entered in self._entered.items() if each == ranks]
            cp.add(sum(gone) == sum(come))
        self._moved = sum(ranks * left for (_, ranks), left in self._left.items())
        self._most_moved = sum(ranks * number for ranks, number in total.items())
        if total:
            saved = sum(self._entrants[n].gain_s * each for n in range(len(self._entrants)) for each in self._of(n))
            none = cp.new_bool_var("")
            cp.add(self._moved == 0).only_enforce_if(none)
            cp.add(hall.downtime_s * self._moved + hall.gained_s + 1 <= saved).only_enforce_if(~none)

    def _keep_quotas(self) -> None:
        for tenant, (accelerators, ports) in enumerate(self._hall.quotas):
            of_it = [
                (self._entrants[n].ways[w], literal)
                for (n, w), literals in self._chosen.items()
                for literal in literals
                if self._entrants[n].tenant == tenant
            ]
            self._cp.add(sum(way.ranks * literal for way, literal in of_it) <= accelerators)
            self._cp.add(sum(way.ports * literal for way, literal in of_it) <= ports)

    def _maximize(self) -> None:
        """All levels in one objective: one step of a level outweighs all that follows it."""
        levels = sorted({entrant.level for entrant in self._entrants})
        sizes = [sum(entrant.level == level for entrant in self._entrants) for level in levels]
        used = [used for counts in self._counts.values() for _, _, used in counts]
        rest = (self._most_moved + 1) * (len(used) + 1)
        resolution = RESOLUTION
        while resolution > 1 and rest * prod(resolution * size + 1 for size in sizes) > MOST_WEIGHT:
            resolution //= 2
        objective: list[cp_model.LinearExprT] = [-(len(used) + 1) * self._moved, -sum(used)]
        for level, size in zip(reversed(levels), reversed(sizes), strict=True):
            top = max((way.value for e in self._entrants if e.level == level for way in e.ways), default=0.0)
            for (n, w), literals in self._chosen.items():
                if self._entrants[n].level == level:
                    steps = max(1, round(resolution * self._entrants[n].ways[w].value / top)) if top > 0 else 1
                    objective.append(rest * steps * sum(literals))
            rest *= resolution * size + 1
        self._cp.maximize(sum(objective))

    def solve(self, time_limit_s: float) -> BatchPlan | None:
        """The best plan that was found in time; None without any."""
        solver = new_solver()
        solver.parameters.num_workers = 1
        solver.parameters.symmetry_level = solver.parameters.cp_model_probing_level = 0
        solver.parameters.max_time_in_seconds = time_limit_s
        if time_limit_s <= 0 or solver.solve(self._cp) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        starts = {}
        for (n, w), literals in self._chosen.items():
            if any(map(solver.boolean_value, literals)):
                counts = [(s, solver.value(count)) for s, count, _ in self._counts[n, w]]
                starts[n] = self._entrants[n].ways[w], tuple((s, count) for s, count in sorted(counts) if count)
        return BatchPlan(starts, self._moves(solver))

    def _moves(self, solver: cp_model.CpSolver) -> dict[tuple[int, int, int], int]:
        """Who leaves and who enters, in pairs; who would enter where it leaves stays."""
        moves: dict[tuple[int, int, int], int] = {}
        for ranks in sorted({ranks for _, ranks in self._left}):
            gone = [s for (s, each), left in self._left.items() if each == ranks for _ in range(solver.value(left))]
            come = [s for (s, each), here in self._entered.items() if each == ranks for _ in range(solver.value(here))]
            for server in set(gone).intersection(come):
                for _ in range(min(gone.count(server), come.count(server))):
                    gone.remove(server)
                    come.remove(server)
            for server, other in zip(gone, come, strict=True):
                moves[server, ranks, other] = moves.get((server, ranks, other), 0) + 1
        return moves

    def refuse(self, plan: BatchPlan) -> None:
        """These jobs cannot all have these servers, whatever the reason."""
        uses = []
        for (n, w), counts in self._counts.items():
            way, places = plan.starts.get(n, (None, ()))
            if way == self._entrants[n].ways[w]:
                taken = {s for s, _ in places}
                uses += [~used for s, _, used in counts if s in taken]
        self._cp.add_bool_or(uses)
