"""Switches for each digit of an accelerator's number, for a new instance."""

from typing import Any

from planner.fabrics.template import Template
from planner.model.errors import InputError


class SipacTemplate(Template):
    """Accelerators of a server are a power of the radix."""

    body = """\
  fabric:
    kind: sipac                        # each accelerator has a port into a switch for each of its digits
    servers: {servers}
    radix: {radix:<27} # accelerators that a switch joins
    digits: {digits:<26} # radix ^ digits accelerators in each server; jobs take powers of the radix
    bandwidth: 300 GB/s                # of all ports of an accelerator, one direction
    alpha: 0.7 us
    energy: 5 pJ/b
  # health: {{failed_tiles: [s0.a0]}}
"""

    def numbers(self, *, servers: int, tiles: int, fibers: int) -> dict[str, Any]:
        if tiles == 1:
            raise InputError(
                "the new instance", "tiles", "accelerators of a sipac have peers; give 2 or more in a server"
            )
        radix, digits = radix_and_digits(tiles)
        return {"servers": servers, "radix": radix, "digits": digits}


def radix_and_digits(number: int) -> tuple[int, int]:
    """Radix and digits with radix ^ digits = number: two digits or more where it can be, then a radix of 4 or more."""
    powers = [(r, d) for r in range(2, number + 1) for d in range(1, 13) if r**d == number]
    return min(powers, key=lambda power: (power[1] == 1, power[0] < 4, power[0]))
