"""How much single steps of training differ from the median step: a band from the 10th to the 90th percentile.

What delays one moment is independent of the next, so that it averages out over a long step; what slows a whole step
does not. Late steps are later than early ones are early: all wait for the slowest. Three numbers, fitted on
2026-11-23 on the 40 measured steps of MLPerf Training v3.0 to v5.1 that state both percentiles (10 devices, 8 to 1,536
accelerators); a term that grows with the number of nodes made the fit worse. Half of the rows are wider; the
worst is eleven times as late.
"""

import numpy as np

from costmodel.parallelism.mappings import Floats

MOMENT = 0.005
"""share of a step of one second by which early steps are early"""
WHOLE = 0.002
"""the same of a step of any length, in quadrature"""
LATE = 1.2
"""by how much more late steps are late"""


def step_band_s(step_s: Floats) -> tuple[Floats, Floats]:
    """10th and 90th percentile of steps whose median is `step_s`, same shape."""
    early = np.hypot(WHOLE, MOMENT / np.sqrt(step_s))
    return step_s * (1 - early), step_s * (1 + LATE * early)
