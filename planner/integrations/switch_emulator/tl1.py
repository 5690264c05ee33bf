"""TL1 of optical switches as Calient's S series has it.

From public clients (phosphorus-g2mpls, pynt, cloudshell's driver with answers of an S162, MonALISA): ENT-CRS provisions
a connection and ACT-CRS puts it in service, CANC-CRS and DLT-CRS the other way; RTRV-CRS tells AS, OS and OC, which are
IS, IS and OK where light passes; RTRV-PORT and RTRV-PORT-SUM tell of ports. Where they differ, a switch does by seed
what one of them relies on: whether ENT-CRS puts in service itself, and whether DLT-CRS takes what is in service.
"""

from collections.abc import Callable, Iterator
from typing import ClassVar

from planner.integrations.switch_emulator.connections import (
    BusyPort,
    BusyPortError,
    LightState,
    Pair,
    broken_ports,
    change_for,
    condition,
    named,
    pairs_of,
)
from planner.integrations.switch_emulator.emulator import Emulator
from planner.integrations.switch_emulator.faults import FaultKind, RequestClass
from planner.integrations.switch_emulator.line_session import LineReply, LineSession
from planner.integrations.switch_emulator.optics import number_of
from planner.integrations.switch_emulator.port_names import fiber, of_fiber
from planner.integrations.switch_emulator.tl1_messages import (
    COMPLETED,
    Tl1Command,
    Tl1DenialError,
    acknowledgment,
    answer,
    command_of,
    commands_of,
    denial,
    report,
)

GROUP = "SYSTEM"
LINES_A_MESSAGE = 20
"""after which an answer goes on in another message"""
INPUT_DBM, MOST_TAG = -2.0, 999_999
"""power that comes in at every input; tags of reports"""
REPORTED, ACKNOWLEDGED, SLOW_LOGIN, SWAPPED = 0.1, 0.02, 0.1, 0.1
"""how likely an answer follows a report, or an acknowledgment; a login takes effect a command late; two answers to
changes that came together are sent the other way round"""


class Tl1ServerSession(LineSession):
    """One client, who logs in first; without accounts any name and password will do."""

    def __init__(self, emulator: Emulator, name: str, account: tuple[str, str] | None = None) -> None:
        super().__init__(emulator, name)
        self._account, self._user, self._is_late = account, "", False
        self._habits, self._inactive = emulator.habits[name], emulator.habits[name].inactive
        self._tag, self._has_reports = 0, True

    def split(self, data: bytes) -> tuple[list[str], bytes]:
        return commands_of(data)

    def receive(self, data: bytes) -> list[LineReply]:
        """Answers to several changes at once come in any order."""
        replies = super().receive(data)
        for place in range(len(replies) - 1):
            if self.emulator.has_noise and self.chance.random() < SWAPPED:
                replies[place], replies[place + 1] = replies[place + 1], replies[place]
        return replies

    def class_of(self, message: str) -> RequestClass:
        return RequestClass.BULK if message.upper().startswith(_CHANGES) else RequestClass.READ

    def answer(self, message: str, kind: FaultKind | None) -> Iterator[LineReply]:
        command = command_of(message)
        try:
            lines = self._faulty(command, kind)
        except Tl1DenialError as error:
            yield LineReply(self._noise(command) + denial(self.name, command.ctag, error))
            return
        parts = [lines[at : at + LINES_A_MESSAGE] for at in range(0, len(lines), LINES_A_MESSAGE)] or [[]]
        sent = [answer(self.name, command.ctag, COMPLETED, p, is_last=p is parts[-1]) for p in parts]
        yield LineReply(self._noise(command) + b"".join(sent))

    def _faulty(self, command: Tl1Command, kind: FaultKind | None) -> list[str]:
        """A change that is done halfway is not done, and denied; one that is told wrong is not done, or done and
        denied."""
        is_done = kind is None or (kind is not FaultKind.HALF and self.chance.random() < 0.5)
        lines = self._done(command) if is_done else []
        if kind in (FaultKind.ERROR, FaultKind.HALF) or (kind is FaultKind.LIE and is_done):
            raise Tl1DenialError("SROF", "Requested Operation Failed")
        return lines

    def _done(self, command: Tl1Command) -> list[str]:
        call = self.CALLS.get(command.verb)
        if call is None:
            raise Tl1DenialError("ICNV", "Command Not Valid")
        if command.verb != "ACT-USER" and (not self._user or self._is_late):
            self._is_late = False
            raise Tl1DenialError("PLNA", "Login Not Active")
        return call(self, command)

    def _noise(self, command: Tl1Command) -> bytes:
        """What may come before an answer."""
        found = b""
        if not self.emulator.has_noise:
            return found
        if self._has_reports and self.chance.random() < REPORTED:
            self._tag = self._tag % MOST_TAG + 1
            text = [f'"{GROUP}:DBCHG,TC,,,,:\\"{command.verb};\\""']
            found += report(self.name, self._tag, "REPT DBCHG", text)
        if self.chance.random() < ACKNOWLEDGED:
            found += acknowledgment(command.ctag)
        return found

    def _login(self, command: Tl1Command) -> list[str]:
        """Takes effect with the next command, or the one after that."""
        given = command.aid[0], command.field(0)
        if not given[0] or (self._account is not None and given != self._account):
            raise Tl1DenialError("PIUI", "Invalid User Identifier")
        self._user = given[0]
        self._is_late = self.emulator.has_noise and self.chance.random() < SLOW_LOGIN
        return [f'"{given[0]}:{given[0]},2"', "/* NOTICE This is an emulated switch; it has no light. */"]

    def _logout(self, command: Tl1Command) -> list[str]:
        self._user = ""
        return []

    def _enter(self, command: Tl1Command) -> list[str]:
        """Provision `src,dst` of a group as 1WAY."""
        pair = self._pair(command.aid)
        if command.field(0).upper() not in ("", GROUP) or command.field(1).upper() not in ("", "1WAY"):
            raise Tl1DenialError("IDNV", "Data Not Valid: groups beside SYSTEM and 2WAY are not emulated")
        if named(self.switch, [pair]):
            raise Tl1DenialError("SAIS", "Already In Service: Invalid Connection")
        try:
            change_for(self.switch, (), [pair], BusyPort.REFUSE)
        except BusyPortError as error:
            raise Tl1DenialError("SNVS", f"Invalid Connection: {error}") from None
        name = f"{pair[0]}-{pair[1]}"
        self.switch.circuits[name] = {"cross_connect_id": name, "a_side": pair[0], "b_side": pair[1]}
        self._inactive.add(name)
        if self._habits.activates:
            self._light(name)
        return []

    def _activate(self, command: Tl1Command) -> list[str]:
        name = self._known(command.field(0), command.field(1))
        if name not in self._out:
            raise Tl1DenialError("SAIS", "Already In Service")
        self._light(name)
        return []

    def _cancel(self, command: Tl1Command) -> list[str]:
        name = self._of_change(command)
        if name in self._out:
            raise Tl1DenialError("SAOS", "Already Out Of Service")
        self._inactive.add(name)
        self.switch.hardware.delete(name)
        return []

    def _delete(self, command: Tl1Command) -> list[str]:
        name = self._of_change(command)
        if name not in self._out and not self._habits.deletes_active:
            raise Tl1DenialError("SNVS", "Not in Valid State: in service")
        self._inactive.discard(name)
        self.switch.apply([name], ())
        return []

    def _light(self, name: str) -> None:
        """In service, unless the mirrors of a port serve another connection."""
        own, driven = self.switch.hardware.circuits.get(name), self.switch.hardware.driven
        row = self.switch.circuits[name]
        if any(driven.get(row[side], own) is not own for side in ("a_side", "b_side")):
            raise Tl1DenialError("SNVS", "Invalid Connection: a port is in use")
        self._inactive.discard(name)
        self.switch.hardware.delete(name)
        self.switch.apply((), [row])

    @property
    def _out(self) -> set[str]:
        """Connections that are provisioned and not in service."""
        self._inactive.intersection_update(self.switch.circuits)
        return self._inactive

    def _connections(self, command: Tl1Command) -> list[str]:
        """All, or the one that is named."""
        asked = command.field(1) or command.field(0)
        names = [*self.switch.circuits] if asked.upper() in ("", "ALL") else [self._known(asked, "")]
        pairs = pairs_of(self.switch)
        return [
            self._connection(name, pairs[name]) for name in sorted(names, key=lambda name: number_of(pairs[name][0]))
        ]

    def _connection(self, name: str, pair: Pair) -> str:
        source, sink = (fiber(port) for port in pair)
        state = condition(self.switch, name)
        if name in self._out:
            words = "AS=UMA,OS=RDY,OC=OK"
        elif state is LightState.LIT:
            words = "AS=IS,OS=IS,OC=OK"
        else:
            words = f"AS=IS,OS=OOS,OC={'OK' if state is LightState.MOVING else 'FAIL'}"
        sides = f"SRCPORT={source},DSTPORT={sink},GRPNAME={GROUP},CONNNAME={source}>{sink},CONNTYPE=1WAY"
        return f'"{source}>{sink}:{sides},{words},PS=UPR,AL=CL"'

    def _ports(self, command: Tl1Command) -> list[str]:
        """Administrative, operational state and capability of the input and the output of each duplex port."""
        pairs, stuck, off = pairs_of(self.switch), self.switch.hardware.stuck, self.switch.hardware.overrides
        broken = broken_ports(self.switch) - ({port for name in self._out for port in pairs[name]} - stuck)
        used = {port for pair in pairs.values() for port in pair}
        found = []
        for port in self._asked(command):
            words = []
            for side, word in (("A", "IN"), ("B", "OUT")):
                simplex = f"{number_of(port)}{side}"
                state = "IS" if simplex in used and simplex not in off else "OOS"
                capability = "FAIL" if simplex in broken else "OK"
                words.append(f"{word}AS={state},{word}OS={state},{word}OC={capability},{word}RS=NPR")
            found.append(f'"{fiber(port)}:WX,NONE,NONE:{",".join(words)}"')
        return found

    def _powers(self, command: Tl1Command) -> list[str]:
        """Power at the input and at the output of each duplex port, where there is any."""
        lit = {b: (a, name) for name, (a, b) in pairs_of(self.switch).items()
               if condition(self.switch, name) is LightState.LIT}  # fmt: skip
        found = []
        for port in self._asked(command):
            out, power = f"{number_of(port)}B", "NONE"
            if out in lit:
                circuit = self.switch.hardware.circuits[lit[out][1]]
                power = f"{INPUT_DBM - float(self.switch.hardware.loss_db(circuit)):.2f}"
            found.append(f'"{fiber(port)}:ALIAS=NONE,INPWR={INPUT_DBM:.2f},OUTPWR={power}"')
        return found

    def _asked(self, command: Tl1Command) -> list[str]:
        """Inputs of the duplex ports that are named, or of all (0)."""
        if command.aid[0] in ("", "0"):
            return [port for port in self.switch.ports if port.endswith("A")]
        return [self._port(command.aid[0], "A")]

    def _reports(self, has_reports: bool) -> list[str]:
        self._has_reports = has_reports
        return []

    def _of_change(self, command: Tl1Command) -> str:
        """`name` first, or after an empty field and the group."""
        first, group, last = (command.field(index) for index in range(3))
        return self._known(first or last, group)

    def _known(self, connection: str, group: str) -> str:
        source, _, sink = connection.partition(">")
        found = named(self.switch, [self._pair((source, sink))]) if group.upper() in ("", GROUP) else []
        if not found:
            raise Tl1DenialError("IIAC", "Invalid Access Identifier: Invalid Connection")
        return found[0]

    def _pair(self, aid: tuple[str, ...]) -> Pair:
        if len(aid) != 2:
            raise Tl1DenialError("IIAC", "Invalid Access Identifier: name two ports")
        return self._port(aid[0], "A"), self._port(aid[1], "B")

    def _port(self, name: str, side: str) -> str:
        try:
            port = of_fiber(name, side)
        except KeyError:
            port = ""
        if port not in self.switch.hardware.ports:
            raise Tl1DenialError("IIAC", f"Invalid Access Identifier: '{name}'")
        return port

    CALLS: ClassVar[dict[str, Callable[["Tl1ServerSession", Tl1Command], list[str]]]] = {
        "ACT-USER": _login,
        "CANC-USER": _logout,
        "ENT-CRS": _enter,
        "ACT-CRS": _activate,
        "CANC-CRS": _cancel,
        "DLT-CRS": _delete,
        "RTRV-CRS": _connections,
        "RTRV-PORT": _ports,
        "RTRV-PORT-SUM": _powers,
        "INH-MSG": lambda session, _: session._reports(False),
        "ALW-MSG": lambda session, _: session._reports(True),
    }


_CHANGES = ("ENT-CRS", "ACT-CRS", "CANC-CRS", "DLT-CRS")
