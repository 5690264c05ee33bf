"""The part of a step in which tensors are placed: training, and beside it the step's share of evaluation.

Evaluation keeps no activations and updates nothing, so that places are those of training alone; it takes its scored
time, in which all weights of the tier pass, whatever of them stays in local memory.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from costmodel.dataflow.networks.least_step import least_step_s
from costmodel.dataflow.networks.rank_step import PLACED, RankStep, rank_step
from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device
from costmodel.parallelism.configuration import Configuration
from costmodel.parallelism.mappings import Floats
from costmodel.pricing.candidates import Candidates, candidates_of
from costmodel.pricing.score import Scores, score, score_by_phase
from costmodel.workloads import Workload


@dataclass(frozen=True)
class Trained:
    """Rows under the setting in which they train."""

    candidates: Candidates
    scores: Scores
    """of training alone, row for row"""
    other_s: Floats
    """of the scored step beside it, evaluation and the switches there and back, shape (C,)"""

    @classmethod
    def of(cls, candidates: Candidates, scores: Scores, device: Device, fabric: FabricBase) -> Self:
        """Rows of a job with their scores, and the device and the fabric that they were scored on."""
        if not isinstance(candidates.workload, PLACED) or not candidates.workload.phases or not len(candidates):
            return cls(candidates, scores, np.zeros(len(candidates)))
        own, _ = score_by_phase(candidates, device, fabric)
        return cls(candidates.in_first_phase(), own, scores.step_s - own.step_s)

    def rank_step(self, row: int) -> RankStep | None:
        """What one rank of a row executes; None where nothing of it lives in a second tier."""
        return rank_step(self.candidates, self.scores, row, float(self.other_s[row]))

    def least_step_s(self) -> Floats:
        """Seconds that no places of a row's tensors go below, shape (C,)."""
        return least_step_s(self.candidates, self.scores) + self.other_s


def rank_step_of(
    configuration: Configuration, workload: Workload, device: Device, fabric: FabricBase
) -> RankStep | None:
    """The step of a configuration as it is written in a plan; ValueError where workload or fabric has none such."""
    if not isinstance(workload, PLACED) or not any(workload.menus()["offload"]):
        return None
    rows = candidates_of([configuration], workload, device, fabric)
    return Trained.of(rows, score(rows, device, fabric), device, fabric).rank_step(0)
