"""`planner serve --kubernetes` as a process of its own, between an emulated API and an emulated kube-scheduler."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml

from planner.integrations.kubernetes.config import Kubernetes
from planner.integrations.kubernetes.manifests import scheduler_configuration
from planner.integrations.kubernetes.pods import Pod
from tests.planner.integrations.kubernetes.contract import BINDING_RESULT, FILTER_RESULT, require
from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.objects import PODS
from tests.planner.integrations.kubernetes.scheduler import Scheduler
from tests.planner.integrations.kubernetes.world import World
from tests.planner.service.running import MOST_S, ROOT, START
from tests.planner.simulate.grounds import BERT, cluster

CONFIG = {"nodes": "n[0-3]", "workloads": {"bert": BERT}, "default_workload": "bert"}


def write(folder: Path, url: str) -> None:
    """cluster.yaml, kubernetes.yaml, and a kubeconfig of an API without a certificate."""
    here = {"name": "a", "context": {"cluster": "a", "user": "a"}}
    known = {"clusters": [{"name": "a", "cluster": {"server": url}}], "users": [{"name": "a", "user": {"token": "x"}}]}
    (folder / "cluster.yaml").write_text(cluster("lightpath").model_dump_json(by_alias=True))
    (folder / "kubernetes.yaml").write_text(yaml.safe_dump(CONFIG | {"kubeconfig": "config"}))
    (folder / "config").write_text(yaml.safe_dump({"current-context": "a", "contexts": [here]} | known))


def wait(until: Callable[[], bool], limit_s: float = MOST_S, every_s: float = 0.1) -> None:
    until_s = time.monotonic() + limit_s
    while not until():
        assert time.monotonic() < until_s, "it took too long"
        time.sleep(every_s)


class OverHttp:
    """The extender as kube-scheduler asks it by the configuration that is written for it."""

    def __init__(self, client: httpx.Client) -> None:
        written = yaml.safe_load(scheduler_configuration(Kubernetes.model_validate(CONFIG), "ns"))
        self._client = client
        self._timeout_s = float(written["extenders"][0]["httpTimeout"].removesuffix("s"))
        self.longest_filter_s = 0.0

    def filter(self, item: dict[str, Any], names: list[str]) -> list[str]:
        began_s = time.monotonic()
        answer = self._post("filter", {"Pod": item, "NodeNames": names})
        self.longest_filter_s = max(self.longest_filter_s, time.monotonic() - began_s)
        require(FILTER_RESULT, answer)
        kept: list[str] = answer["NodeNames"]
        return kept

    def bind(self, item: dict[str, Any], node: str) -> None:
        about = item["metadata"]
        args = {"PodName": about["name"], "PodNamespace": about["namespace"], "PodUID": about["uid"], "Node": node}
        require(BINDING_RESULT, self._post("bind", args))

    def _post(self, verb: str, body: dict[str, Any]) -> Any:
        response = self._client.post(f"/scheduler/{verb}", json=body, timeout=self._timeout_s)
        if response.status_code != 200 or (isinstance(response.json(), dict) and response.json().get("Error")):
            raise RuntimeError(response.text)
        return response.json()


@dataclass
class Serving:
    """A planner, and what is around it."""

    world: World
    client: httpx.Client
    folder: Path
    process: "subprocess.Popen[bytes]"
    ask: OverHttp
    queue: Scheduler

    def until(self, done: Callable[[], bool], limit_s: float = MOST_S, every_s: float = 0.01) -> None:
        """Let the scheduler work until something is so."""

        def step() -> bool:
            self.queue.step()
            return done()

        wait(step, limit_s, every_s)

    def bound_s(self, gangs: list[str], pods: int = 2) -> list[float]:
        """Gangs are submitted together to an idle cluster: seconds until each of their pods is bound. They end then,
        and the cluster is idle again."""
        names = [f"{gang}-{i}" for gang in gangs for i in range(pods)]
        began_s = time.monotonic()
        for name in names:
            self.world.pod(name, 8, name.rpartition("-")[0], pods)
        self.until(lambda: set(names) <= self.queue.bound_s.keys())
        self.world.require_sound()
        for name in names:
            self.world.emulator.change(PODS, "team", name, status={"phase": "Succeeded"})
        self.until(lambda: not self.client.get("/v1/circuits").json()["circuits"], every_s=0.2)
        wait(lambda: "team/" not in self.switches)
        return [self.queue.bound_s[name] - began_s for name in names]

    @property
    def switches(self) -> str:
        """What the driver has recorded."""
        return "".join(one.read_text() for one in self.folder.rglob("switches.json"))

    def nodes_of(self, gang: str) -> set[str]:
        return {pod.node for pod in map(Pod, self.world.pods()) if pod.name.startswith(gang)}


@contextmanager
def serving(server: Server, folder: Path, driver: str, **config: Any) -> Iterator[Serving]:
    """`driver` as of --driver, with its folder or command."""
    (folder / "world").mkdir()
    world = World(server, folder / "world", "lightpath", **config)
    write(folder, server.url)
    options = ["--journal", "j.db", "--new-token", "token", "--port", "0", "--kubernetes", "kubernetes.yaml"]
    command = [sys.executable, "-c", START, "serve", "cluster.yaml", *options, "--driver", driver]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=log)
    try:
        wait(lambda: "listening" in (folder / "log").read_text())
        line = next(one for one in (folder / "log").read_text().splitlines() if "listening" in one)
        address = f"http://planner:{(folder / 'token').read_text().strip()}@127.0.0.1:{yaml.safe_load(line)['port']}"
        with httpx.Client(base_url=address, timeout=MOST_S) as client, ThreadPoolExecutor(64) as beside:
            ask = OverHttp(client)
            queue = Scheduler(world.emulator, ask, time.monotonic, world.candidates, beside)
            yield Serving(world, client, folder, process, ask, queue)
            process.terminate()
            assert process.wait(MOST_S) == 0
    finally:
        process.kill()
        process.wait()
        world.close()
