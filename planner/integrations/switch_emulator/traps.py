"""What becomes of a circuit that is added, as a table: from the bulk-update cases in the platform guide of
sonic-molex/sonic-buildimage (summary of conflict behavior).
"""

from dataclasses import dataclass
from enum import StrEnum

FEWEST_FORCED = 2
"""entries of one request from which on adds take the path of bulk creation, which forces"""


class NewCircuit(StrEnum):
    """What becomes of the entry that is added."""

    ENABLED = "enabled"
    INVALID = "invalid"
    """it is listed, and carries no light until it is deleted and added again"""
    SKIPPED = "skipped"
    """its configuration is written and counted; the hardware is not touched"""


class OldCircuit(StrEnum):
    """What becomes of circuits that had a port of the new one."""

    UNCHANGED = "unchanged"
    INVALID = "invalid"
    """for good: until it is deleted"""


@dataclass(frozen=True)
class AddCase:
    """The situation of one entry."""

    is_known: bool
    """its name is there already, whatever its status"""
    is_busy: bool
    """one of its ports belongs to another enabled circuit"""
    is_forced: bool
    """it comes with others"""


OUTCOMES: dict[AddCase, tuple[NewCircuit, OldCircuit]] = {
    AddCase(False, False, False): (NewCircuit.ENABLED, OldCircuit.UNCHANGED),
    AddCase(False, False, True): (NewCircuit.ENABLED, OldCircuit.UNCHANGED),
    AddCase(False, True, False): (NewCircuit.INVALID, OldCircuit.UNCHANGED),
    AddCase(False, True, True): (NewCircuit.ENABLED, OldCircuit.INVALID),
    AddCase(True, False, False): (NewCircuit.SKIPPED, OldCircuit.UNCHANGED),
    AddCase(True, False, True): (NewCircuit.SKIPPED, OldCircuit.UNCHANGED),
    AddCase(True, True, False): (NewCircuit.SKIPPED, OldCircuit.UNCHANGED),
    AddCase(True, True, True): (NewCircuit.SKIPPED, OldCircuit.UNCHANGED),
}
"""deletes of the same request are done before"""
