"""What of a referee's findings is to be blamed on who controls the switches."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from planner.integrations.switch_emulator import Finding, Holding
from planner.integrations.switch_emulator.referee import CrossConnect, FindingKind

OF_LIGHT = {FindingKind.WRONG, FindingKind.SHARED, FindingKind.LEAKED}
WITHOUT = {FindingKind.DARK, FindingKind.EARLY}


@dataclass
class Verdict:
    """Findings to be blamed, and why others are not."""

    blamed: list[Finding] = field(default_factory=list)
    excused: Counter[str] = field(default_factory=Counter)


def verdict(
    findings: Sequence[Finding],
    held: Iterable[Holding],
    guests: Mapping[CrossConnect, float],
    told: Sequence[str],
    grace_s: float,
) -> Verdict:
    """`guests`: circuits of others, and when they first came; `told`: all that was logged.

    Not blamed are, beside what a fault of a switch did:

    - light of a job that has ended, until it is put off, at ports of one that has not started;
    - a circuit of others that came between a reading and the change that followed, if that was told, and its light
      after it was set again; nobody can tell whose a circuit is that has the ports of one of ours;
    - circuits that are put off of a job to which a fault had done so within `grace_s` before.
    """
    known = list(held)
    ours = {circuit for holding in known for circuit in holding.circuits}
    dark = [each for each in findings if each.kind in WITHOUT and not each.is_by_request]
    found = Verdict()
    for each in findings:
        circuit = each.switch, each.a_side, each.b_side
        if not each.is_by_request:
            reason = "by a fault"
        elif each.kind == FindingKind.TAKEN:
            reason = "alike" if circuit in ours else "told" if _is_told(circuit, told) else ""
        elif each.kind in OF_LIGHT and guests.get(circuit, math.inf) <= each.from_s and _is_told(circuit, told):
            reason = "set again"
        elif each.kind in OF_LIGHT and _is_afterglow(each, known, grace_s):
            reason = "afterglow"
        elif each.kind == FindingKind.DARK and _was_hit(each, dark, grace_s):
            reason = "after a fault"
        else:
            reason = ""
        if reason:
            found.excused[reason] += 1
        else:
            found.blamed.append(each)
    return found


def _is_told(circuit: CrossConnect, told: Iterable[str]) -> bool:
    switch, a_side, b_side = circuit
    return any(switch in said and f"{a_side}-{b_side}" in said for said in told)


def _is_afterglow(finding: Finding, held: Iterable[Holding], grace_s: float) -> bool:
    circuit = finding.switch, finding.a_side, finding.b_side
    ports = {(finding.switch, finding.a_side), (finding.switch, finding.b_side)}
    was_had = any(circuit in each.circuits and 0 <= finding.until_s - each.until_s <= grace_s for each in held)
    at_ports = (
        each
        for each in held
        if each.from_s < finding.until_s
        and finding.from_s < each.until_s
        and any((switch, port) in ports for switch, *sides in each.circuits for port in sides)
    )
    return was_had and all(each.started_s is None or each.started_s >= finding.until_s for each in at_ports)


def _was_hit(finding: Finding, dark: Iterable[Finding], grace_s: float) -> bool:
    return any(each.jobs == finding.jobs and each.from_s <= finding.from_s <= each.until_s + grace_s for each in dark)
