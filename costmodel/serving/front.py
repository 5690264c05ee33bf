"""What a serving job may offer: tokens/s of an accelerator against tokens/s of a user, over candidates and users."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device
from costmodel.parallelism.mappings import Bools
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.limits import ANYWHERE, Limits
from costmodel.pricing.listing import listed_and_priced
from costmodel.pricing.score import Floats, Scores
from costmodel.pricing.search import pareto
from costmodel.workloads import TransformerInference

USERS = tuple(2**n for n in range(13))
"""that are tried where nobody says how many"""


@dataclass(frozen=True)
class ServingFront:
    """Candidates of a job with each number of users, columns of shape (C,), and the rows that no other beats."""

    candidates: Candidates
    scores: Scores
    rows: NDArray[np.intp]
    """shape (F,), the fastest for a user first"""

    @property
    def per_user(self) -> Floats:
        """Tokens/s that a user reads while the answer comes: 1 / time per output token."""
        return 1.0 / self.scores.tpot_s

    @property
    def per_device(self) -> Floats:
        """Tokens/s of an accelerator, all users together."""
        return self.scores.speed / self.candidates.num_devices


def require_tokens(workload: TransformerInference) -> None:
    """ValueError where an answer has one token alone, so that nobody reads on."""
    if workload.output_tokens < 2:
        raise ValueError("output_tokens: an answer of one token has no time per token; give 2 or more")


def serving_front(
    workload: TransformerInference,
    sizes: Sequence[int],
    device: Device,
    fabric: FabricBase,
    *,
    users: Sequence[int] = USERS,
    limits: Limits = ANYWHERE,
) -> ServingFront:
    """Price every candidate on each number of devices with each number of users.

    Left out are those that miss the workload's limits, and those with more users than replicas have memory for, who
    would wait for a place. ValueError where an answer has one token alone, so that nobody reads on.
    """
    require_tokens(workload)
    asked = workload.model_copy(update={"concurrency": tuple(users)})
    candidates, scores = listed_and_priced(asked, sizes, device, fabric, limits)
    rows = np.flatnonzero(_has_room(candidates, asked))
    candidates, scores = candidates.take(rows), scores.take(rows)
    costs = np.stack([scores.tpot_s, candidates.num_devices / scores.speed])
    return ServingFront(candidates, scores, pareto(costs))


def _has_room(candidates: Candidates, workload: TransformerInference) -> Bools:
    """Which candidates run the requests of all users at once, shape (C,)."""
    room = np.ones(len(candidates), np.bool_)
    users = candidates.mappings.micro_batch[candidates.mapping]
    for number, split in enumerate(candidates.splits):
        running = workload.running_requests(candidates.mappings, split.device)[candidates.mapping]
        room &= (candidates.split != number) | (running >= users)
    return room
