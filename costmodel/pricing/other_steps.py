"""Scores of candidates whose second tier lets a step take another time than was scored."""

from dataclasses import replace

import numpy as np

from costmodel.pricing.score import Floats, Scores


def with_steps(scores: Scores, step_s: Floats | float) -> Scores:
    """The same where steps take so long, shape (C,) or all alike: what is drawn at all times is drawn for as long, and
    all else stays."""
    own_s = np.zeros_like(scores.step_s) + step_s
    longer = own_s / scores.step_s
    waiting = {"static_j": scores.static_j * longer, "node_j": scores.node_j * longer}
    return replace(scores, step_s=own_s, offload_s=own_s - scores.step_s + scores.offload_s, **waiting)
