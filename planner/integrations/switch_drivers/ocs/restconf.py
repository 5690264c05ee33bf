"""One switch over RESTCONF (RFC 8040): its tables, and the RPC `bulk-update`."""

import random
import time
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import httpx

from planner.integrations.switch_drivers.ocs.config import SwitchSite
from planner.integrations.switch_drivers.ocs.tables import CrossConnectRow, SwitchTables, tables_of

DATA, RPC = "/restconf/data/sonic-ocs:sonic-ocs", "/restconf/operations/sonic-ocs:bulk-update"
MEDIA = "application/yang-data+json"
_TRANSIENT = {409, 423, 425, 429}
"""answers that another try may change, beside those from 500 on"""
_MOST_CHARACTERS = 300


class SwitchError(Exception):
    """A switch is not as it should be."""

    is_untouched = False
    """whether nothing of the job at hand can be on it"""


class SwitchSilentError(SwitchError):
    """A switch does not answer, or not in a way that can be read: nobody knows what it does."""


class SwitchRefusalError(SwitchError):
    """A switch answers that it will not: another try changes nothing."""


class RestconfSwitch:
    """Asks one switch; from several threads, one after the other."""

    def __init__(self, site: SwitchSite, name: str) -> None:
        self.name = name
        self._site, self._access = site, site.access[name]
        self._client = httpx.Client(
            base_url=site.url(name), verify=site.tls(name), timeout=self._access.timeout_s, trust_env=False,
            headers={"Accept": MEDIA},
        )  # fmt: skip

    def close(self) -> None:
        self._client.close()

    @property
    def tries(self) -> int:
        return self._access.tries

    def pause(self, number: int) -> None:
        """Before a try, counted from 0: none before the first."""
        if number:
            time.sleep(self._access.backoff_s * 2.0 ** (number - 1) * random.uniform(0.5, 1.5))

    def read(self) -> SwitchTables:
        """Its own tables as they are now; SwitchSilentError after all tries, SwitchRefusalError."""
        return self._read("OCS_CROSS_CONNECT", "OCS_CROSS_CONNECT_TABLE", "OCS_PORT_TABLE")

    def rows(self) -> Mapping[str, CrossConnectRow]:
        """What is configured alone, by name."""
        return self._read("OCS_CROSS_CONNECT").rows

    def _read(self, *names: str) -> SwitchTables:
        """The configuration last, so that little time passes from there to a change."""
        answers = [self._get(name) for name in reversed(names)][::-1]
        try:
            return tables_of(*answers)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SwitchSilentError(f"{self.name} reports tables that cannot be read: {error!r}") from None

    def update(self, delete: Collection[str], add: Iterable[CrossConnectRow]) -> None:
        """One transaction, sent once: what its answer says is not relied on, the tables are read again."""
        rows = [{"cross_connect_id": row.name, "a_side": row.a_side, "b_side": row.b_side} for row in sorted(add)]
        self._ask("POST", RPC, {"sonic-ocs:input": {"delete": sorted(delete), "add": rows}})

    def _get(self, table: str) -> Mapping[str, Any]:
        for number in range(self.tries):
            self.pause(number)
            try:
                return self._ask("GET", f"{DATA}/{table}", None)
            except SwitchSilentError:
                if number == self.tries - 1:
                    raise
        raise AssertionError("there is at least one try")

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None) -> Mapping[str, Any]:
        """The object that the switch answers; empty where it answers nothing, or has no such table yet."""
        try:
            response = self._client.request(method, path, json=body, headers=self._headers(body), auth=self._auth())
        except (OSError, UnicodeDecodeError) as error:
            raise SwitchRefusalError(f"{self.name}: its credentials cannot be read: {error}") from None
        except httpx.HTTPError as error:
            raise SwitchSilentError(f"{self.name} does not answer: {type(error).__name__} {error}") from None
        code = response.status_code
        if code in _TRANSIENT or code >= 500:
            raise SwitchSilentError(f"{self.name} answers {code}: {_said(response)}")
        if method == "GET" and code == httpx.codes.NOT_FOUND and "ietf-restconf:errors" in response.text:
            return {}
        if not response.is_success:
            raise SwitchRefusalError(f"{self.name} answers {code}: {_said(response)}")
        try:
            found = response.json() if response.content else {}
        except ValueError:
            raise SwitchSilentError(f"{self.name} answers no JSON") from None
        if not isinstance(found, dict):
            raise SwitchSilentError(f"{self.name} answers no JSON object")
        return found

    def _headers(self, body: Mapping[str, Any] | None) -> dict[str, str]:
        found = {} if body is None else {"Content-Type": MEDIA}
        if self._access.token_file is not None:
            found["Authorization"] = f"Bearer {self._site.secret(self._access.token_file)}"
        return found

    def _auth(self) -> httpx.BasicAuth | None:
        if self._access.username is None or self._access.password_file is None:
            return None
        return httpx.BasicAuth(self._access.username, self._site.secret(self._access.password_file))


def _said(response: httpx.Response) -> str:
    """The message of RESTCONF's errors, or what else there is."""
    try:
        return str(response.json()["ietf-restconf:errors"]["error"][0]["error-message"])[:_MOST_CHARACTERS]
    except (ValueError, KeyError, TypeError, IndexError):
        return response.reason_phrase
