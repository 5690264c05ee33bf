"""What a switch does where the sources of its protocol are silent or differ: by its seed, for drivers to meet all."""

import random
from dataclasses import dataclass, field

from planner.integrations.switch_emulator.connections import BusyPort


@dataclass(frozen=True)
class Habits:
    """Of one switch."""

    busy_port: BusyPort
    """SCPI and OpenConfig: what becomes of a connection at a port of another one"""
    activates: bool
    """TL1: whether ENT-CRS puts in service too"""
    deletes_active: bool
    """TL1: whether DLT-CRS takes what is in service"""
    lists_both_ends: bool
    """OpenConfig: whether a connection is listed at its egress port too"""
    inactive: set[str] = field(default_factory=set)
    """TL1: connections that are provisioned and not in service"""


def habits_of(seed: int, name: str) -> Habits:
    chance = random.Random(f"{seed}/{name}/habits")
    activates, deletes_active, lists_both_ends = (chance.random() < 0.5 for _ in range(3))
    return Habits(chance.choice([*BusyPort]), activates, deletes_active, lists_both_ends)
