"""gNMI with certificates and credentials from files, and what answers of a server mean."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

from planner.integrations.switch_drivers.ocs.config import load_switches
from planner.integrations.switch_drivers.ocs.gnmi_client import GnmiSwitch
from planner.integrations.switch_drivers.ocs.sonic_gnmi import SonicGnmiSwitch
from planner.integrations.switch_drivers.ocs.switch import SwitchRefusalError, SwitchSilentError
from planner.integrations.switch_emulator import Emulator, SwitchSpec
from planner.integrations.switch_emulator.gnmi import GnmiService
from tests.planner.integrations.certificates import certificate
from tests.planner.integrations.switch_drivers.ocs.site import edited, unconnected


class Watched(GnmiService):
    """Keeps the metadata of calls, and answers what it is told to."""

    def __init__(self) -> None:
        super().__init__(Emulator([SwitchSpec("x0", 8)]))
        self.metadata: dict[str, str] = {}
        self.code: grpc.StatusCode | None = None

    def Get(self, request: Any, context: Any) -> Any:  # noqa: N802
        self.metadata = dict(context.invocation_metadata())
        if self.code is not None:
            context.abort(self.code, "as it was told")
        return super().Get(request, context)


@contextmanager
def served(pair: tuple[Path, Path] | None = None) -> Iterator[tuple[Watched, str]]:
    """A service, and its address."""
    service, server = Watched(), grpc.server(ThreadPoolExecutor(2))
    gnmi_pb2_grpc.add_gNMIServicer_to_server(service, server)
    if pair is None:
        port, scheme = server.add_insecure_port("localhost:0"), "http"
    else:
        known, key = pair
        credentials = grpc.ssl_server_credentials([(key.read_bytes(), known.read_bytes())])
        port, scheme = server.add_secure_port("localhost:0", credentials), "https"
    server.start()
    try:
        yield service, f"{scheme}://localhost:{port}"
    finally:
        server.stop(0).wait()


def switch(tmp_path: Path, url: str, **access: Any) -> SonicGnmiSwitch:
    site = unconnected(tmp_path, "torus", "gnmi")
    edited(site.path, lambda data: data["switches"]["*"].update({"url": url, "tries": 1, **access}))
    return SonicGnmiSwitch(load_switches(site.path), "x0")


@pytest.mark.slow
def test_only_a_switch_with_a_known_certificate_is_believed(tmp_path: Path) -> None:
    pair, (other, _) = certificate(tmp_path, "known"), certificate(tmp_path, "other")
    with served(pair) as (_, url):
        believed = switch(tmp_path, url, ca_file=str(pair[0]))
        assert believed.rows() == {}
        believed.close()
        doubted = switch(tmp_path, url, ca_file=str(other))
        with pytest.raises(SwitchSilentError, match="UNAVAILABLE"):
            doubted.rows()
        doubted.close()


@pytest.mark.parametrize(
    ("access", "metadata"),
    [
        ({"token_file": "secret"}, {"authorization": "Bearer hidden"}),
        ({"username": "me", "password_file": "secret"}, {"username": "me", "password": "hidden"}),
    ],
)
def test_secrets_are_read_from_files(tmp_path: Path, access: dict[str, str], metadata: dict[str, str]) -> None:
    (tmp_path / "secret").write_text("hidden\n")
    with served() as (service, url):
        found = switch(tmp_path, url, **access)
        found.rows()
        assert metadata.items() <= service.metadata.items()
        found.close()


def test_secrets_that_cannot_be_sent(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("geheimnisträger\n")
    found = switch(tmp_path, "http://localhost:1", token_file="secret")
    with pytest.raises(SwitchRefusalError, match="beyond ASCII"):
        found.rows()
    found.close()


def test_codes(tmp_path: Path) -> None:
    with served() as (service, url):
        found = switch(tmp_path, url)
        for code, kind in (
            (grpc.StatusCode.UNAUTHENTICATED, SwitchRefusalError),
            (grpc.StatusCode.UNAVAILABLE, SwitchSilentError),
        ):
            service.code = code
            with pytest.raises(kind, match=f"x0 answers {code.name}: as it was told"):
                found.rows()
        service.code = grpc.StatusCode.NOT_FOUND
        assert found.rows() == {}
        found.close()


def test_a_switch_that_hangs_is_not_waited_for_longer_than_its_time(tmp_path: Path) -> None:
    with served() as (service, url):
        found = switch(tmp_path, url, timeout="20 ms")
        with service._emulator.switches["x0"].lock, pytest.raises(SwitchSilentError, match="DEADLINE_EXCEEDED"):
            found.rows()
        found.close()


def test_a_path_that_is_answered_in_several_values_is_not_read_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    updates = [gnmi_pb2.Update(val=gnmi_pb2.TypedValue(json_ietf_val=b"{}")) for _ in range(2)]
    answer = gnmi_pb2.GetResponse(notification=[gnmi_pb2.Notification(update=[each]) for each in updates])
    monkeypatch.setattr(GnmiSwitch, "_call", lambda *_, **__: answer)
    found = switch(tmp_path, "http://localhost:1", tries=1)
    with pytest.raises(SwitchSilentError, match="answers a path in 2 values"):
        found.rows()
    found.close()
