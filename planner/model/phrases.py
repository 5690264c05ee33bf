"""Small phrases for people."""

from collections.abc import Sequence

from costmodel.wording import counted


def accelerators(count: int) -> str:
    """4 accelerators"""
    return counted(count, "accelerator")


def listed(words: Sequence[str], conjunction: str = "and") -> str:
    """a, b and c"""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"


def few(words: Sequence[str], most: int = 3) -> str:
    """a, b, c and 12 more"""
    return listed(words) if len(words) <= most + 1 else f"{', '.join(words[:most])} and {len(words) - most} more"
