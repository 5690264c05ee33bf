"""Schedules by CP-SAT: for every chunk the routes that it takes and when, all at once.

Each rank that gets a chunk gets it once, over one route, from a rank that has it; a link carries one chunk at a time.
Source of the idea, transfers of chunks as variables over time: Liu et al., *TE-CCL* (SIGCOMM 2024); intervals in place
of epochs are ours.
"""

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace

from ortools.sat.python import cp_model

from costmodel.collectives.synthesis.network import Link, Network, Path, Route
from costmodel.collectives.synthesis.timed import TimedSchedule, Transfer, as_early_as_possible
from planner.formulation.solver import new_solver

TICKS = 4000
"""of the time of the schedule that is to be improved"""


@dataclass(frozen=True)
class ExactOptions:
    """How long to search, and with what."""

    time_limit_s: float
    seed: int
    workers: int | None
    """threads; None: all cores"""
    should_stop: Callable[[], bool]


def improved(start: TimedSchedule, bound_s: float, options: ExactOptions) -> TimedSchedule:
    """A schedule of the same chunks that takes no longer, an all-gather, a broadcast or an all-to-all."""
    tick_s = start.finish_s / TICKS
    network = in_ticks(start.network, start.chunk_bytes, tick_s)
    hint = as_early_as_possible(replace(start, network=network, chunk_bytes=1.0))
    model = _Model(hint, math.floor(bound_s / tick_s))
    transfers = model.solve(options)
    if transfers is None:
        return start
    found = as_early_as_possible(replace(start, transfers=transfers))
    return min(start, found, key=lambda each: each.finish_s)


def in_ticks(network: Network, chunk_bytes: float, tick_s: float) -> Network:
    """The network for a chunk of one byte, all times whole numbers of ticks, rounded up."""

    def ticked(link: Link) -> Link:
        alpha, busy = math.ceil(link.alpha_s / tick_s), math.ceil(chunk_bytes / link.bytes_per_s / tick_s)
        return replace(link, alpha_s=float(alpha), bytes_per_s=1 / max(busy, 1))

    return replace(network, links=tuple(ticked(link) for link in network.links))


class _Model:
    """Variables of one schedule; times in ticks."""

    def __init__(self, hint: TimedSchedule, bound: int) -> None:
        self.model, self.schedule = cp_model.CpModel(), hint
        self.horizon = round(hint.finish_s)
        self.takes: dict[tuple[int, Path], tuple[cp_model.IntVar, cp_model.IntVar]] = {}
        """(chunk, route) -> whether it goes there, and when"""
        self.intervals: defaultdict[int, list[cp_model.IntervalVar]] = defaultdict(list)
        self.finish = self.model.new_int_var(min(bound, self.horizon), self.horizon, "")
        sources, ends = _ends(hint)
        for chunk, source in enumerate(sources):
            if ends[chunk]:
                self._chunk(chunk, source, ends[chunk])
        for intervals in self.intervals.values():
            self.model.add_no_overlap(intervals)
        self._hint()
        self.model.minimize(self.finish)

    def _chunk(self, chunk: int, source: int, ends: frozenset[int]) -> None:
        model, network = self.model, self.schedule.network
        there = [model.new_int_var(0, self.horizon, "") for _ in range(network.ranks)]
        model.add(there[source] == 0)
        into: defaultdict[int, list[cp_model.IntVar]] = defaultdict(list)
        for route in network.routes:
            if route.destination != source:
                into[route.destination].append(self._route(chunk, route, there))
        is_there = [model.new_bool_var("") for _ in range(network.ranks)]
        model.add(is_there[source] == 1)
        for rank in (rank for rank in range(network.ranks) if rank != source):
            model.add(sum(into[rank]) == is_there[rank])
            if rank in ends:
                model.add(is_there[rank] == 1)
                model.add(self.finish >= there[rank])
        for route in network.routes:
            if route.destination != source:
                model.add_implication(self.takes[chunk, route.links][0], is_there[route.source])

    def _route(self, chunk: int, route: Route, there: list[cp_model.IntVar]) -> cp_model.IntVar:
        model = self.model
        takes, start = model.new_bool_var(""), model.new_int_var(0, self.horizon, "")
        busy, time = round(route.busy_s(1.0)), round(route.time_s(1.0))
        for link in route.links:
            self.intervals[link].append(model.new_optional_fixed_size_interval_var(start, busy, takes, ""))
        model.add(start >= there[route.source]).only_enforce_if(takes)
        model.add(there[route.destination] >= start + time).only_enforce_if(takes)
        self.takes[chunk, route.links] = takes, start
        return takes

    def _hint(self) -> None:
        starts = {(each.chunk, each.links): round(each.start_s) for each in self.schedule.transfers}
        for place, (takes, start) in self.takes.items():
            self.model.add_hint(takes, place in starts)
            self.model.add_hint(start, starts.get(place, 0))

    def solve(self, options: ExactOptions) -> tuple[Transfer, ...] | None:
        """Transfers of the best schedule found, by time; None where there is none."""
        solver = new_solver()
        solver.parameters.max_time_in_seconds = max(options.time_limit_s, 0.01)
        solver.parameters.random_seed = options.seed
        solver.parameters.num_workers = options.workers or 0
        status = solver.solve(self.model, _Stop(options.should_stop))
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        found = [
            Transfer(chunk, links, float(solver.value(start)))
            for (chunk, links), (takes, start) in self.takes.items()
            if solver.value(takes)
        ]
        return tuple(sorted(found, key=lambda each: each.start_s))


class _Stop(cp_model.CpSolverSolutionCallback):
    """Ends a search that its caller no longer wants."""

    def __init__(self, should_stop: Callable[[], bool]) -> None:
        super().__init__()
        self.should_stop = should_stop

    def on_solution_callback(self) -> None:
        if self.should_stop():
            self.stop_search()


def _ends(schedule: TimedSchedule) -> tuple[list[int], list[frozenset[int]]]:
    """Where each chunk begins, and who must have it."""
    ranks, parts = schedule.network.ranks, schedule.parts
    everyone = frozenset(range(ranks))
    if schedule.collective == "broadcast":
        return [0] * parts, [everyone - {0}] * parts
    if schedule.collective == "all_gather":
        sources = [chunk // parts for chunk in range(ranks * parts)]
        return sources, [everyone - {source} for source in sources]
    pairs = [(chunk // parts // ranks, chunk // parts % ranks) for chunk in range(ranks * ranks * parts)]
    return [source for source, _ in pairs], [frozenset({end}) - {source} for source, end in pairs]
