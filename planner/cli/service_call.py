"""Calls of a running `planner serve` over HTTP."""

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Annotated, Any

import typer

from planner.model.errors import InputError

DEFAULT_URL = "http://127.0.0.1:8642"
OF_BODY = 422
"""where what was sent cannot be used"""
Url = Annotated[str, typer.Option(metavar="URL", help="A `planner serve`.")]
TokenFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Its token.")]


def call(
    path: str, url: str, token_file: Path | None, body: Any, timeout_s: float, body_file: Path | None = None
) -> dict[str, Any]:
    """What a route answers: to a POST of a body, or to a GET without one. InputError with what it says, of the file
    from which the body was read."""
    from planner.model import files

    if not url.startswith(("http://", "https://")):
        raise InputError(
            "--url", url, f"begins with neither http:// nor https://; write http://{url.rpartition('//')[2]}"
        )
    headers = {"Content-Type": "application/json"}
    if token_file is not None:
        token = files.read_text(token_file, wanted="a file with a token", remedy="give the one of the service")
        headers["Authorization"] = f"Bearer {token.strip()}"
    content = None if body is None else json.dumps(body, default=str).encode()
    try:
        request = urllib.request.Request(f"{url.rstrip('/')}{path}", content, headers)
        with urllib.request.urlopen(request, timeout=timeout_s) as response:
            found: dict[str, Any] = json.load(response)
    except urllib.error.HTTPError as error:
        said = _fault(error)
        where = str(body_file) if body_file is not None and error.code == OF_BODY else url
        raise InputError(where, said.get("field", str(error.code)), said.get("problem", error.reason)) from None
    except (urllib.error.URLError, ValueError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise InputError(
            "--url", url, f"does not answer ({reason}); start `planner serve`, or give its address"
        ) from None
    return found


def _fault(error: urllib.error.HTTPError) -> dict[str, str]:
    try:
        said = json.load(error)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
