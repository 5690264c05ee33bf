"""Circuits chosen again on the same devices: those that were on stay, first fit routes the others."""

from collections.abc import Mapping, Sequence

from planner.fabrics.lightpath.ranked_circuits import circuits_of, completed
from planner.fabrics.lightpath.rwa import Spectrum
from planner.fabrics.ranked_assignment import RankedAssignment
from planner.fabrics.rewiring import WantedCircuits
from planner.model.cluster import Cluster
from planner.model.plan import Circuit, HeldCircuits

Kept = tuple[Mapping[int, Circuit], ...]
"""circuits of a job that stay, by configuration and position"""


class FirstFitRewiring:
    """First fit of routes and wavelengths around the circuits that stay."""

    def __init__(self, cluster: Cluster) -> None:
        self._spectrum = Spectrum(cluster)

    def first_fit(
        self, jobs: Sequence[RankedAssignment], wanted: Sequence[WantedCircuits]
    ) -> list[tuple[HeldCircuits, ...]] | None:
        kept = [self._kept(job, rows) for job, rows in zip(jobs, wanted, strict=True)]
        chosen = [_only_kept(job, rows) for job, rows in zip(jobs, kept, strict=True)]
        for j, job in enumerate(jobs):
            if all(len(rows) == len(links) for rows, links in zip(kept[j], job.links, strict=True)):
                continue
            self._spectrum.taken = {}
            for other, held in enumerate(chosen):
                if other != j:
                    self._spectrum.commit(held)
            own = completed(job, self._spectrum, job.devices, kept[j])
            if own is None:
                return None
            chosen[j] = own
        return chosen

    def _kept(self, job: RankedAssignment, wanted: WantedCircuits) -> Kept:
        lights = [
            [old or now for old, now in zip(rows, beams, strict=True)]
            for rows, beams in zip(wanted, job.lights, strict=True)
        ]
        written = circuits_of(self._spectrum.fabric, job, job.devices, lights)
        return tuple(
            {i: circuit for i, circuit in enumerate(held.circuits) if rows[i] is not None}
            for held, rows in zip(written, wanted, strict=True)
        )


def _only_kept(job: RankedAssignment, kept: Kept) -> tuple[HeldCircuits, ...]:
    return tuple(
        HeldCircuits(dimension=held.dimension, circuits=tuple(rows[i] for i in sorted(rows)))
        for held, rows in zip(job.assignment.circuits, kept, strict=True)
    )
