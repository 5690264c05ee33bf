"""`planner serve --kubernetes` from end to end: an emulated API, circuits on a file-backed driver, pods over HTTP."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from planner.cli.commands.serve import _carrier, _service
from planner.controller import Controller
from planner.controller.switch_reconciler import SwitchReconciler
from planner.integrations.kubernetes.jobs import dark
from planner.integrations.kubernetes.loop import KubernetesLoop
from planner.integrations.kubernetes.pods import Pod
from planner.integrations.switch_drivers import driver_of
from planner.service.options import Options
from tests.planner.controller.sites import request
from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.items import pod_set
from tests.planner.integrations.kubernetes.serving import serving, wait, write
from tests.planner.simulate.grounds import cluster


def test_pods_wait_for_what_the_carrier_is_sure_of(tmp_path: Path) -> None:
    """A driver may say of circuits that are being set that they are on."""
    write(tmp_path, "http://127.0.0.1:1")
    driver = driver_of({"kind": "hook", "command": ["sh", "-c", "kill -9 $$"]}, tmp_path / "driver")
    with Controller(cluster("lightpath")) as controller:
        carrier = _carrier(controller, driver, None, None)
        service = _service(controller, Options(b"t"), (carrier, None), tmp_path / "kubernetes.yaml")
        controller.submit(request("a", 16))
        carrier = next(one for one in service.control_loops if isinstance(one, SwitchReconciler))
        loop = next(one for one in service.control_loops if isinstance(one, KubernetesLoop))
        carrier.tick()
        late_s = time.monotonic() + 10
        while not driver.applied() and time.monotonic() < late_s:  # the call may outlast the patience of a tick
            time.sleep(0.01)
        assert set(driver.applied()) == {"a"}
        applied = loop.extender._applied
        assert applied is not None
        assert dark(controller.job("a"), applied())


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server()
    yield one
    one.close()


@pytest.mark.slow
def test_a_workload_from_quota_to_its_end(server: Server, tmp_path: Path) -> None:
    with serving(server, tmp_path, "file:driver") as site:
        world = site.world
        world.workload("train", pod_set(2, 8))
        world.kueue()
        wait(lambda: world.check("train")["state"] == "Ready")
        assert "team/train" in site.switches, "light comes before pods"
        world.kueue()
        site.until(lambda: len(site.queue.bound_s) == 2)
        assert len({Pod(item).node for item in world.pods()}) == 2
        world.require_sound()
        world.finish("train")
        wait(lambda: site.client.get("/v1/circuits").json()["circuits"] == {})
        wait(lambda: "team/train" not in site.switches)


@pytest.mark.slow
def test_pods_are_bound_as_soon_as_their_circuits_are_on(server: Server, tmp_path: Path) -> None:
    """A switch takes a second; no pod is turned away, none is tried twice, and the filter never waits."""
    with serving(server, tmp_path, "hook:sh -c 'cat > /dev/null; sleep 1'") as site:
        site.bound_s(["first"])
        tried = len(site.queue.tries)
        took_s = site.bound_s(["g"])
        assert site.queue.tries[tried:] == ["g-0", "g-1"]
        assert 1.0 <= max(took_s) < 10.0, "of which a second is the switch, and nothing waits for a flush"
