"""The stream of a watch as an API server writes it: JSON as of Go, one event a line, open until its time is over."""

import asyncio
import json
import time
from typing import Any

import kmock

_ESCAPED = str.maketrans({one: f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"})
"""what Go's `encoding/json` escapes beside control characters; all else is UTF-8 as it is"""


def event_line(event: dict[str, Any]) -> bytes:
    text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_ESCAPED).encode() + b"\n"


async def until_left(request: kmock.Request) -> None:
    """Until the client has gone, or the time of the watch is over."""
    until_s = time.monotonic() + int(request.params.get("timeoutSeconds") or 1800)
    while time.monotonic() < until_s:
        transport = request._raw_request.transport
        if transport is None or transport.is_closing():
            return
        await asyncio.sleep(0.01)
