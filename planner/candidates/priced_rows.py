"""Configurations as rows of the cost model, each priced once for all jobs that run one workload like it."""

from dataclasses import dataclass
from functools import cached_property

from costmodel.hardware.device import Device
from costmodel.parallelism.configuration import Configuration
from costmodel.pricing.candidates import Candidates, candidates_of
from costmodel.pricing.opgraph import OpGraph
from costmodel.pricing.score import Scores, score
from planner.model.cluster import Cluster
from planner.model.job import Job


@dataclass(frozen=True)
class PricedRow:
    """The one row of a configuration with its score; both have one row."""

    rows: Candidates
    scores: Scores

    @property
    def device(self) -> Device:
        """With the memory that the row has."""
        device: Device = self.rows.splits[self.rows.split[0]].device
        return device

    @cached_property
    def graph(self) -> OpGraph:
        """A step."""
        return self.rows.workload.op_graph(self.rows.mappings, self.device)

    @cached_property
    def flops(self) -> float:
        """Matrix operations of the busiest device in a step."""
        return float(self.graph.flops[0])

    @cached_property
    def memory_bytes(self) -> float:
        """Traffic of its memory in a step."""
        return float(self.graph.memory_bytes[0])


class PricedRows:
    """Configurations of one plan on one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: dict[tuple[str, Configuration], PricedRow] = {}

    def of(self, job: Job, configuration: Configuration) -> PricedRow:
        """What a job runs as. Raises ValueError where its workload or the fabric has no such configuration."""
        key = job.workload_json, configuration
        if key not in self._known:
            device, fabric = self._cluster.device, self._cluster.fabric
            rows = candidates_of([configuration], job.workload, device, fabric)
            self._known[key] = PricedRow(rows, score(rows, device, fabric))
        return self._known[key]
