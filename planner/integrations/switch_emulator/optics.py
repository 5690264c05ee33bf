"""Loss and path of circuits through a switch of mirrors, and how long its mirrors take; all by seed.

Sizes follow mirrors of Palomar (Urata et al., arXiv 2208.10041): about 2 dB, settling of milliseconds.
"""

from collections.abc import Iterator

import numpy as np

FREQUENCIES_THZ = ("193.5", "229.1")
TEMPERATURE_C = "25.0"
ACCURACY_DB = "0.1"
MEAN_LOSS_DB, LOSS_SPREAD_DB, LEAST_LOSS_DB = 1.6, 0.25, 0.8
FIBER_SPREAD_DB = 0.1
MEASURED_SPREAD_DB = 0.2
"""what is measured lies within 0.5 dB of the factory's figure once a port is tuned"""
LEAST_SETTLING, BLOCKED_SHARE = 0.3, 0.1
"""shares of the settling time: the fastest mirrors; until the drivers have taken a circuit up"""
TUNING_LOSS_DB = 6.0
"""above the target when tuning begins"""


class Optics:
    """Of one switch with as many ports on each side."""

    def __init__(self, ports: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        base = np.maximum(random.normal(MEAN_LOSS_DB, LOSS_SPREAD_DB, (ports, ports)), LEAST_LOSS_DB)
        shift = random.normal(0, FIBER_SPREAD_DB / 2, (len(FREQUENCIES_THZ), ports, ports))
        self._factory_db = np.maximum(base + shift, LEAST_LOSS_DB).round(2)
        self._measured_db = (base + random.uniform(-MEASURED_SPREAD_DB, MEASURED_SPREAD_DB, base.shape)).round(2)

    def measured_db(self, a_side: str, b_side: str) -> float:
        return float(self._measured_db[number_of(a_side) - 1, number_of(b_side) - 1])

    def path(self, a_side: str, b_side: str) -> list[str]:
        """Elements from side A to side B."""
        a, b = number_of(a_side), number_of(b_side)
        return [a_side, f"fiber array A {a}", f"panel A cell {a}", f"panel B cell {b}", f"fiber array B {b}", b_side]

    def factory_rows(self) -> Iterator[dict[str, str]]:
        """Measured before it was shipped: every pair of ports at every frequency."""
        for frequency, losses in zip(FREQUENCIES_THZ, self._factory_db, strict=True):
            for a, row in enumerate(losses.tolist(), 1):
                for b, loss in enumerate(row, 1):
                    yield {
                        "cross_connect_id": f"{a}A-{b}B", "frequency_THz": frequency, "temperature_C": TEMPERATURE_C,
                        "loss_dB": decimal(loss), "accuracy_dB": ACCURACY_DB,
                    }  # fmt: skip


def number_of(port: str) -> int:
    """Of a port such as 68B."""
    return int(port[:-1])


def decimal(value: float) -> str:
    """Canonical form of a decimal64 with two digits: 1.5, 2.0."""
    text = f"{value:.2f}"
    return text.removesuffix("0")
