"""Lines of SCPI: units, headers and lists of channels."""

import re
from collections.abc import Iterator

_LISTS = re.compile(r"\(@([0-9,:\s]*)\)")


class ScpiError(Exception):
    """Of the queue of errors; codes of SCPI-99, volume 2, chapter 21."""

    def __init__(self, code: int, said: str) -> None:
        super().__init__(said)
        self.code, self.said = code, said


def units_of(line: str) -> Iterator[str]:
    """Program message units of a line, which `;` parts."""
    return (unit.strip() for unit in line.split(";") if unit.strip())


def resolved(unit: str, path: tuple[str, ...]) -> tuple[str, tuple[str, ...], str]:
    """Full header of a unit, path for the next unit, and parameters: a header that does not begin with a colon goes on
    below where the one before it stood; those with an asterisk leave that as it is."""
    header, _, given = unit.partition(" ")
    if header.startswith("*"):
        return header, path, given
    parts = tuple(header.removeprefix(":").split(":"))
    full = parts if header.startswith(":") or not path else (*path, *parts)
    return ":".join(full), full[:-1], given


def spelled(header: str, name: str) -> bool:
    """Whether a header is this name, each word in its short form (capitals) or its long one."""
    given, words = header.upper().split(":"), name.split(":")
    return len(given) == len(words) and all(
        said in (word.upper(), "".join(c for c in word if not c.islower()))
        for said, word in zip(given, words, strict=True)
    )


def lists_of(text: str, count: int) -> list[list[int]]:
    """So many lists of numbers such as (@1,2,5:7)."""
    found = _LISTS.findall(text)
    if len(found) != count or _LISTS.sub("", text).strip(" ,\t"):
        raise ScpiError(
            -109 if len(found) < count else -108, "Missing parameter" if len(found) < count else "Parameter"
        )
    return [[each for part in body.split(",") if part.strip() for each in _range(part)] for body in found]


def _range(part: str) -> range:
    first, _, last = (text.strip() for text in part.partition(":"))
    if not first.isdecimal() or not (last or first).isdecimal():
        raise ScpiError(-104, "Data type error")
    return range(int(first), int(last or first) + 1)
