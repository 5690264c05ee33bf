"""Latency of questions over HTTP: `python -m tests.benchmarks.bench_ask --fabric torus4096 --asks 300`.

`planner serve` runs as a process of its own over 4,096 accelerators that are filled to `--load` with jobs of sizes by
seed, and beyond it with large jobs, which wait. One client asks one question after the other on one connection: would
this job be admitted now, of another size each time. Printed are milliseconds from the request until its answer is
read, questions about kinds of jobs that nobody has asked for (`--new`: another model, batch and size each time; what
they may run as is listed then) apart, and processor time of the service for one.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import httpx
import numpy as np

from tests.benchmarks.bench_controller import load_cluster
from tests.benchmarks.bench_serve import cpu_s, started

ACCELERATORS = 4096
SIZES = (4, 8, 16, 32, 64, 128, 256)
WAITING = 20
"""jobs of the largest size behind them"""
WORKLOAD = {"kind": "transformer_training", "model": "bert-large", "global_batch": 4096, "sequence": 512}
MODELS = ("bert-large", "llama-3.1-8b", "gpt3-22b")
BATCHES, SEQUENCES = (768, 1024, 1280, 1536, 2048, 2560, 3072, 6144), (256, 384, 640, 768, 1024, 2048)


def job(name: str, size: int, **workload: Any) -> dict[str, Any]:
    return {"name": name, "accelerators": size, "workload": WORKLOAD | workload, "duration": "10 h"}


def new_kinds(random: Random, count: int) -> list[dict[str, Any]]:
    """Jobs of so many kinds, none as those that run."""
    kinds = list(product(MODELS, BATCHES, SEQUENCES, SIZES))
    return [
        job(f"new{number}", size, model=model, global_batch=batch, sequence=sequence)
        for number, (model, batch, sequence, size) in enumerate(random.sample(kinds, count))
    ]


def fill(client: httpx.Client, random: Random, load: float) -> int:
    """Submit jobs until so many accelerators are asked for, and some more that wait; returns how many run."""
    asked = number = 0
    while asked < load * ACCELERATORS:
        size = min(random.choice(SIZES), 64)
        client.post("/v1/jobs", json=job(f"j{number}", size)).raise_for_status()
        asked, number = asked + size, number + 1
    for _ in range(WAITING):
        client.post("/v1/jobs", json=job(f"j{number}", SIZES[-1])).raise_for_status()
        number += 1
    running: int = client.get("/v1/jobs", params={"state": "running", "limit": 1}).json()["total"]
    return running


def ask_s(client: httpx.Client, asked: dict[str, Any]) -> float:
    """Seconds until the answer is read, that it can never run included."""
    began_s = time.perf_counter()
    answer = client.post("/v1/ask", json=asked)
    seconds = time.perf_counter() - began_s
    if answer.status_code != httpx.codes.UNPROCESSABLE_ENTITY:
        answer.raise_for_status()
    return seconds


def line(times: Sequence[float]) -> str:
    p50, p99, most = np.quantile(times, [0.5, 0.99, 1.0]) * 1e3
    return f"{len(times)}, ms: p50 {p50:.1f}, p99 {p99:.1f}, most {most:.1f}"


def main(arguments: Sequence[str] | None = None) -> list[float]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fabric", default="torus4096", help="of instances/replay; 256 accelerators are repeated")
    parser.add_argument("--asks", type=int, default=300)
    parser.add_argument("--new", type=int, default=100, help="questions about kinds that nobody has asked for")
    parser.add_argument("--load", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    random = Random(given.seed)
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        (folder / "cluster.json").write_text(load_cluster(given.fabric, ACCELERATORS).model_dump_json(by_alias=True))
        process, port = started(folder, cluster=folder / "cluster.json")
        token = {"Authorization": f"Bearer {(folder / 'token').read_text()}"}
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=token, timeout=120) as client:
                running = fill(client, random, given.load)
                for size in SIZES:
                    ask_s(client, job(f"first{size}", size))
                before_s = cpu_s(process.pid)
                times = [ask_s(client, job(f"a{number}", random.choice(SIZES))) for number in range(given.asks)]
                each_ms = (cpu_s(process.pid) - before_s) / given.asks * 1e3
                new, new_cpu = [], list[float]()
                for asked in new_kinds(random, given.new):
                    before_s = cpu_s(process.pid)
                    new.append(ask_s(client, asked))
                    new_cpu.append(cpu_s(process.pid) - before_s)
        finally:
            process.terminate()
            process.wait(60)
    print(f"{given.fabric}: {running} jobs run, questions: {line(times)}; processor time of each {each_ms:.1f} ms")
    print(f"new kinds: {line(new)}; processor time: {line(new_cpu)}")
    return times


if __name__ == "__main__":
    main()
