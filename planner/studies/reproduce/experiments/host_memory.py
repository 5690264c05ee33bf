"""Bandwidth of the host's memory that copies use; figure 12 of MC-DLA."""

import numpy as np
from pydantic import Field

from costmodel.dataflow.streams.memory_study import load_memory_study
from costmodel.spec import BytesPerSecond, Spec
from planner.studies.reproduce.experiments.memory_runs import PCIE, StudyName, StudyRuns

IN_HOST = ("host_port", "host_links")


class Inputs(Spec):
    """A study of the catalog, and how its devices share sockets."""

    study: StudyName
    devices_per_socket: int = Field(ge=1)
    socket_bytes_per_s: BytesPerSecond
    """of the memory of a socket, as provisioned for the links"""


def compute(inputs: Inputs) -> dict[str, float]:
    """By system, of one socket: what links can ask for, and what steps do, least, mean and most over them."""
    study = load_memory_study(inputs.study)
    found: dict[str, float] = {}
    for system, chosen in study.systems.items():
        links = study.stores(system) if chosen.store in IN_HOST else ()
        most = inputs.devices_per_socket * sum(link.bandwidth_bytes_per_s for link in links)
        ran = [study.step(network, way, system) for way in ("data", "model") for network in study.networks]
        used = [
            inputs.devices_per_socket * float(step.bytes_by_link().sum()) / step.end_s if links else 0.0 for step in ran
        ]
        found |= {
            f"links of {system}": most,
            f"least use of {system}": min(used),
            f"mean use of {system}": float(np.mean(used)),
            f"most use of {system}": max(used),
            f"largest share of the socket of {system}": max(used) / inputs.socket_bytes_per_s,
        }
    alone = StudyRuns(study.model_copy(update={"devices": 1}))
    return found | {"overhead of copies, one device, mean": float((alone.over("oracle", PCIE) - 1).mean())}
