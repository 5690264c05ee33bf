"""Options of the service that an operator may set."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """Limits of one service; the token is never shown."""

    token: bytes = field(repr=False)
    rate_per_s: float = 1000.0
    """requests of one address, on average; 0: any number"""
    most_queued: int = 128
    """events and questions that wait for the controller; more are refused with 429"""
    most_wait_s: float = 1.0
    """for the controller: who waited longer is refused with 429, and so is who comes while somebody has"""
    most_body_bytes: int = 2**20
    timeout_s: float = 30.0
    """for one request, beside what a long poll waits"""
    most_connections: int = 1000
    """beyond these a connection is answered how the service is, and nothing else"""
    most_of_address: int = 500
    """connections of one address"""
    header_s: float = 10.0
    """for the head of a request, from its first byte, or from the connection; then it is closed"""
    tenants: Path | None = None
    """file with hashes of the tokens of tenants"""
    has_open_metrics: bool = False
    """whether /metrics needs no token"""
