"""Numbers of servers as they are sold, for the text of a fabric."""

import re
from collections.abc import Mapping

from costmodel.catalog import documents
from costmodel.hardware.systems import system_of

_FIELD = re.compile(r"^( +(\w+): +)([^#\n]*?)( *)(#.*)?$", re.MULTILINE)


def usual_numbers(device: str) -> Mapping[str, str]:
    """Fields of the catalog's server with such accelerators, as its file has them; none if it has none."""
    try:
        return documents()[system_of(device).name]
    except ValueError:
        return {}


def with_usual_numbers(text: str, device: str) -> str:
    """The YAML of a fabric with the rates, times and energies of the catalog's server; comments keep their column."""
    usual = {key: value for key, value in usual_numbers(device).items() if key.startswith(("nvlink_", "network_"))}

    def number(match: re.Match[str]) -> str:
        head, key, value, space, comment = match.groups()
        return f"{head}{usual.get(key, value):<{len(value) + len(space)}}{comment or ''}".rstrip()

    return _FIELD.sub(number, text)
