"""Ports of an emulated switch in the names of other protocols than SONiC's."""

from planner.integrations.switch_emulator.optics import number_of

PER_FIBER, PER_SEGMENT = 8, 64
"""ports of Calient's ribbons of fibers, and of segments of such ribbons"""


def number(port: str, per_side: int) -> int:
    """Inputs are numbered first, outputs after them: of 68 ports on each side, 1A is 1 and 1B is 69."""
    return number_of(port) + (per_side if port.endswith("B") else 0)


def numbered(port_number: int, per_side: int) -> str:
    """The port with this number; KeyError where there is none."""
    if not 1 <= port_number <= 2 * per_side:
        raise KeyError(port_number)
    return f"{port_number}A" if port_number <= per_side else f"{port_number - per_side}B"


def fiber(port: str) -> str:
    """SEGMENT.FIBER.PORT: the same for the input and the output of a duplex port; 1A and 1B are 1.1.1."""
    index = number_of(port) - 1
    return f"{index // PER_SEGMENT + 1}.{index % PER_SEGMENT // PER_FIBER + 1}.{index % PER_FIBER + 1}"


def of_fiber(name: str, side: str) -> str:
    """The input (side A) or output (B) of a duplex port; KeyError for what is no such name."""
    parts = name.split(".")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        raise KeyError(name)
    segment, ribbon, place = (int(part) for part in parts)
    if segment < 1 or not 1 <= ribbon <= PER_SEGMENT // PER_FIBER or not 1 <= place <= PER_FIBER:
        raise KeyError(name)
    return f"{(segment - 1) * PER_SEGMENT + (ribbon - 1) * PER_FIBER + place}{side}"
