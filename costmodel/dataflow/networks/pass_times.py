"""Seconds of the operators of a training step that are layers: a forward pass, a backward pass, an update."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.efficiency import efficiency_of
from costmodel.pricing.opgraph import OpGraph
from costmodel.pricing.roofline import block_price
from costmodel.pricing.score import Scores
from costmodel.workloads.transformer.stage import Stage

DATA = DIMENSIONS.index("data")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PassTimes:
    """Columns of shape (C,): of one operator each."""

    forward_s: Floats
    """of a layer"""
    backward_s: Floats
    update_s: Floats
    """of a layer's parameters, with its share of what data ranks exchange"""
    idle_s: Floats
    """of the pipeline, once"""

    @classmethod
    def of(cls, part: Candidates, graph: OpGraph, scores: Scores, stage: Stage) -> Self:
        """All but the second tier's share of the scored time: what is neither update nor idle is divided between
        forward and backward as their kernels are, with messages and the vocabulary in proportion.

        Rows of one split of the I/O, what they execute, and their scores row for row; `stage` by mapping.
        """
        kernel_s = _kernel_s(part, graph)
        update_s = kernel_s["optimizer"] + scores.communication_s[DATA]
        rest_s = scores.step_s - scores.offload_s - update_s - scores.bubble_s
        forward_s, redone_s = kernel_s["forward"], kernel_s.get("forward again", 0.0)
        backward_s = kernel_s["backward"] + redone_s + kernel_s.get("attention again", 0.0)
        passes, layers = np.floor(stage.layer_times[part.mapping]), np.floor(stage.layers[part.mapping])
        each_s = rest_s / passes / (forward_s + backward_s)
        return cls(forward_s * each_s, backward_s * each_s, update_s / layers, scores.bubble_s)


def _kernel_s(part: Candidates, graph: OpGraph) -> dict[str, Floats]:
    """Seconds of each block's kernels in a step, shape (C,)."""
    device = part.splits[part.split[0]].device
    efficiency, _ = efficiency_of(device, graph.regime, graph.precision)
    found = dict[str, Floats]()
    for block in graph.blocks:
        price = block_price(block, graph, device, efficiency)
        of_mapping = (price.compute_s[block.shape] + price.memory_s[block.shape]) * block.times
        found[block.name] = of_mapping[part.mapping]
    return found
