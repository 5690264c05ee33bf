"""Instance -> Problem: enumerate each job's candidates, score them, drop the dominated ones."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from costmodel.parallelism.configuration import Configuration
from costmodel.pricing.candidates import candidates_of
from costmodel.pricing.score import score
from costmodel.workloads import TransformerTraining
from planner.candidates.listing import Listing, Listings, OnPriced, untold
from planner.fabrics import plugin_of
from planner.fabrics.dominance import Dominance
from planner.fabrics.problem import JobOptions, Problem, must_run, row_of
from planner.fabrics.residents import may_stay
from planner.model.clock import Clock
from planner.model.cluster import Cluster
from planner.model.collector import resting_collector
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.job import Job, Reference, Resident

Floats = NDArray[np.float64]
GROWTH = 0.25
"""of the time of listing by the effort, as a power: on five fabrics 0.03 to 0.35 from 130 to 8,228 accelerators"""
ROUNDING = 1e-9
"""relative; speeds of one configuration may differ in the last digits with the rows they are scored among"""


@resting_collector()
def expand(
    instance: Instance,
    *,
    prune: bool = True,
    clock: Clock | None = None,
    last: Clock | None = None,
    on_priced: OnPriced = untold,
) -> Problem:
    """Candidates of every job with their scores; `prune` drops those that another one dominates.

    When the clock is over, jobs that may wait have a short list, and of what was not listed when the last clock was
    over, too, none, unless a bound on their value is known. All are listed before dominated rows are looked for.
    """
    jobs = instance.all_jobs
    listings, pruned = Listings(instance.cluster, jobs, on_priced), Undominated(instance)
    order = sorted(range(len(jobs)), key=lambda j: not must_run(jobs[j]))
    if clock is not None:
        _list_in_time([jobs[j] for j in order], listings, last or clock)
        if not listings.has_all:
            order.sort(key=lambda j: (not must_run(jobs[j]), not listings.has(jobs[j])))
    found = dict[int, JobOptions]()
    for j in order:
        job = jobs[j]
        on_priced(f"comparing candidates of {job.name}", len(found), len(jobs))
        is_short = clock is not None and clock.is_over and not must_run(job) and not pruned.has(job)
        if is_short and (listings.has(job) or job.reference is not None):
            found[j] = pruned.few_of(job, listings)
        elif is_short and found:
            found[j] = _unlisted(job, next(iter(found.values())))
        else:
            is_pruned = prune and not (instance.placed_steps and _offloads(listings.of(job)))
            found[j] = pruned.of(job, listings) if is_pruned else list_options(instance, job, listings)
    return Problem(instance, tuple(found[j] for j in range(len(found))))


def _offloads(listing: Listing) -> bool:
    """True if some row keeps something in a second tier: until that is placed no row replaces another one."""
    return bool((listing.candidates.mappings.offload[listing.candidates.mapping] > 0).any())


def _list_in_time(jobs: Iterable[Job], listings: Listings, last: Clock) -> None:
    """List what jobs ask for until the clock is over, what takes long for few jobs last, and not at all where time is
    too short for it; what must run is listed later anyway. Time grows far less than the effort: sizes share blocks
    and plans."""
    took_s, before = 0.0, 1
    asked = listings.first_of_each(jobs)
    for job in sorted(asked, key=lambda job: (not must_run(job), listings.effort_of_each(job))):
        effort = listings.effort(job)
        seconds = took_s * (effort / before) ** GROWTH if isinstance(job.workload, TransformerTraining) else 0.0
        if not last.has(seconds):
            continue
        started = time.perf_counter()
        listings.of_all_sizes(job)
        if isinstance(job.workload, TransformerTraining):
            took_s, before = time.perf_counter() - started, effort


def _unlisted(job: Job, other: JobOptions) -> JobOptions:
    """No candidates of a job, as nobody looked for them."""
    nothing = replace(other, current=None).take(np.zeros(0, dtype=np.int64))
    return replace(nothing, job=job, num_listed=0, can_stay=False, is_listed=False, is_bounded=False)


class Undominated:
    """Rows that stay, found once for jobs that ask for the same with the same utility: weights change no order."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._comparisons: dict[str, Callable[[NDArray[np.int64]], NDArray[np.int64]]] = {}
        self._kept: dict[tuple[str, tuple[int, ...]], Listing] = {}
        self._alike: dict[tuple[object, ...], JobOptions] = {}
        self._few: dict[str, Listing] = {}
        self._few_of_sizes: dict[tuple[str, tuple[int, ...]], Listing] = {}
        self._few_alike: dict[tuple[object, ...], JobOptions] = {}
        self._running: dict[tuple[str, Configuration], JobOptions] = {}
        self._weighed: dict[tuple[int, float, str, float], JobOptions] = {}

    def has(self, job: Job) -> bool:
        """True if a job that asks for the same has been asked for."""
        return self._key(job) in self._comparisons

    def few_of(self, job: Job, listings: Listings) -> JobOptions:
        """A short list of a job's candidates, one for all that ask for the same."""
        alike = _alike(job)
        if alike not in self._few_alike:
            every = _compared(job, listings)
            few, (number, reference) = self._few_of(job, every), every.reference_of(job.sizes)
            options = _options(self._instance, job, few, job.reference or reference)
            self._few_alike[alike] = replace(options, num_listed=number, is_listed=len(few) == number)
        return self._few_alike[alike].of(job)

    def _few_of(self, job: Job, every: Listing) -> Listing:
        """The short list among all rows compared, found once for all sizes, of the job's sizes."""
        key = self._key(job)
        if key not in self._few:
            options = _options(self._instance, job, every, job.reference or every.reference)
            self._few[key] = _few(options, every)
        own = key, job.sizes
        if own not in self._few_of_sizes:
            few = self._few[key]
            self._few_of_sizes[own] = few.take(few.of_sizes(job.sizes))
        return self._few_of_sizes[own]

    def of(self, job: Job, listings: Listings) -> JobOptions:
        """The candidates of a job that no other one replaces."""
        if isinstance(job, Resident):
            return self._of_resident(job, listings)
        alike = _alike(job)
        if alike not in self._alike:
            key, whole = (self._key(job), job.sizes), listings.of(job)
            if key not in self._kept:
                self._kept[key] = whole.take(self._kept_of(job, listings))
            options = _options(self._instance, job, self._kept[key], job.reference or whole.reference)
            self._alike[alike] = replace(options, num_listed=len(whole))
        return self._alike[alike].of(job)

    def _of_resident(self, job: Resident, listings: Listings) -> JobOptions:
        """The same and its current row; found once for residents that ask for the same and run alike."""
        key = f"{self._key(job)} {job.sizes} {job.reference}", job.configuration
        if key not in self._running:
            listed = list_options(self._instance, job, listings)
            if len(listed) == len(listings.of(job)):
                rows = np.union1d(self._kept_of(job, listings), [listed.current])
            else:
                rows = self._dominance.kept_rows(listed, self._instance)
            self._running[key] = listed.take(rows)
        return self._worth(job, self._running[key]).of(job, can_stay=may_stay(self._instance.cluster, job))

    def _worth(self, job: Resident, alike: JobOptions) -> JobOptions:
        """What the rows of a resident that runs alike are worth to one of this weight."""
        key = id(alike), job.weight, job.utility, job.step_at
        if key not in self._weighed:
            listing = Listing(alike.candidates, alike.scores, alike.shapes)
            options = _options(self._instance, job, listing, alike.reference)
            self._weighed[key] = replace(options, current=alike.current, num_listed=alike.num_listed)
        return self._weighed[key]

    def _kept_of(self, job: Job, listings: Listings) -> NDArray[np.int64]:
        """Rows of the job's own listing that stay."""
        key, every = self._key(job), _compared(job, listings)
        if key not in self._comparisons:
            options = _options(self._instance, job, every, job.reference or every.reference)
            self._comparisons[key] = self._dominance.comparison(options, self._instance)
        rows = every.of_sizes(job.sizes)
        return np.searchsorted(rows, self._comparisons[key](rows))

    def _key(self, job: Job) -> str:
        key = f"{job.listing_json} {job.utility}"
        return f"{key} {job.sizes} {job.step_at} {job.reference}" if _is_by_reference(job) else key

    @property
    def _dominance(self) -> Dominance:
        return plugin_of(self._instance.cluster.fabric).dominance


def _few(options: JobOptions, every: Listing) -> Listing:
    """The short list of a job's rows, and those that stand for all others beside it."""
    starts = plugin_of(options.fabric).starts
    few, short = starts.few_rows(options), starts.short_rows(options)
    if short is None:
        return every.take(few)
    rows = np.union1d(few, short)
    return replace(every.take(rows), short=np.isin(rows, short, assume_unique=True))


def _alike(job: Job) -> tuple[object, ...]:
    """Equal for jobs with the same candidates of the same values."""
    return job.listing_json, job.sizes, job.weight, job.utility, job.step_at, job.reference


def _compared(job: Job, listings: Listings) -> Listing:
    """Rows that are compared at once: of all sizes, where no reference of the job decides."""
    return listings.of(job) if _is_by_reference(job) else listings.of_all_sizes(job)


def _is_by_reference(job: Job) -> bool:
    """True if a reference of the job decides which rows are worth the same."""
    return job.utility == "step"


def list_options(instance: Instance, job: Job, listings: Listings | None = None) -> JobOptions:
    """Every candidate of one job, nothing dropped; `listings` has those of all jobs."""
    listing = (listings or Listings(instance.cluster, (job,))).of(job)
    if not isinstance(job, Resident):
        return _options(instance, job, listing, job.reference or listing.reference)
    listing, current = _with_current(instance.cluster, job, listing)
    options = _options(instance, job, listing, job.reference or listing.reference)
    return replace(options, current=current, can_stay=may_stay(instance.cluster, job))


def _options(instance: Instance, job: Job, listing: Listing, reference: Reference) -> JobOptions:
    """What a listing is worth to a job that is measured against a reference."""
    scores = listing.scores
    return JobOptions(
        job=job,
        fabric=instance.cluster.fabric,
        candidates=listing.candidates,
        scores=scores,
        shapes=listing.shapes,
        reference=reference,
        value=job.weight * utility(job, listing.speed / reference.speed),
        energy=job.weight * listing.energy_per_work_j / reference.energy_per_work,
        num_listed=len(listing),
        short=listing.short,
    )


def utility(job: Job, relative: Floats) -> Floats:
    """g(speed over that of the reference), shape (C,)."""
    if job.utility == "sqrt":
        return np.asarray(np.sqrt(relative))
    return np.asarray(
        relative if job.utility == "linear" else (relative >= job.step_at * (1 - ROUNDING)).astype(np.float64)
    )


def _with_current(cluster: Cluster, job: Resident, listing: Listing) -> tuple[Listing, int]:
    """The listing with the resident's current configuration in it, and its row."""
    row = row_of(listing.candidates, job.configuration)
    if row is not None:
        return listing, row
    configurations = [*map(listing.candidates.configuration, range(len(listing.candidates))), job.configuration]
    try:
        candidates = candidates_of(configurations, job.workload, cluster.device, cluster.fabric)
    except ValueError as error:
        raise InputError(f"residents[{job.name}]", "configuration", str(error)) from None
    scores = score(candidates, cluster.device, cluster.fabric)
    return Listing.of(candidates, scores, job, cluster.fabric), len(configurations) - 1
