"""`planner serve` as a process, its answers, and the data of its page."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.golden.texts import FABRICS, MASK, ROOT, Unit, data_of, shown, write_served

QUESTIONS = ("/v1/jobs", "/v1/jobs/job0", "/v1/decisions?after=0", "/v1/state", "/v1/circuits", "/v1/plan", "/v1/check",
             "/v1/floor", "/healthz")  # fmt: skip
TIMES = {"now_s", "arrived_s", "started_s", "at_s", "used", "waited_s", "since_s", "promised_s", "view"}
"""of a service: read from the machine's clock, or drawn by its process, masked in its answers alone"""
TRAINING = {"kind": "transformer_training", "model": "bert-large", "global_batch": 64, "sequence": 512}
SERVING = {"kind": "transformer_inference", "model": "llama-3.1-8b", "concurrency": 32, "input_tokens": 1024,
           "output_tokens": 512}  # fmt: skip
SIZES = (4, 2, 8, 16, 4, 1)
CODE = """
import sys
from tests.golden import frozen, texts
frozen.freeze(is_service=True)
sys.exit(texts.public().main())
"""


def units() -> Iterator[Unit]:
    for fabric in FABRICS:
        yield Unit("live", fabric, partial(_answers, fabric), fabric in ("lightpath", "sipam", "torus"))


@dataclass(frozen=True)
class Service:
    """One that listens."""

    port: int
    token: str

    def ask(self, path: str, body: Any = None) -> Any:
        """An answer as JSON, or text; errors with their code."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = Request(f"http://127.0.0.1:{self.port}{path}", data, headers)
        try:
            with urlopen(request, timeout=60) as answer:
                text = answer.read().decode()
        except HTTPError as error:
            text = f"{error.code}: {error.read().decode()}"
        try:
            return _timeless(json.loads(text))
        except ValueError:
            return text


@contextmanager
def running(cluster: str) -> Iterator[Service]:
    """A service of its own, in the folder that is worked in."""
    options = ("--journal", "planner.db", "--new-token", "token", "--port", "0")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-c", CODE, "serve", cluster, *options], stderr=subprocess.PIPE,
                               env=environment, text=True)  # fmt: skip
    try:
        assert process.stderr is not None
        port = next(found["port"] for found in map(json.loads, process.stderr) if found["message"] == "listening")
        yield Service(port, Path("token").read_text("utf-8").strip())
    finally:
        process.terminate()
        process.communicate(timeout=60)


def _answers(fabric: str) -> dict[str, str]:
    with running(write_served(fabric)) as service:
        said = [service.ask("/v1/jobs", job) for job in _jobs()]
        said.append(service.ask("/v1/jobs/job1/finish", {}))
        said.append(service.ask("/v1/parts/s0/fail", {}))
        said.append(service.ask("/v1/parts/s0/repair", {}))
        said.append(service.ask("/v1/servers/s1/drain", {}))
        found = {"events": shown(said)}
        found |= {path.split("?")[0]: shown(service.ask(path)) for path in QUESTIONS}
        return found | {"page": data_of(str(service.ask("/")))}


def _jobs() -> Iterator[dict[str, Any]]:
    for number, size in enumerate(SIZES):
        workload = SERVING if number % 2 else TRAINING
        yield {"name": f"job{number}", "workload": workload, "accelerators": size, "duration_s": 3600}


def _timeless(document: Any) -> Any:
    if isinstance(document, dict):
        return {
            key: MASK if key in TIMES and value is not None else _timeless(value) for key, value in document.items()
        }
    return [_timeless(value) for value in document] if isinstance(document, list) else document
