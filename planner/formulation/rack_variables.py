"""Variables of step 1 for racks that an upper layer joins: racks of a job, and the links that it holds there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model

from costmodel.fabrics import UpperPart
from planner.fabrics.demand import Demand
from planner.fabrics.problem import JobOptions
from planner.fabrics.rack_claims import links_held
from planner.model.cluster import Cluster
from planner.model.job import Resident


@dataclass(frozen=True)
class RackVariables:
    """Racks of one job that is placed anew; `part` of a layer as `UpperLayer.parts` has it."""

    inside: list[cp_model.IntVar]
    """by rack: the job has a part of its ranks there"""
    links: dict[UpperPart, cp_model.IntVar]
    """held of each part; none where no row spans racks"""
    staying: dict[UpperPart, int]
    """held by a resident that stays"""

    @classmethod
    def of(cls, model: cp_model.CpModel, name: str, options: JobOptions, cluster: Cluster) -> "RackVariables":
        """Those of one job."""
        most = max((demand.links for demand in options.shapes.distinct[0]), default=0)
        return cls(
            inside=[model.new_bool_var(f"{name}_r{rack}") for rack in range(cluster.fabric.racks)],
            links={
                part: model.new_int_var(0, most, f"{name}_up{part}") for part in (cluster.upper_links if most else ())
            },
            staying=_staying(options, cluster),
        )

    def hints(self, demand: Demand | None, racks: Sequence[int]) -> Iterator[tuple[cp_model.IntVar, int]]:
        """Values where a job with this demand lies in these racks."""
        for rack, inside in enumerate(self.inside):
            yield inside, rack in racks
        for part, links in self.links.items():
            yield links, demand.links if demand is not None and demand.racks > 1 and {*part} <= {*racks} else 0


def _staying(options: JobOptions, cluster: Cluster) -> dict[UpperPart, int]:
    job = options.job
    if not isinstance(job, Resident) or not options.can_stay:
        return {}
    return links_held(cluster.fabric, job.configuration, job.devices)
