"""Names of what lives in a second memory tier: some of weights, activations and optimizer state, or shares of caches,
served weights and tables."""

import re
from collections.abc import Sequence
from itertools import product

from costmodel.parallelism.mappings import EIGHTHS, OFFLOAD, SERVED, Served, first_bit

PART = re.compile(r"([a-z]+)(?: +(\d+(?:\.\d+)?) ?%)?")


def offload_code(choice: str) -> int:
    """Number of a choice such as "weights+optimizer" or "cache 25 %" in `Mappings.offload`; ValueError names the right
    form."""
    if choice == "none":
        return 0
    parts = choice.split("+")
    if len(set(parts)) == len(parts) and set(parts) <= set(OFFLOAD):
        return sum(1 << bit for bit, name in enumerate(OFFLOAD) if name in parts)
    if "%" in choice and len(codes := share_codes([choice], SERVED)) == 1:
        return codes[0]
    raise ValueError(f"offload: '{choice}' is not 'none' or some of {', '.join(OFFLOAD)} joined by +")


def offload_name(code: int) -> str:
    parts: list[str] = [name for bit, name in enumerate(OFFLOAD) if code >> bit & 1]
    for name in SERVED:
        if eighths := code >> first_bit(name) & 15:
            parts.append(f"{name} {100 * eighths / EIGHTHS:g} %")
    return "+".join(parts) or "none"


def share_codes(choices: Sequence[str], names: Sequence[Served]) -> tuple[int, ...]:
    """Numbers of all that these choices leave open: of a name without a share every one; ValueError names the right
    form."""
    found = dict[int, None]()
    for choice in choices:
        parts = choice.split("+")
        menus = [[0]] if choice == "none" else [_shares(part, names) for part in parts]
        if not all(menus) or len({part.split()[0] for part in parts}) < len(parts):
            raise ValueError(_wrong(choice, names))
        found |= dict.fromkeys(sum(codes) for codes in product(*menus))
    return tuple(found)


def _shares(part: str, names: Sequence[Served]) -> list[int]:
    """Codes of the shares that a part of a choice leaves open; none where it is no name of these with a share."""
    found = PART.fullmatch(part)
    name = next((name for name in names if found and found[1] == name), None)
    if found is None or name is None:
        return []
    asked = float(found[2]) * EIGHTHS / 100 if found[2] else None
    return [number << first_bit(name) for number in range(1, EIGHTHS + 1) if asked in (None, number)]


def _wrong(choice: str, names: Sequence[str]) -> str:
    forms = f"{names[0]} or {names[0]} 25 %, in steps of {100 / EIGHTHS:g} %"
    return f"offload: '{choice}' is not 'none' or some of {', '.join(names)} joined by +, such as {forms}"
