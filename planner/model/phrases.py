"""Small phrases for people."""

from collections.abc import Sequence


def accelerators(count: int) -> str:
    """4 accelerators"""
    return f"{count} accelerator{'' if count == 1 else 's'}"


def listed(words: Sequence[str], conjunction: str = "and") -> str:
    """a, b and c"""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"
