"""A page in a real headless browser."""

import json
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.need import need_program

OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
    "--virtual-time-budget=4000", "--window-size=1400,1000",
)  # fmt: skip


def browse(folder: Path, page: str, *options: str) -> str:
    """What the browser prints for the page; a message on its console fails the test."""
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    printed, messages = visit(folder, path.as_uri(), *options)
    assert messages == [], messages
    return printed


def visit(folder: Path, address: str, *options: str) -> tuple[str, list[str]]:
    """What the browser prints for an address, and the messages on its console."""
    browser = need_program("chromium", "chromium-browser", "google-chrome")
    command = [browser, *OPTIONS, f"--user-data-dir={folder / 'profile'}", *options, address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=480, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def dom_of(folder: Path, page: str) -> str:
    """The document after the script has run, without its data and its script."""
    return re.sub(r"<script.*?</script>", "", browse(folder, page, "--dump-dom"), flags=re.DOTALL)


class ChartText(NamedTuple):
    """A text of a chart; `is_whole`: no side of the picture cuts it; its height in pixels of the screen."""

    text: str
    is_whole: bool
    height_px: float


TEXTS = """
  const picture = document.querySelector(%s);
  const all = picture.getBoundingClientRect();
  const found = [...picture.querySelectorAll("text")].map((text) => {
    const box = text.getBoundingClientRect();
    return [text.textContent, box.left >= all.left - 1 && box.right <= all.right + 1, box.height];
  });
  document.body.replaceChildren(JSON.stringify(found));
"""


def chart_texts(folder: Path, page: str, selector: str, width_px: int) -> list[ChartText]:
    """All texts of the first picture that the selector finds, in a window that wide (500 is the least there is)."""
    script = f"<script>{TEXTS % json.dumps(selector)}</script>"
    page = re.sub("<meta http-equiv.*?>", "", page).replace("</body>", f"{script}</body>")
    printed = browse(folder, page, "--dump-dom", f"--window-size={width_px},900")
    found = re.search(r"<body>(\[.*\])\s*</body>", printed, flags=re.DOTALL)
    assert found is not None, printed[-2000:]
    return [ChartText(*each) for each in json.loads(found[1])]
