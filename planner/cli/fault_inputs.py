"""Options of commands that replay faults."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.simulate.fault_study import FaultStudy

SERVERS_HELP = (
    "servers=number (server k of the log is host k, further ones are left out), wrap (host k modulo the hosts) or draw "
    "(each host is one of population=400 servers, by seed); host=N accelerators (a whole server unless given); "
    "single=GPU+NIC: classes that take one accelerator, by seed"
)
"""rules of how servers of a log lie on a cluster"""
COMPARED = "requeue,spare_server,repair"
"""responses to a fault log unless some are named"""


def faults_of(failures: Path | None, log: Path | None, on_fault: str | None, rules: str) -> "FaultStudy | None":
    """Faults of a study and the answers to them; None where jobs are placed again as always."""
    from planner.model.errors import InputError
    from planner.simulate.fault_study import FaultStudy, parse_rules, responses_of
    from planner.whatif.fault_log import read_fault_log

    if log is None and failures is None and (on_fault is not None or rules):
        option = "--fault-rules" if on_fault is None else "--on-fault"
        raise InputError(option, "", "has no faults to go by; give --faults FILE or --failures FILE")
    if log is None and on_fault is None and not rules:
        return None
    given = parse_rules(rules)
    known = None if log is None else read_fault_log(log)
    if known is not None:
        known.require_classes(given.single)
    return FaultStudy(known, given, responses_of(COMPARED if on_fault is None else on_fault))
