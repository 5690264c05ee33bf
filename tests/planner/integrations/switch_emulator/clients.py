"""A plain client, and small emulators for it."""

import json
import ssl
import urllib.error
import urllib.request
from typing import Any

from planner.integrations.switch_emulator import Emulator, SwitchSpec

YANG_JSON = "application/yang-data+json"

ADD = {"sonic-ocs:input": {"add": [{"cross_connect_id": "1A-2B", "a_side": "1A", "b_side": "2B"}]}}
STATE = "/data/sonic-ocs:sonic-ocs/OCS_CROSS_CONNECT_TABLE"


def ask(url: str, body: Any = None, *, context: ssl.SSLContext | None = None, **headers: str) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": YANG_JSON, **headers})
    try:
        with urllib.request.urlopen(request, timeout=5, context=context) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def emulator() -> Emulator:
    return Emulator([SwitchSpec("ocs0", 8), SwitchSpec("ocs1", 8)], settling_s=0.0)
