"""Driver of optical circuit switches: each is led from its own table to what all jobs want there."""

import logging
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

from costmodel.fabrics import FabricBase
from planner.controller.switch_driver import (
    NO_CIRCUITS,
    CircuitBusyError,
    CircuitError,
    Circuits,
    OnJob,
    Resynced,
    UnsureError,
)
from planner.fabrics import plugin_of
from planner.integrations.private_files import make_private
from planner.integrations.switch_drivers.ocs.config import SwitchSite
from planner.integrations.switch_drivers.ocs.converge import (
    SwitchFaultError,
    WantedHere,
    faults_of,
    put_back,
    set_off,
    set_on,
)
from planner.integrations.switch_drivers.ocs.owed import OwedRows
from planner.integrations.switch_drivers.ocs.protocols import switch_of
from planner.integrations.switch_drivers.ocs.switch import OcsSwitch, SwitchError, SwitchSilentError
from planner.integrations.switch_drivers.ocs.tables import CrossConnectRow, SwitchTables
from planner.integrations.switch_drivers.ocs.wanted_rows import Rows, WantedRows
from planner.integrations.switch_drivers.recorded import RecordedDriver, unfenced
from planner.model.errors import InputError

MOST_AT_ONCE = 256
"""switches"""
NONE: frozenset[CrossConnectRow] = frozenset()
log = logging.getLogger("planner.controller")


class OcsDriver(RecordedDriver):
    """Sets the circuits of a job on all of its switches side by side, and on one switch after those of other jobs.

    What a switch could not be told to delete is owed by it: `applied` has it under a name of its own, whose release
    pays it, and whatever is set on that switch pays it first.
    """

    def __init__(self, folder: Path, site: SwitchSite, fence: Callable[[], int] = unfenced) -> None:
        super().__init__(folder, fence)
        self._site, self._rows, self._owed = site, WantedRows(site), OwedRows(folder, fence)
        self._fresh = set[str]()
        """jobs that are connected for the first time"""
        self._pool = ThreadPoolExecutor(min(len(site.access), MOST_AT_ONCE), thread_name_prefix="ocs")
        self._switches = {name: switch_of(site, name, fence) for name in site.access}
        self.close = weakref.finalize(self, _close, self._pool, tuple(self._switches.values()))
        """end its threads and connections, as happens when nobody has the driver any more"""

    def require_served(self, fabric: FabricBase, source: str) -> None:
        config, path = self._site.config, self._site.path
        ours, served = (set(plugin_of(each).switch_ports.ends(each)) for each in (self._site.fabric, fabric))
        if ours != served:
            end = min(ours ^ served)
            has_it = path.parent / config.cluster if end in ours else source
            problem = f"{config.cluster} is another cluster than that of {source}, which is served"
            raise InputError(str(path), "cluster", f"{problem}: {has_it} alone has {end.end} at switch {end.switch}")

    def locks(self, circuits: Circuits) -> Collection[str]:
        return self._rows.of(circuits).keys()

    def connect(self, job: str, circuits: Circuits) -> None:
        """As of every driver. Where the record says that they are on, the switches are asked: UnsureError where one
        does not answer, since its light may well be on."""
        if circuits and self._read().on.get(job) == circuits:
            tables, silent = self._readings(self._rows.of(circuits))
            if self._is_dark(job, circuits, tables):
                if self._set_again(job, circuits):
                    return
            elif silent:
                raise UnsureError(_said(silent))
        if job not in self._read().all:
            self._fresh.add(job)
        try:
            super().connect(job, circuits)
        finally:
            self._fresh.discard(job)

    def set(self, job: str, circuits: Circuits, lock: int) -> None:
        rows = self._rows.of(circuits)
        wanted = self._wanted(rows, job)
        errors = self._on_each(rows, lambda switch: self._set_on(switch, wanted[switch]))
        if errors:
            self._take_back(rows, errors)
            raise min(_circuit_errors(errors), key=lambda error: (error.part is None, str(error)))

    def unset(self, job: str, circuits: Circuits, lock: int) -> None:
        stay = self._rows.of(self._read().on.get(job, []))
        self._take_back({s: gone - stay.get(s, NONE) for s, gone in self._rows.of(circuits).items()}, {})

    def release(self, job: str, but: Circuits = NO_CIRCUITS) -> None:
        switch = next((switch for switch in self._owed.read() if _owed_name(switch) == job), None)
        if switch is None or job in self._read().all:
            super().release(job, but)
        else:
            self._pay(switch)

    def applied(self) -> dict[str, Circuits]:
        return {_owed_name(switch): [] for switch in self._owed.read()} | super().applied()

    def resync(self, begins: OnJob = lambda job: None) -> Resynced:
        """Every switch is read. Circuits over one that does not answer are told as failed, and left as they are."""
        make_private(self.folder)
        tables, silent = self._readings(self._switches)
        if not tables:
            raise CircuitError(f"no switch tells what is on: {_said(silent)}")
        before, again, failed = self._read(), list[str](), dict[str, str]()
        for job, circuits in before.all.items():
            try:
                if self._is_dark(job, circuits, tables):
                    begins(job)
                    if job in before.on:
                        self._disown(circuits, tables)
                    again += [job] if self._set_again(job, circuits) else []
                elif asked := {switch: silent[switch] for switch in self._rows.of(circuits) if switch in silent}:
                    failed[job] = _said(asked)
            except CircuitError as error:
                failed[job] = str(error)
        for switch in self._owed.read():
            try:
                self._pay(switch)
            except CircuitError as error:
                failed[_owed_name(switch)] = str(error)
        known = self._rows.of_all([*before.all.values(), *self._read().all.values()])
        return Resynced(tuple(again), failed, tuple(_strange(tables, known, self._owed.read())))

    def _readings(self, switches: Iterable[str]) -> tuple[dict[str, SwitchTables], dict[str, SwitchError]]:
        """Tables of those that answer, and why the others do not."""
        tables: dict[str, SwitchTables] = {}
        silent = self._on_each(switches, lambda switch: tables.update({switch: self._switches[switch].read()}))
        for switch, error in silent.items():
            log.warning("a switch does not tell what is on", extra={"fields": {"switch": switch, "said": str(error)}})
        return tables, silent

    def _is_dark(self, job: str, circuits: Circuits, tables: Mapping[str, SwitchTables]) -> bool:
        """Whether a switch that was read lacks light of a job; what it lacks is told."""
        lacking = [
            said
            for switch, rows in self._rows.of(circuits).items()
            if switch in tables
            for _, _, said in faults_of(self._site, switch, tables[switch], rows)
        ]
        if lacking:
            log.warning("switches are not as they were set", extra={"fields": {"job": job, "said": "; ".join(lacking)}})
        return bool(lacking)

    def _disown(self, circuits: Circuits, tables: Mapping[str, SwitchTables]) -> None:
        """What a switch has under the name of a cross-connect of ours, between other ports, has changed by itself: it
        is to be deleted."""
        for switch, rows in self._rows.of(circuits).items():
            there = tables[switch].rows if switch in tables else {}
            changed = {there[row.name] for row in rows if there.get(row.name, row) != row}
            if changed:
                self._owe(switch, changed)

    def _wanted(self, rows: Rows, job: str | None) -> dict[str, WantedHere]:
        """By switch. Whoever asks holds their locks, so that nobody else changes what is wanted there."""
        record, owed = self._read(), self._owed.read()
        others = self._rows.of_all(each for other, each in record.on.items() if other != job)
        unsure = self._rows.of_all(each for other, each in record.setting.items() if other != job)
        is_fresh = job in self._fresh
        return {
            s: WantedHere(mine, others.get(s, NONE), unsure.get(s, NONE), owed.get(s, NONE), is_fresh)
            for s, mine in rows.items()
        }

    def _set_on(self, switch: str, wanted: WantedHere) -> None:
        found = set_on(self._site, self._switches[switch], wanted)
        self._paid(switch, wanted.owed - (wanted.gone & {*found.rows.values()}))

    def _set_off(self, switch: str, rows: Collection[CrossConnectRow]) -> None:
        """Delete rows; what others had set there meanwhile, and these have pushed out, is theirs again."""
        others = set_off(self._switches[switch], rows)
        if not others:
            return
        known = self._rows.of_all(self._read().all.values()).get(switch, NONE) | self._owed.read().get(switch, NONE)
        try:
            for row in put_back(self._switches[switch], others - known):
                told = {"switch": switch, "cross_connect": row.name}
                log.warning("a circuit of no job was pushed out of a port, and is set again", extra={"fields": told})
        except SwitchError as error:
            told = {"switch": switch, "said": str(error)}
            log.warning("a circuit of no job may have been pushed out of a port", extra={"fields": told})

    def _take_back(self, rows: Rows, errors: Mapping[str, SwitchError]) -> None:
        """Delete what has been set, or is owed from now on; who did not answer is not asked again."""
        silent = {switch for switch, error in errors.items() if isinstance(error, SwitchSilentError)}
        untouched = {switch for switch, error in errors.items() if error.is_untouched}
        asked = [switch for switch in rows if switch not in silent | untouched]
        refused = self._on_each(asked, lambda switch: self._set_off(switch, rows[switch]))
        for switch in sorted({*silent, *refused} - untouched):
            self._owe(switch, rows[switch])

    def _pay(self, switch: str) -> None:
        with self._alone([switch]):
            owed = self._wanted({switch: NONE}, None)[switch]
            errors = self._on_each([switch], lambda name: self._set_off(name, owed.gone))
            for error in _circuit_errors(errors):
                raise error
            self._paid(switch, owed.owed)

    def _owe(self, switch: str, rows: Collection[CrossConnectRow]) -> None:
        with self._record():
            self._owed.add(switch, rows)

    def _paid(self, switch: str, rows: Collection[CrossConnectRow]) -> None:
        if rows:
            with self._record():
                self._owed.paid(switch, rows)

    def _on_each(self, switches: Iterable[str], call: Callable[[str], None]) -> dict[str, SwitchError]:
        """Call for all at once; errors by switch."""
        errors: dict[str, SwitchError] = {}
        futures = {switch: self._pool.submit(call, switch) for switch in switches}
        wait(futures.values())
        for switch, future in futures.items():
            try:
                future.result()
            except SwitchError as error:
                errors[switch] = error
        return errors


def _close(pool: ThreadPoolExecutor, switches: Iterable[OcsSwitch]) -> None:
    pool.shutdown()
    for switch in switches:
        switch.close()


def _owed_name(switch: str) -> str:
    """What is owed by a switch, as a job."""
    return f"left at {switch}"


def _circuit_errors(errors: Mapping[str, SwitchError]) -> Iterator[CircuitError]:
    """One that answers and does not do what it is told names a broken part. One that refuses, or that does not answer,
    has none: what is on there may well go on carrying light, and whoever stands on it does not move."""
    for error in errors.values():
        if isinstance(error, SwitchFaultError):
            yield (CircuitBusyError if error.is_busy else CircuitError)(str(error), error.part)
        else:
            yield CircuitError(str(error))


def _said(errors: Mapping[str, SwitchError]) -> str:
    return "; ".join(sorted(map(str, errors.values())))


def _strange(tables: Mapping[str, SwitchTables], known: Rows, owed: Rows) -> Iterator[str]:
    """Cross-connects of no job, by switch."""
    for switch, found in sorted(tables.items()):
        for row in sorted({*found.rows.values()} - known.get(switch, NONE) - owed.get(switch, NONE)):
            yield f"{switch} {row.name}"
