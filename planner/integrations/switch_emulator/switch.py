"""One switch: configuration that is written, state that is read, and transactions between them."""

import random
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from planner.integrations.switch_emulator.hardware import NORMAL, Hardware, MirrorCircuit
from planner.integrations.switch_emulator.light import CONTROLLER, LightInterval, LightRecord
from planner.integrations.switch_emulator.node_tree import Table, Vocabulary, tables
from planner.integrations.switch_emulator.optics import Optics
from planner.integrations.switch_emulator.traps import FEWEST_FORCED

Row = dict[str, Any]
CONNECTOR_TYPE = "Duplex LC"


class OpticalSwitch:
    """Ports 1A, 1B, 2A, ...; each table is a dictionary of rows, keyed as the module says."""

    def __init__(
        self,
        name: str,
        ports: int,
        *,
        seed: int,
        settling_s: float,
        vocabulary: Vocabulary,
        clock: Callable[[], float],
    ) -> None:
        self.name, self.vocabulary, self.clock = name, vocabulary, clock
        self.tables = tables(vocabulary)
        self.random = random.Random(f"{seed}/{name}")
        self.ports = [f"{number}{side}" for number in range(1, ports // 2 + 1) for side in "AB"]
        self.light = LightRecord(name)
        self._optics = Optics(ports // 2, self.random.getrandbits(32))
        self.hardware = Hardware(
            frozenset(self.ports), self.light, self._optics, settling_s, clock, random.Random(self.random.random())
        )
        self.lock = threading.Lock()
        """held while a request is answered, and while the record of light is read"""
        self.circuits: dict[str, Row] = {}
        self.port_rows: dict[str, Row] = {}
        self._factory: dict[tuple[str, ...], Row] = {}
        self.start()

    def start(self, cause: str = CONTROLLER) -> None:
        """As it comes up with no configuration of its own: ports of its profile, no circuits. `cause`: why it does."""
        self.hardware.clear(cause)
        self.circuits.clear()
        self.port_rows = {
            port: {"simplex_port_id": port, "label": f"{self.name}-{port}", self.vocabulary.override: NORMAL}
            for port in self.ports
        }

    def apply(
        self, deletes: Iterable[str], adds: Sequence[Row], cause: str = CONTROLLER, *, is_forced: bool | None = None
    ) -> tuple[int, int]:
        """One transaction, deletes before adds: entries that were deleted, and written. Several adds force, unless
        `is_forced` says otherwise."""
        force = len(adds) >= FEWEST_FORCED if is_forced is None else is_forced
        deleted = 0
        for name in deletes:
            deleted += self.circuits.pop(name, None) is not None
            self.hardware.delete(name)
        for row in adds:
            name = row["cross_connect_id"]
            self.circuits[name] = {**self.circuits.get(name, {}), **row}
            sides = row.get("a_side", ""), row.get("b_side", "")
            self.hardware.add(name, *sides, is_forced=force, cause=cause)
        return deleted, len(adds)

    def set_ports(self, rows: Iterable[Row]) -> None:
        """Merge rows of ports."""
        for row in rows:
            port = row["simplex_port_id"]
            held = self.port_rows.setdefault(port, {"simplex_port_id": port})
            held.update(row)
            self._override(port, held)

    def remove_ports(self, ports: Iterable[str]) -> None:
        """Their configuration goes back to the defaults of the module; the ports themselves stay."""
        for port in ports:
            self.port_rows.pop(port, None)
            self._override(port, {})

    def _override(self, port: str, row: Row) -> None:
        if port in self.hardware.ports:
            self.hardware.override(port, row.get(self.vocabulary.override, NORMAL))

    def rows(self, table: Table) -> Iterator[Row]:
        """All rows of a table as they are now."""
        if table.name == "OCS_PORT":
            yield from self.port_rows.values()
        elif table.name == "OCS_CROSS_CONNECT":
            yield from self.circuits.values()
        elif table.name == "OCS_PORT_TABLE":
            yield from map(self._port_state, self.ports)
        elif table.name == "OCS_CROSS_CONNECT_TABLE":
            yield from map(self._circuit_state, self.hardware.circuits.values())
        else:
            yield from self._factory_rows().values()

    def row(self, table: Table, key: tuple[str, ...]) -> Row | None:
        """One row, or None where it is not there; the numbers of a key may be written in any way."""
        if table.name == "OCS_PORT":
            return self.port_rows.get(key[0])
        if table.name == "OCS_CROSS_CONNECT":
            return self.circuits.get(key[0])
        if table.name == "OCS_PORT_TABLE":
            return self._port_state(key[0]) if key[0] in self.hardware.ports else None
        if table.name == "OCS_CROSS_CONNECT_TABLE":
            circuit = self.hardware.circuits.get(key[0])
            return None if circuit is None else self._circuit_state(circuit)
        return self._factory_rows().get((key[0], *map(_canonical, key[1:])))

    def intervals(self) -> list[LightInterval]:
        """All light since the switch was made."""
        with self.lock:
            return self.light.intervals(self.clock())

    def _factory_rows(self) -> dict[tuple[str, ...], Row]:
        if not self._factory:
            keys = self.tables["OCS_FACTORY_INSERTION_LOSS_TABLE"].keys
            self._factory = {tuple(row[key] for key in keys): row for row in self._optics.factory_rows()}
        return self._factory

    def _port_state(self, port: str) -> Row:
        row = {
            "simplex_port_id": port,
            "connector_type": CONNECTOR_TYPE,
            "connector_pin": "1" if port.endswith("A") else "2",
        }
        target = self.hardware.target(port)
        if target is not None:
            row["target_simplex_port_id"] = target
        row[self.vocabulary.state] = self.hardware.port_state(port, self.vocabulary.lit)
        return row

    def _circuit_state(self, circuit: MirrorCircuit) -> Row:
        row: Row = {"cross_connect_id": circuit.name, "status": self.hardware.status(circuit)}
        if row["status"] == "enabled":
            row["physical_path"] = self._optics.path(*circuit.ports)
            row["insertion_loss_dB"] = self.hardware.loss_db(circuit)
        return row


def _canonical(number: str) -> str:
    """193.500 as 193.5, 25 as 25.0; what is no number as it is."""
    whole, _, digits = number.partition(".")
    return f"{whole}.{digits.rstrip('0') or '0'}"
