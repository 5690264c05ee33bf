"""A tab of a real headless browser that scripts are run in, by the pipe of its debugging protocol."""

import base64
import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.need import need_program

MOST_S = 120.0
"""until what must come has come, on a slow machine that does much else"""
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--window-size=1400,1000")


class Tab:
    """One page; messages of its console are kept."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._out, self._in = to_browser, from_browser
        self._left, self._last, self.messages = b"", 0, list[str]()
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Page", "Log"):
            self._call(f"{domain}.enable")

    _session: str | None = None

    def open(self, address: str) -> None:
        self._call("Page.navigate", url=address)

    def run(self, script: str) -> Any:
        """Value of an expression, or of what it promises; a script that throws fails the test."""
        found = self._call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, script: str) -> Any:
        """What an expression gives once that is no longer false, null or nothing; of a node that it is there."""
        asked = (
            f"(() => {{ try {{ const it = {script}; return it?.nodeType ? true : it }} catch {{ return null }} }})()"
        )
        end = time.monotonic() + MOST_S
        while time.monotonic() < end:
            if found := self.run(asked):
                return found
            time.sleep(0.05)
        raise AssertionError(f"never came: {script}; the page says {self.run('document.body.innerText')[:2000]}")

    def click(self, selector: str) -> None:
        """Click once the element is there and may be clicked."""
        node = f"document.querySelector({json.dumps(selector)})"
        self.until(f"{node} && !{node}.disabled")
        self.run(f"{node}.click()")

    def fill(self, selector: str, value: str) -> None:
        """Write into a field and leave it."""
        self.until(f"document.querySelector({json.dumps(selector)})")
        self.run(
            f"""(() => {{
              const field = document.querySelector({json.dumps(selector)});
              field.focus();
              field.value = {json.dumps(value)};
              for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, {{bubbles: true}}));
              field.blur();
            }})()"""
        )

    def text(self, selector: str) -> str:
        return str(self.run(f"document.querySelector({json.dumps(selector)}).innerText"))

    def picture(self, path: Path, width: int, height: int, *, is_dark: bool) -> int:
        """Write a picture of the whole page as wide as that; by how much it is wider than its window."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]
        self._call("Emulation.setEmulatedMedia", features=scheme)
        time.sleep(0.5)
        high = self.run("document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": width, "height": high, "scale": 1}
        made = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(made["data"]))
        return int(self.run("document.documentElement.scrollWidth - document.documentElement.clientWidth"))

    def _call(self, method: str, **parameters: Any) -> Any:
        self._last += 1
        asked: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session is not None:
            asked["sessionId"] = self._session
        os.write(self._out, json.dumps(asked).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                return answer["result"]
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            part = os.read(self._in, 1 << 16)
            assert part, "the browser has ended"
            self._left += part
        text, _, self._left = self._left.partition(b"\0")
        found: dict[str, Any] = json.loads(text)
        return found

    def _note(self, event: dict[str, Any]) -> None:
        """Keep what the console would show."""
        if event.get("method") == "Runtime.exceptionThrown":
            self.messages.append(json.dumps(event["params"]["exceptionDetails"]))
        elif event.get("method") == "Log.entryAdded":
            self.messages.append(f"{event['params']['entry']['text']} {event['params']['entry'].get('url', '')}")
        elif event.get("method") == "Page.javascriptDialogOpening":
            self._last += 1
            answer = {"id": self._last, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
            os.write(self._out, json.dumps(answer | {"sessionId": self._session}).encode() + b"\0")


@contextmanager
def tab(folder: Path) -> Iterator[Tab]:
    """A tab of a browser of its own."""
    browser = need_program("chromium", "chromium-browser", "google-chrome")
    (read_there, to_browser), (from_browser, write_there) = os.pipe(), os.pipe()

    def as_three_and_four() -> None:
        low, high = os.dup(read_there), os.dup(write_there)
        os.dup2(low, 3)
        os.dup2(high, 4)

    process = subprocess.Popen(
        [browser, *OPTIONS, f"--user-data-dir={folder / 'profile'}"],
        preexec_fn=as_three_and_four, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(read_there)
    os.close(write_there)
    try:
        yield Tab(to_browser, from_browser)
    finally:
        os.close(to_browser)
        os.close(from_browser)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
