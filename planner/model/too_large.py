"""Sizes that jobs list and no job can ever have: more accelerators than a rack, or all joined racks, have."""

from collections.abc import Sequence

from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.phrases import accelerators


def sizes_too_large(instance: Instance, job: Job) -> tuple[int, ...]:
    """Sizes of a job that are left out, ascending."""
    most = instance.cluster.fabric.most_devices_of_a_job
    return tuple(size for size in job.sizes if size > most)


def told_too_large(instance: Instance, job: Job) -> str | None:
    """99 is left out, a rack has 64 accelerators; None where no size is."""
    sizes = sizes_too_large(instance, job)
    if not sizes:
        return None
    fabric = instance.cluster.fabric
    where = "the cluster" if fabric.links_racks or fabric.upper_layer else "a rack"
    verb = "is" if len(sizes) == 1 else "are"
    return f"{_numbers(sizes)} {verb} left out, {where} has {accelerators(fabric.most_devices_of_a_job)}"


def _numbers(sizes: Sequence[int]) -> str:
    """65 to 128 for a run of numbers; else 72, 96."""
    is_run = len(sizes) > 2 and sizes[-1] - sizes[0] == len(sizes) - 1
    return f"{sizes[0]} to {sizes[-1]}" if is_run else ", ".join(map(str, sizes))
