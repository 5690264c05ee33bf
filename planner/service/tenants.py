"""Tokens of tenants: who asks, and what of the service is theirs. Only hashes of tokens are kept."""

import hmac
import logging
import os
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, Field
from starlette.types import Scope

from costmodel.spec import Spec
from planner.integrations.private_files import write_private
from planner.model import files
from planner.model.errors import InputError

LOOK_S = 1.0
"""between two looks at the file of tokens"""
OF_TENANTS = ("/v1/jobs", "/v1/grow", "/v1/shrink", "/v1/ask", "/v1/floor")
"""what is answered to tenants: their own jobs, and the floor on which those of others have no names"""
MOST = 1_000_000
log = logging.getLogger("planner.serve")


class Grant(Spec):
    """One token."""

    id: str = Field(pattern="^[a-z0-9]{6,32}$")
    """by which it is removed"""
    tenant: str = Field(min_length=1, max_length=200)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    """hash of the token, which stands nowhere"""
    scope: Literal["tenant", "operator"] = "tenant"
    """tenant: submits, sees, ends and cancels jobs of this tenant; operator: all"""
    expires: AwareDatetime | None = None
    """from then on it is none"""
    most_priority: int = Field(default=0, ge=-MOST, le=MOST)
    """highest priority of its jobs"""


class Grants(Spec):
    """File of `--tenants`: all tokens beside that of the service, which is an operator's."""

    tokens: tuple[Grant, ...] = ()


@dataclass(frozen=True)
class Who:
    """The bearer of a token: an operator or a tenant."""

    tenant: str | None = None
    """None: an operator, for all tenants"""
    most_priority: int = MOST

    def may(self, path: str) -> bool:
        """True if some of what this path answers is theirs."""
        return self.tenant is None or any(path == each or path.startswith(f"{each}/") for each in OF_TENANTS)

    def key(self, key: str | None) -> str | None:
        """An idempotency key, apart from those of other tenants."""
        return key if key is None or self.tenant is None else f"{self.tenant} {key}"

    def visible(self, jobs: Iterable[str]) -> frozenset[str] | None:
        """Of jobs that a request named, those whose decisions the tenant may see; None: all."""
        return None if self.tenant is None else frozenset(jobs)


OPERATOR = Who()


def asker(scope: Scope) -> Who:
    """The sender of a request, as the middleware found."""
    who: Who = scope["who"]
    return who


class Tokens:
    """The token of the service, and those of a file, which is read again when it changes."""

    def __init__(self, token: bytes, path: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        """InputError for a file that cannot be used."""
        self._token, self._path, self._clock = token, path, clock
        self._grants: dict[str, Grant] = {}
        self._looked_s, self._stamp = time.monotonic(), 0
        if path is not None:
            self._stamp = _stamp(path)
            self._read(path)

    def who(self, token: bytes) -> Who | None:
        """The bearer of a token; None for an unknown one, and for one that has expired."""
        if hmac.compare_digest(token, self._token):
            return OPERATOR
        self._look()
        grant = self._grants.get(sha256(token).hexdigest())
        if grant is None or (grant.expires is not None and self._clock() >= grant.expires.timestamp()):
            return None
        return OPERATOR if grant.scope == "operator" else Who(grant.tenant, grant.most_priority)

    def _look(self) -> None:
        """Read the file again where it has changed; what it said before holds where it cannot be used."""
        if self._path is None or time.monotonic() < self._looked_s + LOOK_S:
            return
        self._looked_s = time.monotonic()
        try:
            stamp = _stamp(self._path)
            if stamp != self._stamp:
                self._read(self._path)
                self._stamp = stamp
        except (InputError, OSError) as error:
            log.error("the tokens of tenants are those of before: %s", error)

    def _read(self, path: Path) -> None:
        self._grants = {grant.sha256: grant for grant in load(path).tokens}


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError as error:
        raise InputError(str(path), "", f"cannot be read: {error.strerror}; `planner tokens` makes it") from None


def load(path: Path) -> Grants:
    """The tokens of a file; InputError where it is none, or others may write it."""
    found = files.load(Grants, path)
    if path.stat().st_mode & 0o022:
        raise InputError(str(path), "", "may be written by others; chmod 600 it")
    return found


def grant(path: Path, tenant: str, *, is_operator: bool, days: float | None, most_priority: int) -> tuple[Grant, str]:
    """A new token, which is written down nowhere but in the answer, and its entry in the file."""
    if not tenant.isprintable() or not tenant.strip():
        raise InputError(str(path), "tenant", f"{tenant!r} is no plain name")
    token = secrets.token_urlsafe(32)
    made = Grant(
        id=secrets.token_hex(4),
        tenant=tenant,
        sha256=sha256(token.encode()).hexdigest(),
        scope="operator" if is_operator else "tenant",
        expires=None if days is None else datetime.now(UTC).replace(microsecond=0) + timedelta(days=days),
        most_priority=most_priority,
    )
    before = load(path).tokens if path.exists() else ()
    _write(path, Grants(tokens=(*before, made)))
    return made, token


def revoke(path: Path, name: str) -> Grant:
    """Remove a token; InputError where there is none of this id."""
    tokens = load(path).tokens
    found = next((each for each in tokens if each.id == name), None)
    if found is None:
        known = ", ".join(each.id for each in tokens) or "none"
        raise InputError(str(path), "--remove", f"has no token '{name}'; there are: {known}")
    _write(path, Grants(tokens=tuple(each for each in tokens if each is not found)))
    return found


def _write(path: Path, grants: Grants) -> None:
    if path.exists() and not os.access(path, os.W_OK):
        raise InputError(str(path), "", "cannot be written")
    try:
        write_private(path, grants.model_dump_json(by_alias=True, indent=1, exclude_defaults=True) + "\n")
    except OSError as error:
        problem = f"cannot be written: {error.strerror}; name a file in a folder of yours"
        raise InputError(str(path), "", problem) from None
