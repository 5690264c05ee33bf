"""What a job gains by links to which boards give more than their share of a chip's bandwidth, in words."""

from typing import get_args

from costmodel.fabrics.group_plans import OverLinks
from costmodel.parallelism.configuration import Collective, Configuration
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.candidates import candidates_of
from costmodel.pricing.score import score
from planner.model.cluster import Cluster
from planner.model.job import Job
from planner.model.plan import Assignment

AXES = "xyz"


def wider_links_in_words(cluster: Cluster, job: Job, assignment: Assignment) -> str:
    """Wavelengths of the links of a job by axis, and its speed beside that of the same configuration over fixed links;
    empty where its links are fixed."""
    configuration = assignment.configuration
    lit = [each for each in _over_links(configuration).values() if each.wavelengths]
    if not lit:
        return ""
    along = [
        max((each.wavelengths[axis] for each in lit if each.radices[axis] > 1), default=0) for axis in range(len(AXES))
    ]
    widths = ", ".join(f"{width} wavelengths along {axis}" for axis, width in zip(AXES, along, strict=True) if width)
    ratio = _speed(cluster, job, configuration) / _speed(cluster, job, _over_fixed_links(configuration))
    return f"{widths}; {ratio:.2f} times as fast as over fixed links"


def _over_links(configuration: Configuration) -> dict[str, Collective]:
    """Collectives that are packets over the links of a slice, by the field of each."""
    fields = {f"{name}_collective": getattr(configuration, f"{name}_collective") for name in DIMENSIONS}
    return {field: collective for field, collective in fields.items() if collective.kind in get_args(OverLinks)}


def _over_fixed_links(configuration: Configuration) -> Configuration:
    fixed = {
        field: collective.model_copy(update={"wavelengths": ()})
        for field, collective in _over_links(configuration).items()
    }
    return configuration.model_copy(update=fixed)


def _speed(cluster: Cluster, job: Job, configuration: Configuration) -> float:
    """Work per second."""
    rows = candidates_of([configuration], job.workload, cluster.device, cluster.fabric)
    return float(score(rows, cluster.device, cluster.fabric).speed[0])
