"""Rules of a replay: how jobs wait, move and come back."""

from dataclasses import dataclass
from typing import Literal

Discipline = Literal["easy", "fifo", "loss"]


@dataclass(frozen=True)
class Rules:
    """Queueing discipline, migration and downtime."""

    discipline: Discipline = "easy"
    """easy: backfill that never delays the reservation of the first job; fifo: no backfill; loss: no queue"""
    depth: int = 100
    """waiting jobs looked at for backfill at one event"""
    migrate: bool = False
    """whether running jobs move where a job finds no room though enough accelerators are free"""
    downtime_s: float = 60.0
    """pause of a job that moves or comes back after a failure; it holds its accelerators meanwhile"""
    checkpoint_s: float = 0.0
    """time between checkpoints: a failure loses the work since the last one; 0: it loses none"""
