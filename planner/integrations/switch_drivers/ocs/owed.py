"""Cross-connects of ours that no job has any more, and that a switch could not be told to delete."""

import json
from collections.abc import Callable, Collection
from pathlib import Path

from planner.controller.switch_driver import CircuitError
from planner.integrations.private_files import write_private
from planner.integrations.switch_drivers.ocs.tables import CrossConnectRow
from planner.integrations.switch_drivers.ocs.wanted_rows import Rows


class OwedRows:
    """Kept in one file, `owed.json`; whoever changes it holds the lock of the record."""

    def __init__(self, folder: Path, fence: Callable[[], int]) -> None:
        """`fence`: asked before each write; raises where nothing may be written any more."""
        self._path, self._fence = folder / "owed.json", fence

    def read(self) -> Rows:
        """By switch."""
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
            return {switch: frozenset(CrossConnectRow(*row) for row in rows) for switch, rows in data.items()}
        except FileNotFoundError:
            return {}
        except (ValueError, TypeError, AttributeError) as error:
            raise CircuitError(f"{self._path} holds no cross-connects ({error}); remove it, then resync") from None

    def add(self, switch: str, rows: Collection[CrossConnectRow]) -> None:
        owed = self.read()
        self._write({**owed, switch: owed.get(switch, frozenset()).union(rows)})

    def paid(self, switch: str, rows: Collection[CrossConnectRow]) -> None:
        """These are deleted, or wanted again."""
        owed = self.read()
        if switch in owed:
            self._write({**owed, switch: owed[switch].difference(rows)})

    def _write(self, owed: Rows) -> None:
        data = {switch: sorted(rows) for switch, rows in owed.items() if rows}
        self._fence()
        write_private(self._path, json.dumps(data, separators=(",", ":")) + "\n")
