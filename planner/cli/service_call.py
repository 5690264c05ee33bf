"""Calls of a running `planner serve` over HTTP."""

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Annotated, Any

import typer

from planner.model.errors import InputError

DEFAULT_URL = "http://127.0.0.1:8642"
Url = Annotated[str, typer.Option(metavar="URL", help="A `planner serve`.")]
TokenFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Its token.")]


def call(path: str, url: str, token_file: Path | None, body: Any, timeout_s: float) -> dict[str, Any]:
    """What a route answers: to a POST of a body, or to a GET without one. InputError with what it says."""
    from planner.model import files

    headers = {"Content-Type": "application/json"}
    if token_file is not None:
        headers["Authorization"] = f"Bearer {files.read_text(token_file).strip()}"
    content = None if body is None else json.dumps(body, default=str).encode()
    try:
        request = urllib.request.Request(f"{url.rstrip('/')}{path}", content, headers)
        with urllib.request.urlopen(request, timeout=timeout_s) as response:
            found: dict[str, Any] = json.load(response)
    except urllib.error.HTTPError as error:
        said = _fault(error)
        raise InputError(url, said.get("field", str(error.code)), said.get("problem", error.reason)) from None
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
