"""Steps of all networks on all systems of a memory study, and the means that are drawn from them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import AfterValidator

from costmodel.dataflow.streams.memory_study import MemoryStudy, load_memory_study, steps

Floats = NDArray[np.float64]
PCIE, HOST_LINKS, STAR, LOCAL, RING, ORACLE = "DC-DLA", "HC-DLA", "MC-DLA(S)", "MC-DLA(L)", "MC-DLA(B)", "oracle"
DATA, MODEL = "data-parallel", "model-parallel"


def _known(name: str) -> str:
    load_memory_study(name)
    return name


StudyName = Annotated[str, AfterValidator(_known)]


def harmonic_mean(values: ArrayLike) -> float:
    """Of all values; the mean that the paper says it takes."""
    return float(1 / np.mean(1 / np.asarray(values, np.float64)))


@dataclass(frozen=True)
class Times:
    """Of all networks, in the order of the study; shape (2, N): data-parallel, then model-parallel."""

    end_s: Floats
    compute_s: Floats
    copy_s: Floats
    exchange_s: Floats


class StudyRuns:
    """Results of one study, each system run when it is asked for."""

    def __init__(self, study: MemoryStudy) -> None:
        self.study = study
        self._found: dict[str, Times] = {}

    def __getitem__(self, system: str) -> Times:
        if system not in self._found:
            ran = list(steps(self.study, system))
            columns = np.array([(t.end_s, t.compute_s, t.copy_s, t.exchange_s) for t in ran])
            self._found[system] = Times(*columns.T.reshape(4, 2, -1))
        return self._found[system]

    def over(self, fast: str, slow: str) -> Floats:
        """Speed-up of one system over another, shape (2, N)."""
        return self[slow].end_s / self[fast].end_s

    @cached_property
    def headline(self) -> dict[str, float]:
        """The figures that a sensitivity is asked of; means over networks, or over these and both ways."""
        gain, of_oracle = self.over(RING, PCIE), self.over(RING, ORACLE)
        by_data, by_model = (harmonic_mean(row) for row in gain)
        local, star = self.over(LOCAL, RING), self.over(STAR, RING)
        return {
            f"{RING} over {PCIE}, {DATA}": by_data,
            f"{RING} over {PCIE}, {MODEL}": by_model,
            f"{RING} over {PCIE}": (by_data + by_model) / 2,
            f"{RING} over {PCIE}, harmonic over all": harmonic_mean(gain),
            f"{RING} of {ORACLE}, mean": harmonic_mean(of_oracle),
            f"{RING} of {ORACLE}, least": float(of_oracle.min()),
            f"{RING} of {ORACLE}, most": float(of_oracle.max()),
            f"{LOCAL} of {RING}": harmonic_mean(local),
            f"{LOCAL} of {RING}, arithmetic": float(local.mean()),
            f"loss of {STAR}": 1 - harmonic_mean(star),
            f"loss of {STAR}, arithmetic": 1 - float(star.mean()),
            f"loss of {STAR}, most": 1 - float(star.min()),
        }
