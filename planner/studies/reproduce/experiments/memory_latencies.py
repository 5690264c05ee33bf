"""Times of copies, collectives and kernels, each alone: figures 10 and 11, and timelines of one network."""

from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from costmodel.dataflow.streams.memory_study import load_memory_study
from costmodel.dataflow.streams.placement import evenly, local
from costmodel.dataflow.streams.timeline import Timeline
from costmodel.spec import Bytes, Spec
from planner.studies.reproduce.experiments.memory_runs import HOST_LINKS, LOCAL, PCIE, RING, STAR, StudyName, StudyRuns


class Shown(Spec):
    """The steps whose timelines are drawn."""

    network: str
    parallel: Literal["data", "model"]
    systems: tuple[str, ...] = Field(min_length=1)


class Inputs(Spec):
    """A study of the catalog, and one allocation whose copy is timed."""

    study: StudyName
    allocation_bytes: Bytes = Field(gt=0)
    shown: Shown

    @model_validator(mode="after")
    def _shown_is_known(self) -> Self:
        study = load_memory_study(self.study)
        if self.shown.network not in study.networks:
            raise ValueError(f"shown: network '{self.shown.network}' is none of {', '.join(study.networks)}")
        if unknown := [name for name in self.shown.systems if name not in study.systems]:
            raise ValueError(f"shown: system '{unknown[0]}' is none of {', '.join(study.systems)}")
        return self


def compute(inputs: Inputs) -> dict[str, float]:
    """Means over networks and both ways, arithmetic, and ratios of the copy of one allocation."""
    runs = StudyRuns(load_memory_study(inputs.study))
    cut = 1 - runs[HOST_LINKS].copy_s / runs[PCIE].copy_s
    longer = runs[HOST_LINKS].exchange_s / runs[PCIE].exchange_s - 1
    all_s = [runs[PCIE].compute_s, runs[PCIE].copy_s, runs[PCIE].exchange_s]
    copies_lead = np.argmax(all_s, axis=0) == 1
    return {
        f"copies of {HOST_LINKS}, cut": float(cut.mean()),
        f"collectives of {HOST_LINKS}, increase": float(longer.mean()),
        f"steps of {PCIE} that copies take longest of": float(copies_lead.sum()),
        "LOCAL over BW_AWARE": _copy_s(inputs, LOCAL) / _copy_s(inputs, RING),
        "star over ring": _copy_s(inputs, STAR) / _copy_s(inputs, RING),
        "star over ring, LOCAL": _copy_s(inputs, STAR) / _copy_s(inputs, LOCAL),
    }


def _copy_s(inputs: Inputs, system: str) -> float:
    """Of one allocation to the store of a system."""
    study = load_memory_study(inputs.study)
    links = study.fabric(system).stores()
    place = local if study.systems[system].policy == "local" else evenly
    return float(place([inputs.allocation_bytes], links).copy_s(links)[0])


def timelines(inputs: Inputs) -> dict[str, Timeline]:
    """Steps of the network that is drawn, by system."""
    study = load_memory_study(inputs.study)
    shown = inputs.shown
    return {system: study.step(shown.network, shown.parallel, system) for system in shown.systems}
