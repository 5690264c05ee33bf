"""`planner serve --kubernetes` from end to end: an emulated API, circuits on a file-backed driver, pods over HTTP."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import yaml

from planner.cli.serve import _service
from planner.schedulers import Controller
from planner.schedulers.carrier import Carrier
from planner.schedulers.drivers import driver_of
from planner.schedulers.kubernetes.companion import KubernetesLoop
from planner.schedulers.kubernetes.jobs import has_light
from planner.schedulers.kubernetes.pods import Pod
from planner.serve.options import Options
from tests.planner.replay.grounds import BERT, cluster
from tests.planner.schedulers.kubernetes.emulator import Server
from tests.planner.schedulers.kubernetes.world import World, pod_set
from tests.planner.schedulers.sites import request
from tests.planner.serve.running import MOST_S

COMMAND = "from planner.cli import main; raise SystemExit(main())"


def write(folder: Path, url: str) -> None:
    config = {"nodes": "n[0-3]", "workloads": {"bert": BERT}, "default_workload": "bert", "kubeconfig": "config"}
    here = {"name": "a", "context": {"cluster": "a", "user": "a"}}
    known = {"clusters": [{"name": "a", "cluster": {"server": url}}], "users": [{"name": "a", "user": {"token": "x"}}]}
    (folder / "cluster.yaml").write_text(cluster("lightpath").model_dump_json(by_alias=True))
    (folder / "kubernetes.yaml").write_text(yaml.safe_dump(config))
    (folder / "config").write_text(yaml.safe_dump({"current-context": "a", "contexts": [here]} | known))


def wait(until: Callable[[], bool], limit_s: float = MOST_S) -> None:
    until_s = time.monotonic() + limit_s
    while not until():
        assert time.monotonic() < until_s, "it took too long"
        time.sleep(0.2)


def test_pods_wait_for_what_the_carrier_is_sure_of(tmp_path: Path) -> None:
    """A driver may say of circuits that are being set that they are on."""
    write(tmp_path, "http://127.0.0.1:1")
    driver = driver_of({"kind": "hook", "command": ["sh", "-c", "kill -9 $$"]}, tmp_path / "driver")
    with Controller(cluster("lightpath")) as controller:
        service = _service(controller, Options(b"t"), driver, tmp_path / "kubernetes.yaml")
        controller.submit(request("a", 16))
        carrier = next(one for one in service.companions if isinstance(one, Carrier))
        loop = next(one for one in service.companions if isinstance(one, KubernetesLoop))
        carrier.tick()
        assert set(driver.applied()) == {"a"}
        applied = loop.extender._applied
        assert applied is not None
        assert not has_light(controller.job("a"), applied())


def test_a_workload_from_quota_to_its_end(tmp_path: Path) -> None:
    server = Server()
    (tmp_path / "world").mkdir()
    world = World(server, tmp_path / "world", "lightpath")
    write(tmp_path, server.url)
    world.workload("train", pod_set(2, 8))
    world.kueue()
    switches = tmp_path / "driver" / "switches.json"
    options = ["--journal", "j.db", "--new-token", "token", "--port", "0", "--kubernetes", "kubernetes.yaml"]
    command = [sys.executable, "-c", COMMAND, "serve", "cluster.yaml", *options, "--driver", "file:driver"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": os.getcwd()}, stderr=log)
    try:
        wait(lambda: world.check("train")["state"] == "Ready")
        assert "team/train" in switches.read_text(), "light comes before pods"
        world.kueue()
        listening = next(line for line in (tmp_path / "log").read_text().splitlines() if "listening" in line)
        port = yaml.safe_load(listening)["port"]
        token = (tmp_path / "token").read_text().strip()
        with httpx.Client(base_url=f"http://planner:{token}@127.0.0.1:{port}", timeout=MOST_S) as client:
            for item in world.pods():
                args = {"Pod": item, "NodeNames": ["n0", "n1", "n2", "n3"]}
                (node,) = client.post("/scheduler/filter", json=args).json()["NodeNames"]
                about = item["metadata"]
                to = {"PodName": about["name"], "PodNamespace": "team", "PodUID": about["uid"], "Node": node}
                assert client.post("/scheduler/bind", json=to).json() == {"Error": ""}
            assert len({Pod(item).node for item in world.pods()}) == 2
            world.require_sound()
            world.finish("train")
            wait(lambda: client.get("/v1/circuits").json()["circuits"] == {})
        wait(lambda: "team/train" not in switches.read_text())
        process.terminate()
        assert process.wait(MOST_S) == 0
    finally:
        process.kill()
        process.wait()
        world.close()
        server.close()
