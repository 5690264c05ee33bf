"""One switch from what its own tables say to what is wanted there: read, change in one transaction, read again."""

import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass

from planner.integrations.switch_drivers.ocs.config import SwitchSite
from planner.integrations.switch_drivers.ocs.switch import OcsSwitch, SwitchError, SwitchSilentError
from planner.integrations.switch_drivers.ocs.tables import CrossConnectRow, SwitchTables

FIRST_LOOK_S, LATEST_LOOK_S = 0.004, 0.25
"""between two looks at ports that settle: the first, and at most after doubling; mirrors settle in milliseconds"""
DEAD = {"failed", "powered_off", "force_blocked"}


class SwitchFaultError(SwitchError):
    """A switch that answers does not do what it is told."""

    def __init__(self, message: str, part: str | None, *, is_busy: bool = False) -> None:
        super().__init__(message)
        self.part, self.is_busy = part, is_busy


@dataclass(frozen=True)
class WantedHere:
    """What is to be on one switch, and what is not."""

    mine: frozenset[CrossConnectRow]
    """of the job at hand: they carry light when all is done"""
    others: frozenset[CrossConnectRow] = frozenset()
    """of jobs that have their circuits: added where the switch has lost them"""
    unsure: frozenset[CrossConnectRow] = frozenset()
    """of jobs whose circuits are being set or put off: left as they are"""
    owed: frozenset[CrossConnectRow] = frozenset()
    """that no job has any more: deleted"""
    is_fresh: bool = False
    """nothing of the job has been set before: what is there alike is of somebody else"""

    @property
    def gone(self) -> frozenset[CrossConnectRow]:
        return self.owed - self.mine - self.others - self.unsure

    @property
    def known(self) -> frozenset[CrossConnectRow]:
        """Of ours, before the job at hand."""
        return self.others | self.unsure | self.owed


def set_on(site: SwitchSite, switch: OcsSwitch, wanted: WantedHere) -> SwitchTables:
    """The last reading, once all of the job carries light; SwitchFaultError, SwitchSilentError, SwitchRefusalError."""
    last: SwitchFaultError | None = None
    for number in range(switch.tries):
        switch.pause(number)
        is_untouched = wanted.is_fresh and number == 0
        try:
            tables = switch.read()
            require_free(site, switch.name, tables, wanted, is_untouched=is_untouched)
        except SwitchError as error:
            error.is_untouched = is_untouched
            raise
        delete, add = change_of(tables, wanted, is_again=number > 0)
        if delete or add:
            with suppress(SwitchSilentError):  # done or not: the tables say
                switch.update(delete, add)
        try:
            return _with_light(site, switch, wanted, None if delete or add else tables)
        except SwitchFaultError as error:
            last = error
            if error.is_busy:
                break
    assert last is not None
    raise last


def set_off(switch: OcsSwitch, rows: Collection[CrossConnectRow]) -> set[CrossConnectRow]:
    """Return once none of these is configured: cross-connects that are at their ports still, which are of others. What
    came before is thereby overtaken: the first delete names all of them, on or not, so that a transaction which was
    never answered ends before it."""
    wanted = frozenset(rows)
    ports = {port for row in wanted for port in (row.a_side, row.b_side)}
    for number in range(switch.tries + 1):
        found = switch.rows()
        left = {row for row in wanted if found.get(row.name) == row}
        if number and not left:
            return {row for row in found.values() if ports & {row.a_side, row.b_side}}
        if number == switch.tries:
            break
        switch.pause(number)
        gone = left if number else {row for row in wanted if found.get(row.name, row) == row}
        with suppress(SwitchSilentError):
            if gone:
                switch.update(gone, ())
    names = ", ".join(sorted(row.name for row in left))
    raise SwitchFaultError(f"{switch.name} does not let go of {names}", switch.name)


def put_back(switch: OcsSwitch, rows: Collection[CrossConnectRow]) -> list[CrossConnectRow]:
    """Those of these cross-connects, of others, that came while the switch was changed and were pushed out of their
    ports, which are free again: each is deleted and added, alone, so that it pushes nobody out itself."""
    tables = switch.read()
    pushed = [row for row in sorted(rows) if tables.status(row) == "invalid"]
    for row in pushed:
        switch.update({row}, {row})
    return pushed


def require_free(
    site: SwitchSite, switch: str, tables: SwitchTables, wanted: WantedHere, *, is_untouched: bool = False
) -> None:
    """SwitchFaultError where a cross-connect that is none of ours has a port, or the name, of one that is wanted.
    `is_untouched`: nothing of the job has been set on the switch."""
    ours = wanted.known if is_untouched else wanted.known | wanted.mine
    ports = {port for row in wanted.mine for port in (row.a_side, row.b_side)}
    named = [tables.rows[row.name] for row in wanted.mine if row.name in tables.rows]
    for row in sorted({*tables.at_ports(ports), *named} - ours):
        port = next((port for port in (row.a_side, row.b_side) if port in ports), None)
        what = f"{row.name} ({row.a_side} to {row.b_side}), which is of no job"
        if port is None:
            raise SwitchFaultError(f"{switch}: the name {row.name} is taken by {what}", switch, is_busy=True)
        message = f"{switch}: port {port} ({site.end(switch, port)}) is in use by {what}"
        raise SwitchFaultError(message, site.part(switch, port), is_busy=True)


def change_of(
    tables: SwitchTables, wanted: WantedHere, *, is_again: bool
) -> tuple[set[CrossConnectRow], set[CrossConnectRow]]:
    """Rows to delete, and rows to add, in one transaction. What is in the way goes first: of our own, also what is
    there without light, since a switch leaves an invalid cross-connect as it is; `is_again`: what has just been set
    and is not lit."""
    stale = {row for row in wanted.mine if _is_stale(tables, row, is_again=is_again)}
    delete = {row for row in wanted.gone | stale if tables.rows.get(row.name) == row}
    if not is_again:
        delete |= {row for row in wanted.gone if row.name not in tables.rows}
    add = {row for row in wanted.mine if tables.rows.get(row.name) != row} | stale
    names = {row.name for row in delete}
    taken = {port for row in tables.rows.values() if row.name not in names for port in (row.a_side, row.b_side)}
    taken |= {port for row in add for port in (row.a_side, row.b_side)}
    lost = {row for row in wanted.others if row.name not in tables.rows and not taken & {row.a_side, row.b_side}}
    return delete, add | lost


def _is_stale(tables: SwitchTables, row: CrossConnectRow, *, is_again: bool) -> bool:
    status = tables.status(row)
    return status != "enabled" or (is_again and bool(tables.dark_ports(row)))


def _with_light(site: SwitchSite, switch: OcsSwitch, wanted: WantedHere, tables: SwitchTables | None) -> SwitchTables:
    """The reading in which all of the job has light. What the switch has dropped, or holds for a conflict, is not
    waited for. `tables`: as just read, None where they have changed since."""
    end_s, delay_s = time.monotonic() + site.config.settle_s, FIRST_LOOK_S
    while True:
        if tables is None:
            time.sleep(delay_s)
            delay_s, tables = min(2 * delay_s, LATEST_LOOK_S), switch.read()
            require_free(site, switch.name, tables, wanted)
        faults = list(faults_of(site, switch.name, tables, wanted.mine))
        if not faults:
            return tables
        lost = [fault for fault in faults if tables.status(fault[0]) in ("missing", "invalid")]
        if lost or time.monotonic() > end_s:
            told = lost or faults
            _, port, message = told[0]
            is_all = len(wanted.mine) > 1 and len(told) == len(wanted.mine)
            raise SwitchFaultError(message, switch.name if is_all else site.part(switch.name, port))
        tables = None


def faults_of(
    site: SwitchSite, switch: str, tables: SwitchTables, rows: Collection[CrossConnectRow]
) -> Iterator[tuple[CrossConnectRow, str, str]]:
    """Cross-connects that do not work, each with the port to blame and why, the surest first."""
    found = []
    for row in sorted(rows):
        status, dark = tables.status(row), tables.dark_ports(row)
        if status != "enabled":
            dead = [port for port in dark if tables.port_status(port) in DEAD]
            found.append((not dead, row, (dead or [row.a_side])[0], f"{switch}: {row.name} is {status}"))
        elif dark:
            dead = [port for port in dark if tables.port_status(port) in DEAD]
            port = (dead or dark)[0]
            said = f"{switch}: port {port} ({site.end(switch, port)}) of {row.name} reports {tables.port_status(port)}"
            found.append((not dead, row, port, f"{said}, not light to the other side"))
        elif (excess := _excess(site, switch, tables, row)) is not None:
            found.append((True, row, *excess))
    for _, row, port, message in sorted(found):
        yield row, port, message


def _excess(site: SwitchSite, switch: str, tables: SwitchTables, row: CrossConnectRow) -> tuple[str, str] | None:
    """The port with the worse cable, and what a circuit loses, where that is more than the budget."""
    most_db, measured_db = site.config.most_loss_db, tables.outcomes[row.name].loss_db
    if most_db is None or measured_db is None:
        return None
    by_port = {port: site.cable_at[switch, port].loss_db or 0.0 for port in (row.a_side, row.b_side)}
    total_db = measured_db + sum(by_port.values())
    if total_db <= most_db:
        return None
    cables = " and ".join(f"{loss_db:g}" for loss_db in by_port.values())
    said = f"{switch}: {row.name} loses {measured_db:g} dB, its cables {cables} dB: together more than {most_db:g} dB"
    return max(by_port, key=lambda port: by_port[port]), said
