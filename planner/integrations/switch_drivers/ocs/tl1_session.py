"""TL1 (Telcordia GR-831) with one switch: login, commands by their tags, answers in parts and in any order.

What nobody asked for (autonomous messages, acknowledgments) is passed over.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from planner.integrations.switch_drivers.ocs.config import SwitchSite
from planner.integrations.switch_drivers.ocs.switch import MOST_CHARACTERS, SwitchRefusalError, SwitchSilentError
from planner.integrations.switch_drivers.ocs.text_connection import TextConnection

DENIED = "DENY"
NO_LOGIN = "PLNA"
"""code of an answer: login not active"""
BAD_LOGIN = frozenset(("PIUI", "PIUC", "PIPW"))
INVALID = ("IC", "ID", "IB", "II")
"""beginnings of codes of commands that a switch does not understand"""
MOST_TAG = 999_999
PATIENCE = 2
"""times that a new login may be found not active yet; then another one is made, since a switch may forget one"""
_END = re.compile(rb"^[ \t]*([;<>])[ \t]*\r?$", re.MULTILINE)
"""a terminator stands alone on its line: names such as 1.1.1>1.1.2 do not"""
_STATUS = re.compile(r"^[ \t]*M[ \t]+(\S+)[ \t]+([A-Z]+)[ \t]*\r?$", re.MULTILINE)


@dataclass
class Tl1Answer:
    """All parts of an answer."""

    code: str = ""
    """COMPLD, DENY, PRTL, ..."""
    lines: list[str] = field(default_factory=list)

    @property
    def is_denied(self) -> bool:
        return self.code == DENIED

    @property
    def error(self) -> str:
        """Code of a denial, of four letters."""
        return self.lines[0] if self.is_denied and self.lines else ""

    @property
    def said(self) -> str:
        return " ".join(self.lines)[:MOST_CHARACTERS]


class Tl1Session:
    """Not for several threads at once."""

    def __init__(self, site: SwitchSite, name: str) -> None:
        self._name, self._user = name, site.access[name].username
        self._connection, self._waiting, self._tag = TextConnection(site, name), b"", 0
        self._patience = 0
        """times that the login may still be found not active; none once a command was taken"""

    def close(self) -> None:
        self._connection.close()

    def ask(self, commands: Sequence[str], secret: str | None) -> list[Tl1Answer]:
        """Answers to commands that are sent together, each with {} where its tag belongs; after a login with `secret`
        where there is no connection. SwitchSilentError, also where the login is not active; SwitchRefusalError."""
        if not self._connection.is_open:
            self._waiting, self._patience = b"", PATIENCE
            self._connection.open()
            self._login(secret or "")
        found = self._exchange(commands)
        if any(answer.error == NO_LOGIN for answer in found):
            self._patience -= 1
            if self._patience <= 0:  # ended or forgotten by the switch: the next try begins with another one
                self._connection.close()
            raise SwitchSilentError(f"{self._name}: the login is not active")
        self._patience = 0
        return found

    def _login(self, secret: str) -> None:
        (answer,) = self._exchange([f"ACT-USER::{self._user}:{{}}::{_quoted(secret)};"])
        if answer.is_denied:
            self._connection.close()
            kind = SwitchRefusalError if answer.error in BAD_LOGIN else SwitchSilentError
            raise kind(f"{self._name} denies the login: {answer.said}")

    def _exchange(self, commands: Sequence[str]) -> list[Tl1Answer]:
        """The time of a request begins anew with each answer."""
        tags = [str(self._tag + number) for number in range(1, len(commands) + 1)]
        self._tag = int(tags[-1]) % MOST_TAG if tags else self._tag
        self._connection.restart_time()
        self._connection.send("".join(c.replace("{}", tag, 1) + "\n" for c, tag in zip(commands, tags, strict=True)))
        answers = {tag: Tl1Answer() for tag in tags}
        open_tags = set(tags)
        while open_tags:
            self._waiting += self._connection.receive()
            for text, end in self._messages():
                match = _STATUS.search(text)
                tag = "" if match is None else match[1].lstrip("0")
                if match is None or tag not in open_tags or end == "<":
                    continue
                answer = answers[tag]
                answer.code = match[2]
                answer.lines += [line for each in text[match.end() :].splitlines() if (line := each.strip())]
                self._connection.restart_time()
                if end == ";":
                    open_tags.discard(tag)
        return [answers[tag] for tag in tags]

    def _messages(self) -> list[tuple[str, str]]:
        """Messages that are whole, and how they end; the rest waits."""
        found, begin = [], 0
        for match in _END.finditer(self._waiting):
            found.append((self._waiting[begin : match.start()].decode("ascii", "replace"), match[1].decode()))
            begin = match.end()
        self._waiting = self._waiting[begin:]
        return found


def _quoted(secret: str) -> str:
    """In quotes where it has a sign of TL1's own; quotes inside are escaped."""
    inner = secret.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inner}"' if re.search(r"[:;,&=\s\"\\]", secret) else secret
