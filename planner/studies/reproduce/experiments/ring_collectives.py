"""Collectives on rings with and without memory nodes between devices; figure 9 of MC-DLA."""

from typing import Annotated

import numpy as np
from pydantic import Field

from costmodel.dataflow.streams.memory_study import load_memory_study
from costmodel.spec import Bytes, Spec
from planner.studies.reproduce.experiments.memory_runs import PCIE, RING, StudyName


class Inputs(Spec):
    """A study of the catalog, and messages."""

    study: StudyName
    messages_bytes: tuple[Annotated[Bytes, Field(gt=0)], ...] = Field(min_length=1, alias="messages")


def compute(inputs: Inputs) -> dict[str, float]:
    """Time with memory nodes over that without, by collective and message in KiB, and the nodes of the longest ring."""
    study = load_memory_study(inputs.study)
    plain, with_nodes = study.fabric(PCIE), study.fabric(RING)
    sizes = np.asarray(inputs.messages_bytes, np.float64)
    found = {
        "nodes of a ring": float(max(with_nodes.ring_hops)),
        "nodes of a ring without": float(max(plain.ring_hops)),
    }
    for name, is_all_reduce in (("all-gather", False), ("all-reduce", True)):
        ratio = with_nodes.exchange_s(sizes, is_all_reduce) / plain.exchange_s(sizes, is_all_reduce)
        found |= {f"{name} of {size / 1024:g} KiB": float(value) for size, value in zip(sizes, ratio, strict=True)}
    return found
