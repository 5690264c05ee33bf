"""The best schedule of a collective on a network: families, quick trials and CP-SAT, with a bound beside it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from costmodel.collectives.interpret import interpret
from costmodel.collectives.ladder import Collective
from costmodel.collectives.schedule import Schedule
from costmodel.collectives.synthesis.bounds import Bound, bound_of
from costmodel.collectives.synthesis.check import faults_of
from costmodel.collectives.synthesis.families import FamilyTime, best_family
from costmodel.collectives.synthesis.network import Network
from costmodel.collectives.synthesis.timed import TimedSchedule, backwards, one_after_the_other
from costmodel.collectives.synthesis.trials import PATIENCE, CollectiveQuestion, TrialSettings, settings_tried
from costmodel.collectives.synthesis.written import written_out
from planner.model.errors import RefusedPlanError
from planner.synthesis.exact import ExactOptions, improved
from planner.synthesis.exchange_flows import exchange_flows

MOST_TRANSFERS = 12_000
"""of a schedule that is looked for"""
MOST_INTERVALS = 4_000
"""of a CP-SAT model"""
SHARE_OF_TRIALS = 0.7
"""of the time limit, before CP-SAT begins"""
SHARE_OF_FIRST_TRIALS = 0.5
"""of the time of trials, on settings that were not tried before"""
GREED = 20
"""settings that are 10 % slower than the best get 1.1 ** GREED times less time"""
CLOSED = 1 + 1e-9
"""a time within this factor of the bound is optimal"""


def _ignore(source: str, time_s: float, elapsed_s: float) -> None:
    """Where nobody asks for progress."""


@dataclass(frozen=True)
class SynthesisOptions:
    """How long to search, and whom to tell."""

    time_limit_s: float = 20.0
    seed: int = 0
    workers: int | None = None
    """threads of CP-SAT; None: all cores"""
    on_progress: Callable[[str, float, float], None] = _ignore
    """what found a better schedule, its time, and the seconds since the start"""
    should_stop: Callable[[], bool] = lambda: False


@dataclass(frozen=True)
class Synthesis:
    """The quickest schedule found."""

    network: Network
    collective: Collective
    message_bytes: float
    time_s: float
    bound: Bound
    source: str
    """what found it"""
    family: FamilyTime
    """the best of the families on the same network"""
    timed: TimedSchedule | None
    """absent where a family is quicker than all that was synthesized"""
    written: Schedule
    """in rounds"""

    @property
    def gap(self) -> float:
        """How much longer than the bound it takes: 0.03 is 3 %."""
        return max(self.time_s / self.bound.time_s - 1, 0.0) if self.bound.time_s > 0 else 0.0


def synthesize(
    network: Network, collective: Collective, message_bytes: float, options: SynthesisOptions | None = None
) -> Synthesis:
    """The quickest schedule found in a time limit; never slower than a family.

    RefusedPlanError, an error of this program, for a schedule that its check refuses.
    """
    search = _Search(network, collective, message_bytes, options or SynthesisOptions())
    search.run()
    found = search.found()
    faults = [*(faults_of(found.timed) if found.timed is not None else ()), *interpret(found.written)]
    if faults:
        raise RefusedPlanError(faults, None)
    return found


@dataclass
class _Tried:
    """Trials with the same settings so far."""

    count: int = 0
    spent_s: float = 0.0
    finish_s: float = float("inf")
    """of the best of them"""


@dataclass
class _Search:
    """The best schedule so far, and where time is left."""

    network: Network
    collective: Collective
    message_bytes: float
    options: SynthesisOptions
    best: TimedSchedule | None = None
    source: str = ""
    by_parts: dict[int, TimedSchedule] = field(default_factory=dict)
    """best schedule of each number of parts"""
    tried: "dict[TrialSettings, _Tried]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.start_s = time.monotonic()
        self.bound = bound_of(self.network, self.collective, self.message_bytes)
        self.family = best_family(self.network, self.collective, self.message_bytes)
        self.options.on_progress(f"family {self.family.name}", self.family.time_s, self.elapsed_s)

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self.start_s

    def found(self) -> Synthesis:
        """The best schedule so far, or a family that is quicker."""
        asked, best, family = (self.network, self.collective, self.message_bytes), self.best, self.family
        if best is None or family.time_s < best.finish_s:
            name = f"family {family.name}"
            return Synthesis(*asked, family.time_s, self.bound, name, family, None, family.schedule)
        return Synthesis(*asked, best.finish_s, self.bound, self.source, family, best, written_out(best))

    def run(self) -> None:
        """Trials of all parts, more of the best ones, then CP-SAT where its models are small."""
        question = self._question()
        if question is None or self.network.ranks == 1:
            return
        self._trials(question)
        self._improve()

    def _trials(self, question: CollectiveQuestion) -> None:
        """Settings that were not tried yet, from few parts to many, and between them those that were quickest so far,
        with random changes."""
        untried, first_s, begin_s = settings_tried(question, MOST_TRANSFERS), 0.0, time.monotonic()
        fresh = next(untried, None)
        while not self.tried or not self._is_over(SHARE_OF_TRIALS * self.options.time_limit_s):
            now_s = time.monotonic()
            if fresh is not None and first_s <= SHARE_OF_FIRST_TRIALS * (now_s - begin_s):
                self._try(question, fresh)
                first_s += time.monotonic() - now_s
                fresh = next(untried, None)
            else:
                self._try(question, min(self.tried, key=self._turn))

    def _turn(self, settings: TrialSettings) -> float:
        assert self.best is not None
        tried = self.tried[settings]
        return tried.spent_s * (tried.finish_s / self.best.finish_s) ** GREED

    def _try(self, question: CollectiveQuestion, settings: TrialSettings) -> None:
        begin_s, tried = time.monotonic(), self.tried.setdefault(settings, _Tried())
        found = question.trial(settings, tried.count, self.options.seed)
        self._note(found, "trial")
        tried.count += 1
        tried.spent_s += time.monotonic() - begin_s
        tried.finish_s = min(tried.finish_s, found.finish_s)

    def _question(self) -> CollectiveQuestion | None:
        """What trials answer, with the flows of an all-to-all and the bound that they prove."""
        if self.collective != "all_to_all":
            return CollectiveQuestion(self.network, self.collective, self.message_bytes)
        found = exchange_flows(self.network, self.options.time_limit_s)
        if found is None:
            return None
        alpha_s = min(link.alpha_s for link in self.network.links)
        flow_s = found.seconds_per_byte * self.message_bytes / self.network.ranks
        if flow_s + alpha_s > self.bound.time_s:
            self.bound = Bound(flow_s + alpha_s, "flows on the busiest links")
        return CollectiveQuestion(self.network, self.collective, self.message_bytes, found.flows)

    def _is_over(self, limit_s: float) -> bool:
        is_optimal = self.best is not None and self.best.finish_s <= self.bound.time_s * CLOSED
        return is_optimal or self.elapsed_s > limit_s or self.options.should_stop()

    def _note(self, found: TimedSchedule, source: str) -> None:
        before = self.by_parts.get(found.parts)
        if before is None or found.finish_s < before.finish_s:
            self.by_parts[found.parts] = found
        if self.best is None or found.finish_s < self.best.finish_s:
            self.best, self.source = found, f"{source}, {found.parts} parts"
            self.options.on_progress(self.source, found.finish_s, self.elapsed_s)

    def _improve(self) -> None:
        """CP-SAT on the numbers of parts whose models are small, the quickest first."""
        small = [parts for parts in self.by_parts if self._intervals(parts) <= MOST_INTERVALS]
        small.sort(key=lambda parts: self.by_parts[parts].finish_s)
        for place, parts in enumerate(small):
            if self._is_over(self.options.time_limit_s):
                return
            left_s = (self.options.time_limit_s - self.elapsed_s) / (len(small) - place)
            self._note(self._improved(self.by_parts[parts], left_s), "CP-SAT")

    def _intervals(self, parts: int) -> int:
        ranks, routes = self.network.ranks, self.network.routes
        chunks = parts * {"broadcast": 1, "all_to_all": ranks * (ranks - 1)}.get(self.collective, ranks)
        return chunks * sum(len(route.links) for route in routes)

    def _improved(self, found: TimedSchedule, limit_s: float) -> TimedSchedule:
        """Of what adds up, the reduce-scatter as an all-gather on the links turned round, then the all-gather."""
        options, network = self.options, self.network
        if self.collective in ("broadcast", "all_gather", "all_to_all"):
            own = ExactOptions(limit_s, options.seed, options.workers, options.should_stop)
            return improved(found, self.bound.time_s, own)
        halves = [self._gathered(network.reversed(), found.parts, limit_s / 2)]
        scatter = backwards(halves[0], network)
        if self.collective == "reduce_scatter":
            return scatter
        return one_after_the_other(scatter, self._gathered(network, found.parts, limit_s / 2))

    def _gathered(self, network: Network, parts: int, limit_s: float) -> TimedSchedule:
        """An all-gather of the same chunks, improved."""
        question = CollectiveQuestion(network, "all_gather", self.message_bytes)
        trials = (question.trial(TrialSettings(parts, patience), 0, self.options.seed) for patience in PATIENCE)
        start = min(trials, key=lambda each: each.finish_s)
        own = ExactOptions(limit_s, self.options.seed, self.options.workers, self.options.should_stop)
        return improved(start, bound_of(network, "all_gather", self.message_bytes).time_s, own)
