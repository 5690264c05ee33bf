"""Training on devices with several kinds of backing stores: figures 13 and 14, and what bounds them."""

from pydantic import Field

from costmodel.dataflow.streams.memory_study import MemoryStudy, load_memory_study
from costmodel.spec import Spec
from planner.studies.reproduce.experiments.memory_runs import (
    DATA,
    HOST_LINKS,
    LOCAL,
    MODEL,
    PCIE,
    RING,
    StudyName,
    StudyRuns,
    harmonic_mean,
)


class PublishedMeans(Spec):
    """Published means from which bounds on others follow."""

    data: float = Field(gt=0)
    """speed-up of the ring over PCIe, data-parallel"""
    model: float = Field(gt=0)
    local: float = Field(gt=0, le=1)
    """performance of LOCAL over that of BW_AWARE"""


class Inputs(Spec):
    """A study of the catalog, and what is varied besides its systems."""

    study: StudyName
    batches: tuple[int, ...] = Field(min_length=1)
    port_factor: float = Field(gt=0)
    """bandwidth of a faster port into the host, over the study's"""
    compression: float = Field(gt=0)
    """reduction of traffic through that port for convolutional networks"""
    claims: PublishedMeans


def compute(inputs: Inputs) -> dict[str, float]:
    """Speed-ups and shares by name; harmonic means unless the name says otherwise."""
    study = load_memory_study(inputs.study)
    runs = StudyRuns(study)
    gain = runs.over(RING, PCIE)
    found = runs.headline | {
        f"{RING} over {PCIE}, {DATA}, arithmetic": float(gain[0].mean()),
        f"{RING} over {PCIE}, {MODEL}, arithmetic": float(gain[1].mean()),
    }
    for row, way in enumerate((DATA, MODEL)):
        found[f"{HOST_LINKS} over {PCIE}, {way}"] = harmonic_mean(runs.over(HOST_LINKS, PCIE)[row])
        found[f"half of {LOCAL} over {PCIE}, {way}"] = harmonic_mean(runs.over(LOCAL, PCIE)[row]) / 2
    return found | _batches(study, inputs.batches) | _ports(inputs, runs) | bounds(inputs.claims)


def bounds(claims: PublishedMeans) -> dict[str, float]:
    """Bounds that published means imply for others, whatever the workloads.

    Host links copy as fast as LOCAL and exchange at half its bandwidth, so that no duration more than doubles: at least
    half of its speed. The end of a step is convex in the time of copies: with half of it, at most the mean of the times
    with all and with none, and none takes no longer than the ring.
    """
    ring = harmonic_mean([claims.data, claims.model])
    gain = 2 / (1 + 1 / ring)
    return {
        f"bound of {HOST_LINKS} over {PCIE}, {DATA}": claims.data * claims.local / 2,
        f"bound of {HOST_LINKS} over {PCIE}, {MODEL}": claims.model * claims.local / 2,
        "bound of gain of a faster port": gain - 1,
        f"{RING} over {PCIE} less the bound of a faster port": (claims.data + claims.model) / 2 / gain,
    }


def _batches(study: MemoryStudy, batches: tuple[int, ...]) -> dict[str, float]:
    gains = {
        batch: harmonic_mean(StudyRuns(study.model_copy(update={"batch": batch})).over(RING, PCIE)) for batch in batches
    }
    named = {f"{RING} over {PCIE}, batch {batch}": gain for batch, gain in gains.items()}
    return named | {f"{RING} over {PCIE}, all batches": harmonic_mean(list(gains.values()))}


def _ports(inputs: Inputs, runs: StudyRuns) -> dict[str, float]:
    """A faster port into the host, and less traffic through the old one."""
    faster = StudyRuns(_with_port(runs.study, inputs.port_factor))
    fewer = StudyRuns(_with_port(runs.study, inputs.compression))
    convolutional = slice(len(runs.study.convolutional))
    gain = fewer[PCIE].end_s[:, convolutional] / runs[RING].end_s[:, convolutional]
    means = [harmonic_mean(row) for row in gain]
    return {
        "gain of a faster port": harmonic_mean(runs[PCIE].end_s / faster[PCIE].end_s) - 1,
        f"{RING} over {PCIE} with a faster port": sum(
            harmonic_mean(row) for row in faster[PCIE].end_s / runs[RING].end_s
        )
        / 2,
        f"{RING} over {PCIE} with compression": sum(means) / 2,
    }


def _with_port(study: MemoryStudy, factor: float) -> MemoryStudy:
    wider = {"bandwidth_bytes_per_s": factor * study.host.bandwidth_bytes_per_s}
    return study.model_copy(update={"host": study.host.model_copy(update=wider)})
