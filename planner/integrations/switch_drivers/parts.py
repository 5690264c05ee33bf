"""Which parts of a fabric the circuits of a job take, from their names alone."""

import re
from collections.abc import Iterator
from typing import Any

from planner.controller.switch_driver import Circuits

_SLOT = re.compile(r"\d+$")
_SERVER = re.compile(r"(?:r\d+\.)?s\d+")
"""written here too: hooks start without what the fabrics need"""
_UPLINK = re.compile(r"\.q\d+#\d+$")
"""of a server with pooled memory, such as s0.q8#1"""

_RACK = re.compile(r"r\d+")
"""as an end of a circuit over a fiber between racks"""


def _each(circuits: Circuits) -> Iterator[dict[str, Any]]:
    return (circuit for held in circuits for circuit in held["circuits"])


def taken(circuits: Circuits) -> set[str]:
    """Wavelengths that no other job may use: on fibers and uplinks, at senders and at receivers.

    On rails a wavelength is the number of a switch, so that senders and receivers are ports into it. A rack that sends
    over fibers has a wavelength for each of them.
    """
    found = set()
    for circuit in _each(circuits):
        for wavelength in circuit["wavelengths"]:
            if not _RACK.fullmatch(circuit["from"]):
                found.add(f"{circuit['from']}:w{wavelength}")
                found.add(f"{circuit['to']}:rx:w{wavelength}")
            found.update(f"{step}:w{wavelength}" for step in circuit["fibers"] if ">" in step or _UPLINK.search(step))
    return found


def joined(circuits: Circuits) -> set[str]:
    """Which end sends to which on which wavelength over what: others may have all parts of a circuit between them."""
    return {
        f"{circuit['from']} to {circuit['to']} over {','.join(sorted(circuit['fibers']))}:w{wavelength}"
        for circuit in _each(circuits)
        for wavelength in circuit["wavelengths"] or ("",)
    }


def switches(circuits: Circuits) -> set[str]:
    """Devices that are set to make circuits: servers whose light is switched, and switches between servers."""
    found = set()
    for circuit in _each(circuits):
        servers = {name[0] for end in ("from", "to") if (name := _SERVER.match(circuit[end]))}
        found.update(servers)
        for step in circuit["fibers"]:
            found.update(step.partition("#")[0].split(">") if ">" in step else (step, step.rpartition(".")[2]))
        if len(servers) > 1 and not circuit["fibers"]:
            found.update(_rails(circuit))
    return found


def _rails(circuit: dict[str, Any]) -> set[str]:
    rails = {match[0] for end in ("from", "to") if (match := _SLOT.search(circuit[end]))}
    return {f"q{rail}#{switch}" for rail in rails for switch in circuit["wavelengths"]}


def used(circuits: Circuits) -> set[str]:
    """Every name of a part whose failure would cut one of the circuits, in the words of `planner.whatif.failures`."""
    found = taken(circuits)
    for circuit in _each(circuits):
        found.update(circuit["fibers"])
        for device, side in ((circuit["from"], "tx"), (circuit["to"], "rx")):
            found.update((device, f"{device}:port", f"{device}:{side}"))
        found.update(_rails(circuit))
    return found
