"""Messages of TL1 (Telcordia GR-831): commands in blocks parted by colons, answers with a header and a terminator."""

import re
import time
from dataclasses import dataclass

COMPLETED, DENIED = "COMPLD", "DENY"


class Tl1DenialError(Exception):
    """A command that is denied, with a code of GR-831."""

    def __init__(self, code: str, said: str) -> None:
        super().__init__(said)
        self.code, self.said = code, said


@dataclass(frozen=True)
class Tl1Command:
    """VERB:TID:AID:CTAG:GENERAL:PAYLOAD."""

    verb: str
    aid: tuple[str, ...]
    ctag: str
    payload: tuple[str, ...]

    def field(self, index: int) -> str:
        """Of the payload by position; nothing where it has none."""
        return self.payload[index] if index < len(self.payload) else ""


def commands_of(data: bytes) -> tuple[list[str], bytes]:
    """Commands that a semicolon outside of quotes ends, and the rest."""
    found, begin, is_quoted = list[str](), 0, False
    for place, letter in enumerate(data):
        if letter == 0x22:
            is_quoted = not is_quoted
        elif letter == 0x3B and not is_quoted:
            found.append(data[begin:place].decode("ascii", "replace").strip())
            begin = place + 1
    return found, data[begin:]


def command_of(text: str) -> Tl1Command:
    """Verbs without regard to case, missing blocks as empty ones."""
    blocks = _split(text, ":")
    blocks += [""] * (6 - len(blocks))
    aid, payload = (tuple(part.strip().strip('"') for part in _split(block, ",")) for block in (blocks[2], blocks[5]))
    return Tl1Command(blocks[0].strip().upper(), aid, blocks[3].strip() or "0", payload)


def _split(text: str, sign: str) -> list[str]:
    """At a sign outside of quotes."""
    return re.split(f'{sign}(?=(?:[^"]*"[^"]*")*[^"]*$)', text)


def answer(sid: str, ctag: str, code: str, lines: list[str], *, is_last: bool = True) -> bytes:
    """One message; `is_last`: no other follows with the same ctag."""
    return _message(sid, f"M  {ctag} {code}", lines, ";" if is_last else ">")


def denial(sid: str, ctag: str, error: Tl1DenialError) -> bytes:
    return answer(sid, ctag, DENIED, [error.code, f"/* {error.said} */"])


def acknowledgment(ctag: str) -> bytes:
    """Of a command that takes longer."""
    return f"IP {ctag}\r\n<\r\n".encode()


def report(sid: str, atag: int, what: str, lines: list[str]) -> bytes:
    """An autonomous message, which nobody asked for."""
    return _message(sid, f"A  {atag} {what}", lines, ";")


def _message(sid: str, status: str, lines: list[str], end: str) -> bytes:
    date = time.strftime("%y-%m-%d %H:%M:%S", time.gmtime())
    body = "".join(f"   {line}\r\n" for line in lines)
    return f"\r\n   {sid} {date}\r\n{status}\r\n{body}{end}\r\n".encode()
