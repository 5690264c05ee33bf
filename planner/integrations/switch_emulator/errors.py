"""Errors as RFC 8040 answers them: a status, and `ietf-restconf:errors` in the body."""

import json

STATUS = {
    "in-use": 409, "invalid-value": 400, "too-big": 413, "missing-element": 400, "unknown-element": 400,
    "access-denied": 401, "data-exists": 409, "data-missing": 409, "operation-not-supported": 405,
    "operation-failed": 500, "malformed-message": 400,
}  # fmt: skip
"""error-tag -> status, the table of RFC 8040, section 7"""
PROTOCOL = {"malformed-message", "operation-not-supported", "access-denied", "unknown-element", "missing-element"}
"""tags of requests that no application has seen"""


class RestconfError(Exception):
    """A request that is refused."""

    def __init__(self, tag: str, said: str, *, status: int | None = None, path: str = "") -> None:
        super().__init__(said)
        self.tag, self.said, self.path = tag, said, path
        self.status = STATUS[tag] if status is None else status

    @property
    def body(self) -> bytes:
        error = {"error-type": "protocol" if self.tag in PROTOCOL else "application", "error-tag": self.tag}
        if self.path:
            error["error-path"] = self.path
        error["error-message"] = self.said
        return json.dumps({"ietf-restconf:errors": {"error": [error]}}, separators=(",", ":")).encode()
