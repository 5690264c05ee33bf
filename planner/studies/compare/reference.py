"""One reference for each job on all variants, so that their values, bounds and energies compare."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from planner.candidates.expand import list_options
from planner.candidates.listing import Listings
from planner.candidates.named_errors import naming
from planner.model.instance import Instance
from planner.model.job import Job, Reference
from planner.studies.compare.grid import Variant
from planner.whatif.comparable import measured_against

Key = tuple[str, str]
"""name and workload: the same name with another workload is another job, whose speed says nothing beside this one's"""


def measured_alike(variants: Sequence[Variant]) -> list[Variant]:
    """Variants whose jobs are all measured against the first file as it is written, a single one as it is.

    A job that is not listed there is measured against the next file that lists it, then the next variant; one that is
    listed nowhere keeps its own.
    """
    if len(variants) < 2:
        return list(variants)
    found: dict[Key, Reference] = {}
    for where, instance in _in_order(variants):
        with naming(where, instance):
            _add(instance, found)
    return [replace(variant, instance=_measured(variant.instance, found)) for variant in variants]


def _in_order(variants: Sequence[Variant]) -> Iterator[tuple[str, Instance]]:
    """Each file as it is written, then all variants."""
    yield from {id(variant.base): (variant.where, variant.base) for variant in variants}.values()
    yield from ((variant.where, variant.instance) for variant in variants if variant.instance is not variant.base)


def _add(instance: Instance, found: dict[Key, Reference]) -> None:
    """References of the jobs that have none yet."""
    listings = Listings(instance.cluster, instance.all_jobs)
    for job in instance.all_jobs:
        if _key(job) not in found:
            options = list_options(instance, job, listings)
            if len(options) or job.reference is not None:
                found[_key(job)] = options.reference


def _key(job: Job) -> Key:
    return job.name, job.workload.model_dump_json()


def _measured(instance: Instance, found: dict[Key, Reference]) -> Instance:
    return measured_against(instance, {job.name: found[_key(job)] for job in instance.all_jobs if _key(job) in found})


def differing_jobs(instances: Sequence[Instance]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Of each instance the jobs (name and workload) that others lack; nothing where all have the same."""
    jobs = [{_key(job): job.name for job in instance.all_jobs} for instance in instances]
    shared = set(jobs[0]).intersection(*jobs[1:])
    extra = [tuple(name for key, name in of.items() if key not in shared) for of in jobs]
    return tuple((instance.name, names) for instance, names in zip(instances, extra, strict=True) if names)
