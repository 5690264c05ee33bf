"""SCPI of optical switches as Polatis has it, on the rules of SCPI-99 and IEEE 488.2: lines of units, parted by `;`.

From public clients (hpn-bristol/devicecontrol-polatis, QualiSystems, scripts with excerpts of the manual): headers
`:OXC:SWITch:CONNect:ADD|SUB|ONLY|STATe?|PORT?`, `:OXC:SWITch:DISConnect:ALL`, `:OXC:SWITch:SIZE?`,
`:OXC:SWITch:PORT:STATe?|DISable|ENABle` (D, E or F), `:SYSTem:ERRor?`, lists such as (@1,2),(@17,18). Commands answer
nothing: what went wrong waits in the queue of errors.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from planner.integrations.switch_emulator import mishaps
from planner.integrations.switch_emulator.connections import (
    BusyPort,
    BusyPortError,
    Pair,
    broken_ports,
    change_for,
    named,
    pairs_of,
    settled_s,
)
from planner.integrations.switch_emulator.emulator import Emulator
from planner.integrations.switch_emulator.faults import FaultKind, RequestClass
from planner.integrations.switch_emulator.hardware import NORMAL
from planner.integrations.switch_emulator.line_session import LineReply, LineSession
from planner.integrations.switch_emulator.port_names import number, numbered
from planner.integrations.switch_emulator.scpi_messages import ScpiError, lists_of, resolved, spelled, units_of

MOST_ERRORS = 16
"""in the queue; the last one then says that there were more"""
OVERFLOW = '-350, "Queue overflow"'
LAST_COMMAND_ERROR = -200
"""codes above it are of what cannot be read"""


class ScpiSession(LineSession):
    """One client; each has a queue of errors of its own."""

    def __init__(self, emulator: Emulator, name: str) -> None:
        super().__init__(emulator, name)
        self._errors: deque[str] = deque()
        self._busy = emulator.habits[name].busy_port
        self._wait_s = 0.0

    def split(self, data: bytes) -> tuple[list[str], bytes]:
        *lines, rest = data.split(b"\n")
        return [text for line in lines if (text := line.decode("ascii", "replace").strip())], rest

    def class_of(self, message: str) -> RequestClass:
        return RequestClass.BULK if any(word in message.upper() for word in _CHANGES) else RequestClass.READ

    def answer(self, message: str, kind: FaultKind | None) -> Iterator[LineReply]:
        """What the queries of a line give, joined by `;`. What cannot be read ends it; what cannot be done does not."""
        self._wait_s, found = 0.0, list[str]()
        if kind is FaultKind.ERROR and self.chance.random() < 0.5:
            self._fail(-300, "Device-specific error")
            return
        path: tuple[str, ...] = ()
        for unit in units_of(message):
            try:
                header, path, given = resolved(unit, path)
                said = self._unit(header, given, kind)
            except ScpiError as error:
                self._fail(error.code, error.said)
                if error.code > LAST_COMMAND_ERROR:
                    break
                continue
            if said is not None:
                found.append(said)
        if kind is FaultKind.ERROR:
            self._fail(-300, "Device-specific error")
        elif found:
            yield LineReply(f"{';'.join(found)}\r\n".encode(), self._wait_s)

    def _unit(self, header: str, given: str, kind: FaultKind | None) -> str | None:
        call = next((call for name, call in self.CALLS.items() if spelled(header, name)), None)
        if call is None:
            raise ScpiError(-113, "Undefined header")
        return call(self, given, kind)

    def _fail(self, code: int, said: str) -> None:
        self._errors.append(f'{code}, "{said}"')
        if len(self._errors) > MOST_ERRORS:
            self._errors.pop()
            self._errors[-1] = OVERFLOW

    def _add(self, given: str, kind: FaultKind | None) -> None:
        pairs = self._pairs(given)
        try:
            deletes, rows = change_for(self.switch, (), pairs, self._busy)
        except BusyPortError as error:
            raise ScpiError(-221, f"Settings conflict; {error}") from None
        self._apply(deletes, rows, kind)

    def _only(self, given: str, kind: FaultKind | None) -> None:
        pairs = self._pairs(given)
        gone = [name for name, pair in pairs_of(self.switch).items() if pair not in pairs]
        self._apply(*change_for(self.switch, gone, pairs, BusyPort.FORCE), kind)

    def _sub(self, given: str, kind: FaultKind | None) -> None:
        """A pair that is not connected: where busy ports are refused too nothing is done, else it is passed over."""
        ingress, egress = self._ports(given)
        held = pairs_of(self.switch)
        pairs = self._pairs(given) if egress else [pair for pair in held.values() if pair[0] in ingress]
        names = named(self.switch, pairs)
        if len(names) < len(pairs) and self._busy is BusyPort.REFUSE:
            raise ScpiError(-221, "Settings conflict; not connected")
        self._apply(names, [], kind)

    def _apply(self, deletes: Sequence[str], rows: Sequence[dict[str, str]], kind: FaultKind | None) -> None:
        if kind is not FaultKind.HALF and kind is not FaultKind.LIE:
            self.switch.apply(deletes, rows, is_forced=True)
            return
        mishaps.half(self.switch, deletes, rows, self.chance)
        if kind is FaultKind.HALF:
            raise ScpiError(-200, "Execution error")

    def _disconnect(self, given: str, kind: FaultKind | None) -> None:
        self._apply(list(self.switch.circuits), [], kind)

    def _set_ports(self, given: str, word: str) -> None:
        """Ports are off, or as they were."""
        (numbers,) = lists_of(given, 1)
        leaf = self.switch.vocabulary.override
        self.switch.set_ports({"simplex_port_id": self._port(each), leaf: word} for each in numbers)

    def _state(self, given: str, kind: FaultKind | None) -> str:
        """All that is configured, also while mirrors move."""
        pairs = sorted((self._number(a), self._number(b)) for a, b in pairs_of(self.switch).values())
        sides = ",".join(str(a) for a, _ in pairs), ",".join(str(b) for _, b in pairs)
        return f"(@{sides[0]}),(@{sides[1]})"

    def _peer(self, given: str, kind: FaultKind | None) -> str:
        port = self._port(self._integer(given))
        peers = {here: there for a, b in pairs_of(self.switch).values() for here, there in ((a, b), (b, a))}
        return f'"{self._number(peers[port])}"' if port in peers else '""'

    def _port_states(self, given: str, kind: FaultKind | None) -> str:
        ports = self.switch.ports
        numbers = lists_of(given, 1)[0] if given else sorted(self._number(port) for port in ports)
        broken, off = broken_ports(self.switch), self.switch.hardware.overrides
        asked = [self._port(each) for each in numbers]
        return f"({','.join('F' if port in broken else 'D' if port in off else 'E' for port in asked)})"

    def _size(self, given: str, kind: FaultKind | None) -> str:
        return f"{self._per_side},{self._per_side}"

    def _complete(self, given: str, kind: FaultKind | None) -> str:
        """Answers when no mirror moves any more."""
        self._wait_s = max(settled_s(self.switch) - self.switch.clock(), 0.0)
        return "1"

    def _error(self, given: str, kind: FaultKind | None) -> str:
        return self._errors.popleft() if self._errors else '0, "No error"'

    def _clear(self, given: str, kind: FaultKind | None) -> None:
        self._errors.clear()

    @property
    def _per_side(self) -> int:
        return len(self.switch.ports) // 2

    def _number(self, port: str) -> int:
        return number(port, self._per_side)

    def _port(self, port_number: int) -> str:
        try:
            return numbered(port_number, self._per_side)
        except KeyError:
            raise ScpiError(-222, "Data out of range") from None

    def _integer(self, text: str) -> int:
        if not text.strip().isdecimal():
            raise ScpiError(-104, "Data type error")
        return int(text)

    def _ports(self, given: str) -> tuple[list[str], list[str]]:
        ingress, egress = ([self._port(each) for each in numbers] for numbers in lists_of(given, 2))
        if any(port.endswith("B") for port in ingress) or any(port.endswith("A") for port in egress):
            raise ScpiError(-222, "Data out of range")
        return ingress, egress

    def _pairs(self, given: str) -> list[Pair]:
        ingress, egress = self._ports(given)
        if len(ingress) != len(egress):
            raise ScpiError(-220, "Parameter error")
        return list(zip(ingress, egress, strict=True))

    CALLS: ClassVar[dict[str, Callable[["ScpiSession", str, FaultKind | None], str | None]]] = {
        "OXC:SWITch:CONNect:ADD": _add,
        "OXC:SWITch:CONNect:SUB": _sub,
        "OXC:SWITch:CONNect:ONLY": _only,
        "OXC:SWITch:CONNect:STATe?": _state,
        "OXC:SWITch:CONNect:PORT?": _peer,
        "OXC:SWITch:DISConnect:ALL": _disconnect,
        "OXC:SWITch:SIZE?": _size,
        "OXC:SWITch:PORT:STATe?": _port_states,
        "OXC:SWITch:PORT:DISable": lambda session, given, _: session._set_ports(given, "powered_off"),
        "OXC:SWITch:PORT:ENABle": lambda session, given, _: session._set_ports(given, NORMAL),
        "SYSTem:ERRor?": _error,
        "*CLS": _clear,
        "*OPC?": _complete,
        "*IDN?": lambda session, *_: f"photonplan,emulated {session._size('', None)},{session.name},0",
    }


_CHANGES = ("ADD", "SUB", "ONLY", "ALL")
"""words of units that change connections"""
