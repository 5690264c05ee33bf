"""Small phrases."""

from collections.abc import Iterable

from costmodel.fabrics import FabricBase
from planner.model.phrases import accelerators, listed
from planner.model.plan import Assignment


def servers(fabric: FabricBase, devices: Iterable[str]) -> list[str]:
    """Names of the servers of some devices, in order."""
    return [fabric.server_name(s) for s in sorted({fabric.parse_device(name)[0] for name in devices})]


def place(fabric: FabricBase, assignment: Assignment) -> str:
    """with 4 accelerators on s0 and s1"""
    where = listed(servers(fabric, assignment.devices))
    return f"with {accelerators(len(assignment.devices))} on {where}"


def pace(speed: float, reference: float) -> str:
    """Speed against a reference; empty where there is none or both agree within half a percent."""
    if reference <= 0 or speed <= 0 or abs(speed / reference - 1) < 0.005:
        return ""
    ratio = reference / speed
    return f"{ratio:.3g}x slower" if ratio > 1 else f"{1 / ratio:.3g}x faster"


def in_brackets(*phrases: str) -> str:
    """A space and (a, b), or nothing where all phrases are empty."""
    said = [phrase for phrase in phrases if phrase]
    return f" ({', '.join(said)})" if said else ""


def amount(number: float) -> str:
    """Three significant digits."""
    return f"{number or 0:.3g}"
