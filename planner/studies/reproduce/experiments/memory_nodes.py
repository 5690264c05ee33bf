"""Memory nodes by their DIMMs: capacity, power, and performance per watt of the system; table IV."""

from pydantic import Field

from costmodel.dataflow.streams.memory_study import load_memory_study
from costmodel.hardware.memory.node import MemoryNode, dimm_names, load_dimm
from costmodel.spec import Spec, Watts
from planner.studies.reproduce.experiments.memory_runs import StudyName


class Inputs(Spec):
    """A study of the catalog, and the system to which its nodes are added."""

    study: StudyName
    system_w: Watts = Field(gt=0)
    """thermal design power without memory nodes"""
    speedup: float = Field(gt=0)
    """published, of the system with memory nodes"""


def compute(inputs: Inputs) -> dict[str, float]:
    """Of a node and of all nodes, by DIMM; one node for each device."""
    study = load_memory_study(inputs.study)
    found: dict[str, float] = {}
    for name in dimm_names():
        node = MemoryNode(dimm=load_dimm(name), dimms=study.node.dimms, groups=study.node.groups)
        added = study.devices * node.power_w / inputs.system_w
        found |= {
            f"node power, {name}": node.power_w,
            f"node capacity, {name}": node.capacity_bytes,
            f"node bandwidth, {name}": node.bandwidth_bytes_per_s,
            f"capacity per watt, {name}": node.capacity_bytes / node.power_w,
            f"system capacity, {name}": study.devices * node.capacity_bytes,
            f"added power, {name}": added,
            f"performance per watt, {name}": inputs.speedup / (1 + added),
        }
    return found | {
        "evaluated node bandwidth": study.node.bandwidth_bytes_per_s,
        "evaluated bandwidth of a group": study.node.group_bytes_per_s,
    }
