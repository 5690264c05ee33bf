"""Which cross-connects of which switch the circuits of a job are."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

from planner.controller.switch_driver import CircuitError, Circuits
from planner.fabrics import plugin_of
from planner.fabrics.switch_ports import states_of
from planner.integrations.switch_drivers.ocs.config import SwitchSite
from planner.integrations.switch_drivers.ocs.tables import CrossConnectRow
from planner.integrations.wiring.cross_connects import of_states
from planner.model.errors import InputError
from planner.model.plan import Circuit

Rows = Mapping[str, frozenset[CrossConnectRow]]
"""by switch"""
MOST_KEPT = 4096
"""jobs"""


class WantedRows:
    """Cross-connects of circuits, kept for the next time that these are asked about."""

    def __init__(self, site: SwitchSite) -> None:
        self._site = site
        self._of_text = lru_cache(MOST_KEPT)(self._of_json)

    def of(self, circuits: Circuits) -> Rows:
        """CircuitError where the circuits are of another cluster, or their ends have no port."""
        return self._of_text(json.dumps(circuits))

    def of_all(self, several: Iterable[Circuits]) -> Rows:
        """Of several jobs together; what cannot be read is left out, since the switches have none of it."""
        found = defaultdict[str, set[CrossConnectRow]](set)
        for circuits in several:
            try:
                for switch, rows in self.of(circuits).items():
                    found[switch] |= rows
            except CircuitError:
                continue
        return {switch: frozenset(rows) for switch, rows in found.items()}

    def _of_json(self, text: str) -> Rows:
        circuits: Circuits = json.loads(text)
        ports = plugin_of(self._site.fabric).switch_ports
        try:
            lit = [(held.get("phase"), Circuit.model_validate(each)) for held in circuits for each in held["circuits"]]
            found = of_states(states_of(ports.connections(self._site.fabric, lit)), self._site.table)
        except (InputError, ValueError, KeyError) as error:
            raise CircuitError(f"{self._site.path} does not fit the circuits: {error}") from None
        return {
            switch: frozenset(CrossConnectRow(each.name, each.a_side, each.b_side) for each in joined)
            for switch, joined in found.items()
        }
