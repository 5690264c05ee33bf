"""A switch that runs SONiC, over RESTCONF (RFC 8040): its tables, and the RPC `bulk-update`."""

from collections.abc import Callable, Collection, Mapping
from functools import cache, partial
from typing import Any

import httpx
from pydantic_core import from_json

from planner.integrations.switch_drivers.ocs.config import SwitchSite
from planner.integrations.switch_drivers.ocs.switch import (
    MOST_CHARACTERS,
    OcsSwitch,
    SwitchRefusalError,
    SwitchSilentError,
)
from planner.integrations.switch_drivers.ocs.tables import CrossConnectRow, SwitchTables, entries_of, tables_of
from planner.integrations.switch_drivers.recorded import unfenced

DATA, RPC = "/restconf/data/sonic-ocs:sonic-ocs", "/restconf/operations/sonic-ocs:bulk-update"
MEDIA = "application/yang-data+json"
_TRANSIENT = {409, 423, 425, 429}
"""answers that another try may change, beside those from 500 on"""


class RestconfSwitch(OcsSwitch):
    """Each table is asked by itself, and again where it is not answered."""

    def __init__(self, site: SwitchSite, name: str, fence: Callable[[], int] = unfenced) -> None:
        super().__init__(site, name, fence)
        self._client = httpx.Client(
            verify=site.tls(name), timeout=self._access.timeout_s, trust_env=False, headers={"Accept": MEDIA}
        )
        self._url = cache(lambda path: httpx.URL(site.url(name) + path))
        """of a path; to read one takes longer than to write it"""

    def close(self) -> None:
        self._client.close()

    def read(self) -> SwitchTables:
        return self._read("OCS_CROSS_CONNECT", "OCS_CROSS_CONNECT_TABLE", "OCS_PORT_TABLE")

    def rows(self) -> Mapping[str, CrossConnectRow]:
        return self._read("OCS_CROSS_CONNECT").rows

    def _read(self, *names: str) -> SwitchTables:
        answers = [self.tried(partial(self._ask, "GET", f"{DATA}/{name}", None)) for name in reversed(names)]
        try:
            return tables_of(*answers[::-1])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SwitchSilentError(f"{self.name} reports tables that cannot be read: {error!r}") from None

    def update(self, delete: Collection[CrossConnectRow], add: Collection[CrossConnectRow]) -> None:
        """One transaction."""
        given = {"delete": sorted(row.name for row in delete), "add": entries_of(add)}
        self._ask("POST", RPC, {"sonic-ocs:input": given})

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None) -> Mapping[str, Any]:
        """The object that the switch answers; empty where it answers nothing, or has no such table yet."""
        headers, login = self._credentials()
        if body is not None:
            headers["Content-Type"] = MEDIA
        self.fence()
        try:
            response = self._client.request(method, self._url(path), json=body, headers=headers, auth=login)
        except httpx.LocalProtocolError:  # its text may hold the secret
            raise SwitchRefusalError(f"{self.name}: its credentials are none that HTTP can send") from None
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
            found = from_json(response.content) if response.content else {}
        except ValueError:
            raise SwitchSilentError(f"{self.name} answers no JSON") from None
        if not isinstance(found, dict):
            raise SwitchSilentError(f"{self.name} answers no JSON object")
        return found

    def _credentials(self) -> tuple[dict[str, str], httpx.BasicAuth | None]:
        """Headers, or name and password."""
        secret, user = self.secret(), self._access.username
        if secret is None:
            return {}, None
        if user is not None:
            return {}, httpx.BasicAuth(user, secret)
        if not secret.isascii():
            raise SwitchRefusalError(f"{self.name}: HTTP takes no token beyond ASCII")
        return {"Authorization": f"Bearer {secret}"}, None


def _said(response: httpx.Response) -> str:
    """The message of RESTCONF's errors, or what else there is."""
    try:
        return str(response.json()["ietf-restconf:errors"]["error"][0]["error-message"])[:MOST_CHARACTERS]
    except (ValueError, KeyError, TypeError, IndexError):
        return response.reason_phrase
