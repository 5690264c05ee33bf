"""Speed-up of convolutional networks from one device to several, by data, with and without copies."""

from pydantic import Field

from costmodel.dataflow.streams.memory_study import MemoryStudy, load_memory_study
from costmodel.spec import Spec
from planner.studies.reproduce.experiments.memory_runs import ORACLE, PCIE, RING, StudyName, harmonic_mean


class Inputs(Spec):
    """A study of the catalog, trained on other numbers of devices."""

    study: StudyName
    devices: tuple[int, ...] = Field(min_length=1)
    shares: tuple[int, ...] = Field(min_length=1)
    """devices that share a port into the host, each tried"""


def compute(inputs: Inputs) -> dict[str, float]:
    """Time on one device over that on several, by system; harmonic means over convolutional networks."""
    study = load_memory_study(inputs.study)
    found: dict[str, float] = {}
    for devices in inputs.devices:
        for system in (ORACLE, RING):
            found[f"{system}, {devices} devices"] = _gain(study, system, devices)
        for share in inputs.shares:
            shared = study.model_copy(update={"host": study.host.model_copy(update={"devices": share})})
            found[f"{PCIE}, {devices} devices, {share} to a port"] = _gain(shared, PCIE, devices)
    return found


def _gain(study: MemoryStudy, system: str, devices: int) -> float:
    """One device alone has its port, and its memory nodes, for itself."""
    ends_s = [
        [several.step(network, "data", system).end_s for network in study.convolutional]
        for several in (study.model_copy(update={"devices": count}) for count in (1, devices))
    ]
    return harmonic_mean([one / many for one, many in zip(*ends_s, strict=True)])
