"""The shell of every page: one HTML file with its styles, scripts and data inside; it asks for nothing elsewhere."""

import base64
import hashlib
import html
import importlib.resources
import json
from collections.abc import Sequence
from string import Template


def render(
    title: str,
    body: str,
    styles: Sequence[str],
    scripts: Sequence[str],
    data: object,
    *,
    asks: bool = False,
    frames: bool = False,
) -> str:
    """The text of the page; `body`, `styles` and `scripts` are files of this folder.

    `asks`: whether it may ask the server that it came from; `frames`: whether it may show other pages of it.
    """
    style = "\n".join(_asset(name) for name in styles)
    script = '(() => {\n"use strict";\n' + "\n".join(_asset(name) for name in scripts) + "})();\n"
    return Template(_asset("page.html")).substitute(
        title=html.escape(title),
        body=_asset(body),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        connect=("; connect-src 'self'" if asks else "") + ("; frame-src 'self'" if frames else ""),
        data=_embedded(data),
    )


def _asset(name: str) -> str:
    return importlib.resources.files("planner.report").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    """Hash of the inline text for the content security policy: nothing else on the page may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _embedded(data: object) -> str:
    """JSON that no HTML parser takes for markup."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
