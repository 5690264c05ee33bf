"""How much single steps of training differ from the median step: a band from the 10th to the 90th percentile.

What delays one moment is independent of the next, so that it averages out over a long step; what slows a whole step
does not. Late steps are later than early ones are early: all wait for the slowest. Three numbers, fitted on
2026-11-23 on the 40 measured steps of MLPerf Training v3.0 to v5.1 that state both percentiles (10 devices, 8 to 1,536
accelerators), are those of the median row; a term that grows with the number of nodes made the fit worse. Systems
differ by far more, for reasons that no row states, so that a band is stated that holds for four rows in five.
"""

import numpy as np

from costmodel.parallelism.mappings import Floats

MOMENT = 0.005
"""share of a step of one second by which early steps are early"""
WHOLE = 0.002
"""the same of a step of any length, in quadrature"""
LATE = 1.2
"""by how much more late steps are late"""
COVERAGE = 0.8
"""share of rows both of whose percentiles are to lie in the band"""
COVERING = 2.6
"""how much wider than the median row's such a band is: the 33rd of 40 (split conformal prediction, arXiv:1604.04173).
Of rows left out of the fit of all four numbers it holds 79 % in random halves, 35 of 40 without a device or a round"""


def step_band_s(step_s: Floats, width: float = COVERING) -> tuple[Floats, Floats]:
    """Between which at least 80 of 100 steps lie whose median is `step_s`, on COVERAGE of the systems; same shape.

    With a width of 1 the typical 10th and 90th percentile.
    """
    early = width * np.hypot(WHOLE, MOMENT / np.sqrt(step_s))
    return step_s * (1 - early), step_s * (1 + LATE * early)
