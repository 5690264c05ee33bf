"""Address of the API of a cluster, and credentials there: the account of a pod, or a kubeconfig file."""

import base64
import binascii
import os
import ssl
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner.model.errors import InputError
from planner.model.files import parse_text, read_text

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""where a pod finds the token of its account, which changes while it runs, and the certificate of the API"""


@dataclass(frozen=True)
class ClientConfig:
    """One API server; the token is read again for each request (OSError, ValueError) and never shown."""

    url: str
    verify: ssl.SSLContext | bool = True
    token: Callable[[], str | None] = field(default=lambda: None, repr=False)


def access(kubeconfig: Path | None) -> ClientConfig:
    """From a kubeconfig file, or of the pod that this runs in; InputError that says what is missing."""
    return _of_pod() if kubeconfig is None else _of_file(kubeconfig)


def _of_pod() -> ClientConfig:
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    if not host or not (ACCOUNT / "token").is_file():
        raise InputError("kubernetes", "kubeconfig", "this is no pod with an account; give a kubeconfig file")
    address = f"[{host}]" if ":" in host else host
    verify = _trusting(cafile=str(ACCOUNT / "ca.crt"))
    return ClientConfig(f"https://{address}:{port}", verify, lambda: _first_line(ACCOUNT / "token"))


def _of_file(path: Path) -> ClientConfig:
    data = parse_text(
        read_text(path, wanted="a kubeconfig file", remedy="`kubectl config view` shows yours"), str(path)
    )
    context = _named(path, data, "contexts", "context", str(data.get("current-context") or ""))
    cluster = _named(path, data, "clusters", "cluster", str(context.get("cluster") or ""))
    user = _named(path, data, "users", "user", str(context.get("user") or ""))
    url = str(cluster.get("server") or "")
    if not url.startswith(("https://", "http://")):
        raise InputError(str(path), "clusters.cluster.server", f"'{url}' is no address such as https://host:6443")
    if "exec" in user or "auth-provider" in user:
        raise InputError(str(path), "users.user", "runs a program for a token; give a token, tokenFile or certificate")
    for entry, of, key in (
        (cluster, "cluster", "tls-server-name"),
        (cluster, "cluster", "proxy-url"),
        (user, "user", "as"),
    ):
        if entry.get(key):
            raise InputError(str(path), f"{of}s.{of}.{key}", "is not followed here; leave it out, or run in a pod")
    return ClientConfig(url.rstrip("/"), _verify(path, cluster, user), _token(path, user))


def _named(path: Path, data: dict[str, Any], list_key: str, key: str, name: str) -> dict[str, Any]:
    entries = data.get(list_key)
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("name") == name and isinstance(entry.get(key), dict):
            found: dict[str, Any] = entry[key]
            return found
    raise InputError(str(path), list_key, f"has no {key} '{name}'; choose one by `kubectl config use-context`")


def _token(path: Path, user: dict[str, Any]) -> Callable[[], str | None]:
    if user.get("tokenFile"):
        file = path.parent / str(user["tokenFile"])
        return lambda: _first_line(file)
    token = user.get("token")
    return lambda: None if token is None else str(token)


def _trusting(cafile: str | None, cadata: str | None = None) -> ssl.SSLContext:
    """Who trusts the authority of a cluster, also one without key identifiers, as EKS makes them: Python 3.13 is as
    strict as RFC 5280 unless told otherwise."""
    context = ssl.create_default_context(cafile=cafile, cadata=cadata)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _verify(path: Path, cluster: dict[str, Any], user: dict[str, Any]) -> ssl.SSLContext | bool:
    if str(cluster["server"]).startswith("http://"):
        return True
    try:
        context = _trusting(
            cafile=_beside(path, cluster.get("certificate-authority")),
            cadata=_decoded(cluster.get("certificate-authority-data")),
        )
        if cluster.get("insecure-skip-tls-verify"):
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        _load_certificate(context, path, user)
    except (OSError, ValueError, binascii.Error) as error:
        raise InputError(str(path), "certificates", f"cannot be used: {error}") from None
    return context


def _load_certificate(context: ssl.SSLContext, path: Path, user: dict[str, Any]) -> None:
    """The user's own certificate: the library reads it from files only, so inline ones pass through 0600 files."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for key in ("client-certificate", "client-key"):
            inline = _decoded(user.get(f"{key}-data"))
            file = _beside(path, user.get(key))
            if inline is not None:
                file = os.path.join(folder, key)
                with open(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as out:
                    out.write(inline)
            files.append(file)
        certificate, key_file = files
        if certificate is not None:
            context.load_cert_chain(certificate, key_file)


def _beside(path: Path, name: object) -> str | None:
    return str(path.parent / str(name)) if name else None


def _decoded(data: object) -> str | None:
    return base64.b64decode(str(data), validate=True).decode("ascii") if data else None


def _first_line(path: Path) -> str | None:
    return path.read_text(encoding="utf-8").strip() or None
