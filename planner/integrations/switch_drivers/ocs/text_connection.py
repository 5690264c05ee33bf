"""Text to and from one switch over TCP or TLS, within the time of a request."""

import socket
import ssl
import time
from contextlib import suppress

from planner.integrations.switch_drivers.ocs.config import SwitchSite
from planner.integrations.switch_drivers.ocs.switch import SwitchSilentError

READ_BYTES = 1 << 16


def opened(host: str, port: int, timeout_s: float, context: ssl.SSLContext | None) -> socket.socket:
    """A connection; OSError."""
    found = socket.create_connection((host, port), timeout_s)
    try:
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return found if context is None else context.wrap_socket(found, server_hostname=host)
    except OSError:
        found.close()
        raise


class TextConnection:
    """Made when it is first needed, and again after anything went wrong with it."""

    def __init__(self, site: SwitchSite, name: str) -> None:
        self._name, self._timeout_s = name, site.access[name].timeout_s
        host, is_secure = site.endpoint(name)
        self._host, _, port = host.rpartition(":")
        self._port, self._context = int(port), site.tls(name) if is_secure else None
        self._socket: socket.socket | None = None
        self._end_s = 0.0

    @property
    def is_open(self) -> bool:
        return self._socket is not None

    def open(self) -> None:
        """SwitchSilentError where nobody takes it."""
        try:
            self._socket = opened(self._host.strip("[]"), self._port, self._timeout_s, self._context)
        except OSError as error:
            raise SwitchSilentError(f"{self._name} does not answer: {error}") from None

    def close(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.close()
        self._socket = None

    def restart_time(self) -> None:
        """From now on the switch has the time of one request to answer."""
        self._end_s = time.monotonic() + self._timeout_s

    def send(self, text: str) -> None:
        """SwitchSilentError, after which the connection is closed."""
        assert self._socket is not None
        try:
            self._socket.sendall(text.encode())
        except OSError as error:
            self.close()
            raise SwitchSilentError(f"{self._name} does not answer: {error}") from None

    def receive(self) -> bytes:
        """What has come, at least one byte; SwitchSilentError, after which the connection is closed."""
        assert self._socket is not None
        try:
            left_s = self._end_s - time.monotonic()
            if left_s <= 0:
                raise TimeoutError("timed out")
            self._socket.settimeout(left_s)
            found = self._socket.recv(READ_BYTES)
        except OSError as error:
            self.close()
            raise SwitchSilentError(f"{self._name} does not answer: {error}") from None
        if not found:
            self.close()
            raise SwitchSilentError(f"{self._name} has closed the connection")
        return found
