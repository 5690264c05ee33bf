"""Who the planner is to the API: kubeconfig files, accounts of pods, tokens that change and are never shown."""

import base64
import http.server
import ssl
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from planner.integrations.kubernetes import client_config as access_module
from planner.integrations.kubernetes.client import ApiError, KubernetesClient, path_of
from planner.integrations.kubernetes.client_config import access
from planner.model.errors import InputError
from tests.planner.integrations.certificates import certificate
from tests.planner.integrations.kubernetes.emulator import Server


def kubeconfig(folder: Path, user: dict[str, Any], **cluster: Any) -> Path:
    text = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://localhost:1"} | cluster}],
        "users": [{"name": "u", "user": user}],
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(text))
    return path


def test_a_token_is_read_again_each_time_and_never_shown(tmp_path: Path, server: Server) -> None:
    (tmp_path / "token").write_text("first\n")
    found = access(kubeconfig(tmp_path, {"tokenFile": "token"}, server=server.url))
    api = KubernetesClient(found)
    server.emulator.token = "first"
    assert api.list("/api/v1/pods")[0] == []
    server.emulator.token = "second"
    with pytest.raises(ApiError, match="401") as refused:
        api.list("/api/v1/pods")
    (tmp_path / "token").write_text("second\n")
    assert api.list("/api/v1/pods")[0] == []
    api.close()
    assert "first" not in f"{found!r} {refused.value}"


def test_the_account_of_a_pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_module, "ACCOUNT", tmp_path)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(InputError, match="this is no pod"):
        access(None)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "6443")
    (tmp_path / "token").write_text("t1")
    certificate(tmp_path, "ca")
    found = access(None)
    assert (found.url, found.token()) == ("https://[fd00::1]:6443", "t1")


@pytest.mark.parametrize(
    ("user", "cluster", "said"),
    [
        ({"exec": {"command": "x"}}, {}, "runs a program"),
        ({}, {"server": "ftp://x"}, "is no address"),
        ({}, {"certificate-authority": "missing.crt"}, "cannot be used"),
        ({}, {"certificate-authority-data": "%%%"}, "cannot be used"),
        ({"as": "admin"}, {}, "users.user.as: is not followed here"),
        ({}, {"proxy-url": "http://p"}, "clusters.cluster.proxy-url: is not followed here"),
        ({}, {"tls-server-name": "api"}, "clusters.cluster.tls-server-name: is not followed here"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, user: dict[str, Any], cluster: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        access(kubeconfig(tmp_path, user, **cluster))


def test_a_context_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("current-context: gone\ncontexts: []\n")
    with pytest.raises(InputError, match="has no context 'gone'"):
        access(path)


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"items": [], "metadata": {"resourceVersion": "1"}}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def tls(tmp_path: Path) -> Iterator[tuple[str, Path, tuple[Path, Path]]]:
    """A server that wants a certificate of its clients: its address, its certificate, that of a client."""
    own, client = certificate(tmp_path, "server"), certificate(tmp_path, "client")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(client[0]))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(*own)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as one:
        one.socket = context.wrap_socket(one.socket, server_side=True)
        thread = Thread(target=one.serve_forever, daemon=True)
        thread.start()
        yield f"https://localhost:{one.server_port}", own[0], client
        one.shutdown()
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("is_inline", [True, False])
def test_certificates(tmp_path: Path, tls: tuple[str, Path, tuple[Path, Path]], is_inline: bool) -> None:
    url, authority, (crt, key) = tls
    files = {"client-certificate": crt, "client-key": key}
    if is_inline:
        user = {f"{name}-data": base64.b64encode(file.read_bytes()).decode() for name, file in files.items()}
        about = {"certificate-authority-data": base64.b64encode(authority.read_bytes()).decode()}
    else:
        user = {name: file.name for name, file in files.items()}
        about = {"certificate-authority": authority.name}
    api = KubernetesClient(access(kubeconfig(tmp_path, user, server=url, **about)))
    assert api.list("/api/v1/pods") == ([], "1")
    api.close()
    stranger = KubernetesClient(access(kubeconfig(tmp_path, user, server=url)))
    with pytest.raises(ApiError, match=r"ConnectError \(its certificate is not trusted: self-signed certificate\)"):
        stranger.list("/api/v1/pods")
    stranger.close()


def test_an_authority_without_key_identifiers_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """EKS has such ones, and Python refuses them from 3.13 on."""
    usual = ssl.create_default_context

    def strict(**given: Any) -> ssl.SSLContext:
        context = usual(**given)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", strict)
    verify = access(kubeconfig(tmp_path, {}, server="https://api:6443")).verify
    assert isinstance(verify, ssl.SSLContext)
    assert not verify.verify_flags & ssl.VERIFY_X509_STRICT
    assert verify.verify_mode is ssl.CERT_REQUIRED


def test_a_token_that_cannot_be_read_for_a_moment_is_trouble_of_the_api(tmp_path: Path, server: Server) -> None:
    token = tmp_path / "token"
    token.write_text("first")
    api = KubernetesClient(access(kubeconfig(tmp_path, {"tokenFile": "token"}, server=server.url)))
    token.unlink()
    for _ in range(2):
        with pytest.raises(ApiError, match="token cannot be read now") as refused:
            api.list("/api/v1/pods")
        assert refused.value.is_of_all, "it says nothing of the one object that was asked for"
        token.write_bytes(b"\xff")
    token.write_text("first")
    assert api.list("/api/v1/pods")[0] == []
    api.close()


@pytest.mark.parametrize("name", [".", ".."])
def test_paths_lead_to_what_they_name(name: str) -> None:
    assert path_of("v1", "pods", "a/b", "..c") == "/api/v1/namespaces/a%2Fb/pods/..c"
    for names in ((name, "p"), ("team", name)):
        with pytest.raises(ApiError, match="no namespace and name") as refused:
            path_of("v1", "pods", *names)
        assert not refused.value.is_of_all
