"""What a driver of switches says when it cannot set circuits reaches whoever asks for the job, and the figures."""

import re
import time

from planner.controller.switch_driver import NO_CIRCUITS
from planner.controller.switch_reconciler import SwitchReconciler
from planner.integrations.switch_drivers import CircuitError, Circuits
from tests.planner.controller.sites import controller as small_controller
from tests.planner.service.running import running, until

SAID = "no light at <b>panel 7</b>"


class Dark:
    """Switches that cannot be set while they are dark."""

    is_dark = True

    def __init__(self) -> None:
        self.on: dict[str, Circuits] = {}

    def connect(self, job: str, circuits: Circuits) -> None:
        if self.is_dark:
            raise CircuitError(SAID)
        self.on[job] = circuits

    def release(self, job: str, but: Circuits = NO_CIRCUITS) -> None:
        if self.is_dark:
            raise CircuitError(f"{SAID}: {job} stays")
        self.on.pop(job, None)

    def applied(self) -> dict[str, Circuits]:
        return dict(self.on)


def failures(text: str) -> dict[str, float]:
    found = re.findall(r'^photonplan_circuit_failures_total\{action="(\w+)"\} (\S+)$', text, flags=re.MULTILINE)
    return {action: float(count) for action, count in found}


def test_a_job_says_why_its_circuits_are_not_set() -> None:
    controller = small_controller("lightpath")
    switches = Dark()
    carrier = SwitchReconciler(controller, switches, period_s=0.05, clock=lambda: 1e3 * time.monotonic())
    with running(controller, carrier=carrier) as site:
        assert failures(site.client.get("/metrics").text) == {"connect": 0, "release": 0}
        site.submit("a", 16)
        site.submit("alone")
        until(lambda: site.get("/v1/jobs/a")["said"] is not None)
        job = site.get("/v1/jobs/a")
        assert (job["connected"], job["said"]) == (False, SAID)
        assert site.get("/v1/jobs/alone")["said"] is None
        assert site.get("/v1/floor")["troubles"] == [{"job": "a", "action": "connect", "said": SAID}]
        assert failures(site.client.get("/metrics").text)["connect"] > 0

        switches.is_dark = False
        until(lambda: site.get("/v1/jobs/a")["connected"])
        assert site.get("/v1/jobs/a")["said"] is None
        assert site.get("/v1/floor")["troubles"] == []

        switches.is_dark = True
        site.client.post("/v1/jobs/a/finish")
        told = [{"job": "a", "action": "release", "said": f"{SAID}: a stays"}]
        until(lambda: site.get("/v1/floor")["troubles"] == told)
        switches.is_dark = False
        until(lambda: site.get("/v1/floor")["troubles"] == [])
