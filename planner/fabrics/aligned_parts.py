"""Circuits of a job's parts in several racks under the same names: what one part has on in all phases of the workload
stands under each phase where another part tells these apart."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
What = TypeVar("What", bound=str)
Key = tuple[What, str | None]
"""what circuits serve, and the one phase in which they are on; None: in all"""


def aligned(parts: Sequence[Sequence[tuple[Key[What], T]]]) -> list[tuple[Key[What], list[T]]]:
    """Each key with what it stands for in every part, in the order of the first part; a key may come several times."""
    keys = [[key for key, _ in part] for part in parts]
    if all(each == keys[0] for each in keys):
        return [(same[0][0], [entry for _, entry in same]) for same in zip(*parts, strict=True)]
    tables = [_by_key(part) for part in parts]
    apart = {key for table in tables for key in table if any(key not in other for other in tables)}
    split = {what: [phase for of, phase in _in_order(tables) if of == what and phase] for what, _ in apart}
    tables = [_split(table, split) for table in tables]
    return [
        (key, [table[key][number] for table in tables])
        for key, entries in tables[0].items()
        for number in range(len(entries))
    ]


def _by_key(part: Sequence[tuple[Key[What], T]]) -> dict[Key[What], list[T]]:
    found: dict[Key[What], list[T]] = {}
    for key, entry in part:
        found.setdefault(key, []).append(entry)
    return found


def _in_order(tables: Sequence[dict[Key[What], list[T]]]) -> list[Key[What]]:
    """All keys as they are met, each once."""
    return list(dict.fromkeys(key for table in tables for key in table))


def _split(table: dict[Key[What], list[T]], phases: dict[What, list[str]]) -> dict[Key[What], list[T]]:
    """Entries of all phases under each one of those that are told apart."""
    found: dict[Key[What], list[T]] = {}
    for (what, phase), entries in table.items():
        for each in phases.get(what, [phase]) if phase is None else [phase]:
            found[what, each] = entries
    return found
