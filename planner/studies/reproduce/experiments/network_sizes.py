"""Multiplications and layers of networks, from the shapes of their layers."""

from costmodel.dataflow.networks.node import total_macs
from costmodel.dataflow.streams.memory_study import load_memory_study
from costmodel.spec import Spec
from planner.studies.reproduce.experiments.memory_runs import StudyName


class Inputs(Spec):
    """A study of the catalog."""

    study: StudyName


def compute(inputs: Inputs) -> dict[str, float]:
    """Of one sample, by network; layers are those with weights, each step of a recurrent one counted."""
    study = load_memory_study(inputs.study)
    found: dict[str, float] = {}
    for name in study.networks:
        nodes = study.nodes(name)
        found[f"multiplications, {name}"] = float(total_macs(nodes))
        found[f"layers, {name}"] = float(sum(node.is_matrix for node in nodes))
    return found
