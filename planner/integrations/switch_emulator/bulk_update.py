"""The RPC bulk-update: all of it, or what a faulty switch makes of it."""

import random
from collections.abc import Callable, Sequence
from typing import Any

from planner.integrations.switch_emulator import mishaps
from planner.integrations.switch_emulator.switch import OpticalSwitch, Row

Bulk = Callable[[OpticalSwitch, Sequence[str], Sequence[Row]], dict[str, Any]]
"""switch, names to delete, entries to add -> output"""


def whole(switch: OpticalSwitch, deletes: Sequence[str], adds: Sequence[Row]) -> dict[str, Any]:
    """One transaction; names that are not there are passed over. No failed_keys where nothing failed."""
    deleted, added = switch.apply(deletes, adds)
    return {"deleted_count": deleted, "added_count": added}


def half(chance: random.Random) -> Bulk:
    """A part is done, and what is not is named."""

    def update(switch: OpticalSwitch, deletes: Sequence[str], adds: Sequence[Row]) -> dict[str, Any]:
        deleted, added, failed = mishaps.half(switch, deletes, adds, chance)
        return {"deleted_count": deleted, "added_count": added} | ({"failed_keys": failed} if failed else {})

    return update


def lie(chance: random.Random) -> Bulk:
    """Part of it is done and all of it told, or all done and nothing told."""

    def update(switch: OpticalSwitch, deletes: Sequence[str], adds: Sequence[Row]) -> dict[str, Any]:
        if chance.random() < 0.5:
            mishaps.half(switch, deletes, adds, chance)
            return {"deleted_count": len(deletes), "added_count": len(adds)}
        switch.apply(deletes, adds)
        return {"deleted_count": 0, "added_count": 0}

    return update
