"""Which switches to emulate: how many, their names, or a table of them."""

import csv
import re
from collections.abc import Iterable
from pathlib import Path

from planner.integrations.switch_emulator.application import REFEREE
from planner.integrations.switch_emulator.emulator import SwitchSpec
from planner.model.errors import InputError

MOST_SWITCHES, MOST_PORTS = 1024, 2048
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
"""of a switch: it is a part of a path"""
TAKEN = (REFEREE, "gnmi")
"""names of addresses that are no switches"""


def read_switches(given: str, ports: int) -> list[SwitchSpec]:
    """`given`: a number (ocs0, ocs1, ...), names with commas, or a CSV with the column name and perhaps ports."""
    if given.isdecimal():
        specs = [SwitchSpec(f"ocs{number}", ports) for number in range(min(int(given), MOST_SWITCHES + 1))]
    elif given.lower().endswith(".csv"):
        specs = _from_table(Path(given), ports)
    else:
        specs = [SwitchSpec(name.strip(), ports) for name in given.split(",")]
    _require_sane(given, specs)
    return specs


def _from_table(path: Path, ports: int) -> list[SwitchSpec]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeError, csv.Error) as error:
        raise InputError(str(path), "--switches", f"cannot be read: {getattr(error, 'strerror', error)}") from None
    specs = []
    for number, row in enumerate(rows, 2):
        own = (row.get("ports") or "").strip() or str(ports)
        name = (row.get("name") or "").strip()
        if not name or not own.isdecimal():
            problem = "give the columns name and, where they differ, ports, a number"
            raise InputError(str(path), f"line {number}", problem)
        specs.append(SwitchSpec(name, int(own)))
    return specs


def _require_sane(given: str, specs: Iterable[SwitchSpec]) -> None:
    names = [spec.name for spec in specs]
    if not 1 <= len(names) <= MOST_SWITCHES:
        raise InputError("--switches", given, f"is not from 1 to {MOST_SWITCHES:,} switches")
    for spec in specs:
        if not NAME.fullmatch(spec.name) or spec.name in TAKEN:
            raise InputError(
                "--switches", f"'{spec.name}'", "is no name; use letters, digits and ._-, not referee or gnmi"
            )
        if names.count(spec.name) > 1:
            raise InputError("--switches", f"'{spec.name}'", "is there twice")
        if spec.ports % 2 or not 2 <= spec.ports <= MOST_PORTS:
            problem = f"{spec.ports} is not an even number of ports from 2 to {MOST_PORTS:,}: half are side A, half B"
            raise InputError("--ports", spec.name, problem)
