"""Get and Set of gNMI (version 0.8) at one switch, with TLS and credentials from files."""

import json
import ssl
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import grpc
from pydantic_core import from_json
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

from planner.integrations.switch_drivers.ocs.config import SwitchSite
from planner.integrations.switch_drivers.ocs.switch import (
    MOST_CHARACTERS,
    OcsSwitch,
    SwitchRefusalError,
    SwitchSilentError,
)
from planner.integrations.switch_drivers.recorded import unfenced

Step = str | tuple[str, Mapping[str, str]]
"""name of an element of a path, of a list with its key"""
Steps = Sequence[Step]
_FINAL = frozenset((
    grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.NOT_FOUND, grpc.StatusCode.OUT_OF_RANGE,
))  # fmt: skip
"""answers that another try does not change"""
OPTIONS = [
    ("grpc.initial_reconnect_backoff_ms", 100), ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000), ("grpc.enable_http_proxy", 0),
]  # fmt: skip


class GnmiSwitch(OcsSwitch):
    """A switch with a gNMI server, of whatever model."""

    def __init__(self, site: SwitchSite, name: str, fence: Callable[[], int] = unfenced) -> None:
        super().__init__(site, name, fence)
        self._channel = _channel(site, name)
        self._stub = gnmi_pb2_grpc.gNMIStub(self._channel)
        self._prefix = gnmi_pb2.Path(target=site.target(name))

    def close(self) -> None:
        self._channel.close()

    def get(self, steps: Steps) -> Any:
        """The value at a path, from JSON; an empty object where there is nothing. SwitchError."""
        request = gnmi_pb2.GetRequest(prefix=self._prefix, path=[_path(steps)], encoding=gnmi_pb2.JSON_IETF)
        found = self._call(self._stub.Get, request, is_optional=True)
        if found is None:
            return {}
        values = [update.val for each in found.notification for update in each.update]
        if not values:
            return {}
        if len(values) > 1:
            raise SwitchSilentError(f"{self.name} answers a path in {len(values)} values; one is read")
        try:
            return from_json(values[0].json_ietf_val or values[0].json_val)
        except ValueError:
            raise SwitchSilentError(f"{self.name} answers no JSON") from None

    def set(self, delete: Collection[Steps], update: Steps, value: Any) -> None:
        """One transaction, deletes first; nothing is updated where `value` is None. SwitchError."""
        encoded = gnmi_pb2.TypedValue(json_ietf_val=json.dumps(value).encode())
        updates = [] if value is None else [gnmi_pb2.Update(path=_path(update), val=encoded)]
        paths = [_path(steps) for steps in delete]
        self._call(self._stub.Set, gnmi_pb2.SetRequest(prefix=self._prefix, delete=paths, update=updates))

    def _call(self, method: Any, request: Any, *, is_optional: bool = False) -> Any:
        """`is_optional`: None for what is not there."""
        self.fence()
        try:
            return method(request, timeout=self._access.timeout_s, metadata=self._credentials())
        except grpc.RpcError as error:
            code, said = error.code(), str(error.details() or "")[:MOST_CHARACTERS]
        if is_optional and code is grpc.StatusCode.NOT_FOUND:
            return None
        raise (SwitchRefusalError if code in _FINAL else SwitchSilentError)(f"{self.name} answers {code.name}: {said}")

    def _credentials(self) -> list[tuple[str, str]]:
        secret, user = self.secret(), self._access.username
        if secret is None:
            return []
        if not secret.isascii():
            raise SwitchRefusalError(f"{self.name}: gNMI takes no credentials beyond ASCII")
        return [("username", user), ("password", secret)] if user else [("authorization", f"Bearer {secret}")]


def _path(steps: Steps) -> Any:
    elements = [
        gnmi_pb2.PathElem(name=step) if isinstance(step, str) else gnmi_pb2.PathElem(name=step[0], key=step[1])
        for step in steps
    ]
    return gnmi_pb2.Path(elem=elements)


def _channel(site: SwitchSite, name: str) -> Any:
    host, is_secure = site.endpoint(name)
    if not is_secure:
        return grpc.insecure_channel(host, OPTIONS)
    ca, certificate, key = (_bytes(file) for file in site.certificates(name))
    chain = key or certificate
    return grpc.secure_channel(host, grpc.ssl_channel_credentials(ca or _roots(), chain, certificate), OPTIONS)


def _bytes(file: Path | None) -> bytes | None:
    return None if file is None else file.read_bytes()


@cache
def _roots() -> bytes:
    """Certificates that this machine trusts."""
    known = ssl.create_default_context().get_ca_certs(binary_form=True)
    return "".join(map(ssl.DER_cert_to_PEM_cert, known)).encode()
