"""Tensors of a step that leave local memory between the passes, and how much of them is in it all the same."""

import numpy as np

from costmodel.dataflow.networks.tensor_graph import Absence, TensorGraph
from costmodel.dataflow.streams.simulate import Rules

RULES = Rules(lookahead=2, most_leaving=2)
"""of steps whose candidates set memory aside for what is in use or on its way"""
MEBIBYTE = 2**20
MOST_PAGES = 64
"""of the largest tensor"""


def page_bytes_of(largest_bytes: float) -> float:
    """Whole mebibytes, a power of two of them, that cut the largest tensor into MOST_PAGES at most."""
    return float(MEBIBYTE * 2 ** max(0, int(np.ceil(np.log2(largest_bytes / MOST_PAGES / MEBIBYTE)))))


def leaving(graph: TensorGraph) -> tuple[Absence, ...]:
    """Absences of activations during which something else runs."""
    return tuple(each for each in graph.absences() if each.before - each.after > 1)


def resident_bytes(graph: TensorGraph) -> float:
    """Most that is in local memory of what leaves, whichever of it does: in use, on its way out or on its way back.

    At an operator that is what stays there, from its first to its last use of a phase, and of all else no more than
    `most_leaving` tensors and what `lookahead` users need: users are operators for which tensors come back.
    """
    absences = leaving(graph)
    if not absences:
        return 0.0
    sizes = np.array([graph.tensors[each.tensor].size_bytes for each in absences])
    first, last = np.array([(graph.uses[each.tensor][0], graph.uses[each.tensor][-1]) for each in absences]).T
    after, before = np.array([(each.after, each.before) for each in absences]).T
    users, user = np.unique(before, return_inverse=True)
    passing, most = RULES.lookahead + (RULES.most_leaving or 0), 0.0
    for o, operator in enumerate(graph.operators):
        is_forward = operator.phase == "forward"
        stays = ((first <= o) & (o <= after)) if is_forward else ((before <= o) & (o <= last))
        others = (after < o) if is_forward else (before > o)
        of_users = np.sort(np.bincount(user, sizes * others, len(users)))
        most = max(most, float(sizes @ stays + of_users[-passing:].sum()))
    return most
