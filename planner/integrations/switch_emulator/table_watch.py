"""Light as the tables of switches tell it, read again and again: for switches that keep no record of their light."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from planner.integrations.switch_emulator.light import CONTROLLER, LightInterval
from planner.integrations.switch_emulator.node_tree import Vocabulary


@dataclass
class TableWatch:
    """Builds intervals of light from reads of OCS_PORT_TABLE, for the referee."""

    vocabulary: Vocabulary
    _on: dict[tuple[str, str], tuple[str, float]] = field(default_factory=dict)
    """switch and port of side A -> port of side B, and when it was first seen so"""
    _past: list[LightInterval] = field(default_factory=list)

    def see(self, switch: str, rows: Iterable[Mapping[str, str]], at_s: float) -> None:
        """The rows of one switch as they were at one time; light needs both ends to be lit and to name each other."""
        lit = {
            row["simplex_port_id"]: row.get("target_simplex_port_id", "")
            for row in rows
            if row.get(self.vocabulary.state) == self.vocabulary.lit
        }
        now = {(switch, port): target for port, target in lit.items() if port.endswith("A") and lit.get(target) == port}
        for key, (target, since_s) in list(self._on.items()):
            if key[0] == switch and now.get(key) != target:
                self._past.append(LightInterval(*key, target, since_s, at_s, CONTROLLER, CONTROLLER))
                del self._on[key]
        for key, target in now.items():
            self._on.setdefault(key, (target, at_s))

    def intervals(self) -> list[LightInterval]:
        """All that was seen; nobody knows the causes, so they are all taken for requests."""
        held = [
            LightInterval(*key, target, since_s, math.inf, CONTROLLER) for key, (target, since_s) in self._on.items()
        ]
        return [*self._past, *held]
