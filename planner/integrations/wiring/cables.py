"""A wiring: a cable a row, from a port of an optical switch to what is plugged in at its other end, as CSV or Parquet.

| column | meaning |
|---|---|
| `switch` | name of the switch, as in plans |
| `port` | name of its simplex port, as the switch has it, such as 12A |
| `direction` | `input`: light from the end enters the switch; `output`: light from the switch goes to the end |
| `end` | accelerator, face of one, port of a tray, or uplink, as in plans |
| `loss_db` | of the cable; may be empty |
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path

from costmodel.fabrics import FabricBase
from planner.fabrics import plugin_of
from planner.fabrics.switch_ports import BOTH, Direction, End
from planner.model.errors import InputError
from planner.model.files.rows import TextTable, read_rows

COLUMNS = ("switch", "port", "direction", "end", "loss_db")
SIDES: dict[Direction, str] = {"input": "A", "output": "B"}
"""ends of the names of simplex ports in a new wiring"""
MOST_LOSS_DB = 60.0
REMEDY = "write one by `planner wiring new`"


@dataclass(frozen=True)
class Cable:
    """One simplex fiber."""

    switch: str
    port: str
    direction: Direction
    end: str
    loss_db: float | None = None
    place: str = ""
    """of its row in the file, for messages"""


@dataclass(frozen=True)
class CableTable:
    """All cables of a cluster."""

    cables: tuple[Cable, ...]
    name: str = "the wiring"

    @classmethod
    def of(cls, fabric: FabricBase, loss_db: float | None = None) -> "CableTable":
        """Ports in the order of the ends of each switch: the first input is 1A, the first output 1B."""
        cables = []
        for switch, ends in groupby(plugin_of(fabric).switch_ports.ends(fabric), key=lambda end: end.switch):
            counts = dict.fromkeys(BOTH, 0)
            for end in ends:
                counts[end.direction] += 1
                port = f"{counts[end.direction]}{SIDES[end.direction]}"
                cables.append(Cable(switch, port, end.direction, end.end, loss_db))
        if not cables:
            raise InputError("cluster", "fabric", f"{fabric.kind}: has no optical switches that could be wired")
        return cls(tuple(cables))

    @classmethod
    def load(cls, path: Path) -> "CableTable":
        """The cables of a file; InputError names file, line and column."""
        rows = read_rows(path, remedy=REMEDY)
        for column in rows.header:
            if column not in COLUMNS:
                raise rows.error(None, column, f"is no known column; columns are: {', '.join(COLUMNS)}")
        for column in COLUMNS[:4]:
            if column not in rows.header:
                raise rows.error(None, column, f"is missing; {REMEDY}")
        return cls(tuple(_cables(rows)), str(path))

    @cached_property
    def port_of(self) -> dict[End, str]:
        """Port of each end; of one that is plugged in twice, the first."""
        found: dict[End, str] = {}
        for cable in self.cables:
            found.setdefault(End(cable.switch, cable.end, cable.direction), cable.port)
        return found

    def to_csv(self) -> str:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for c in self.cables:
            writer.writerow((c.switch, c.port, c.direction, c.end, "" if c.loss_db is None else f"{c.loss_db:g}"))
        return out.getvalue()


def _cables(rows: TextTable) -> Iterator[Cable]:
    for row, number in enumerate(rows.numbers):
        switch, port, direction, end = (_filled(rows, row, column) for column in COLUMNS[:4])
        if direction not in SIDES:
            raise rows.error(row, "direction", f"'{direction}' is neither input nor output")
        place = f"{rows.unit} {number}"
        yield Cable(switch, port, direction, end, _loss_db(rows, row), place)


def _filled(rows: TextTable, row: int, column: str) -> str:
    value = rows.cells[column][row]
    if not value:
        raise rows.error(row, column, "is empty")
    return value


def _loss_db(rows: TextTable, row: int) -> float | None:
    text = rows.cells["loss_db"][row] if "loss_db" in rows.header else ""
    if not text:
        return None
    try:
        loss_db = float(text.removesuffix("dB").strip())
    except ValueError:
        loss_db = -1.0
    if not 0 <= loss_db <= MOST_LOSS_DB:
        raise rows.error(row, "loss_db", f"'{text}' is no loss from 0 to {MOST_LOSS_DB:g} dB")
    return loss_db


def seen_ends(path: Path) -> dict[tuple[str, str], str]:
    """What switches say they see at their ports, by switch and port: a table with the columns switch, port and end.
    InputError also for a port that sees two ends."""
    rows = read_rows(path, remedy="give what the switches report, with the columns switch, port and end")
    wanted: Sequence[str] = ("switch", "port", "end")
    for column in wanted:
        if column not in rows.header:
            raise rows.error(None, column, f"is missing; the columns are {', '.join(wanted)}")
    columns = (rows.cells[column] for column in wanted)
    found: dict[tuple[str, str], str] = {}
    for row, (switch, port, end) in enumerate(zip(*columns, strict=True)):
        if not switch or not port:
            raise rows.error(row, "port" if switch else "switch", "is blank; fill it or drop the row")
        if end and found.setdefault((switch, port), end) != end:
            said = f"{switch} {port} sees {end} here and {found[switch, port]} above; leave what it sees now"
            raise rows.error(row, "end", said)
    return found
