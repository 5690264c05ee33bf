"""Controllers over a lightpath that a command of the site sets, which fails by seed."""

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from planner.controller.switch_driver import Driver
from planner.integrations.switch_drivers.hook_driver import HookDriver
from planner.integrations.switch_drivers.recorded import unfenced
from planner.integrations.switch_emulator import Finding, Holding, judge
from planner.integrations.switch_emulator.light import CONTROLLER
from planner.integrations.switch_emulator.referee import CrossConnect, FindingKind
from planner.placement.placement import Place
from tests.planner.integrations.switch_drivers.light_rack import LightRack, name_of, shared
from tests.planner.integrations.switch_drivers.ocs.controlled_world import READ_BACK_S, ControlledWorld
from tests.planner.integrations.switch_drivers.ocs.elastic_world import ElasticWorld
from tests.planner.integrations.switch_drivers.ocs.faulty_world import GRACE_S, TIMEOUT_S
from tests.planner.integrations.switch_drivers.ocs.light_verdict import Verdict, verdict
from tests.planner.integrations.switch_drivers.ocs.site import Site

MENDED_S = 2 * READ_BACK_S
"""after a fault, until when its light is set again"""
OFTEN = 20.0
"""times as many faults at a command as at a request: jobs have few commands"""


def unswitched(folder: Path, kind: str) -> Site:
    """A site of which the world stands for all light."""
    path = folder / "switches.yaml"
    path.write_text("")
    return Site(kind, path, {})


class CommandDriver(HookDriver):
    """Its command is one of the world."""

    def __init__(self, world: "CommandedWorld", folder: Path, fence: Callable[[], int] = unfenced) -> None:
        super().__init__(["light"], folder, TIMEOUT_S, fence)
        self._world = world

    def _finished(self, given: str, lock: int | None) -> tuple[int, str, str]:
        return self._world.command(given)


@dataclass
class CommandedWorld(ControlledWorld):
    """The same with a driver that runs a command."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.rack = LightRack(self.seed, OFTEN * self.rate, lambda: self.now_s)

    def _driver(self) -> Driver:
        return CommandDriver(self, self.path.parent / "driver")

    def command(self, given: str) -> tuple[int, str, str]:
        """What a command of a driver does and says."""
        body = json.loads(given)
        what = "GET" if body["action"] == "report" else "POST"
        answer = self.asked(lambda: self.rack.answer(body), what)
        if answer is None:
            self.sleep(TIMEOUT_S)
            raise subprocess.TimeoutExpired("light", TIMEOUT_S)
        return answer

    def stop_faults(self) -> None:
        self.rack.is_well = True

    @property
    def faults(self) -> list[str]:
        return self.rack.happened

    def lit(self) -> set[CrossConnect]:
        return self.rack.lit()

    def _circuits_of(self, place: Place) -> frozenset[CrossConnect]:
        return frozenset(name_of(circuit) for held in place.circuits_json for circuit in held["circuits"])

    def judged(self) -> Verdict:
        light, held = self.rack.light(), self.holdings()
        found = judge(light, held, now_s=self.now_s, grace_s=GRACE_S)
        judged = verdict([*found, *shared(light, held, self.now_s)], held, {}, self.told, GRACE_S)
        hits = [
            (each.until_s, (each.switch, each.a_side, each.b_side))
            for each in light
            if each.ended_by not in ("", CONTROLLER)
        ]
        mended = [each for each in judged.blamed if _is_mended(each, hits, held)]
        judged.excused["as it was mended"] += len(mended)
        judged.blamed = [each for each in judged.blamed if each not in mended]
        return judged


@dataclass
class CommandedElasticWorld(CommandedWorld, ElasticWorld):
    """Its jobs grow and shrink."""


def _is_mended(finding: Finding, hits: Sequence[tuple[float, CrossConnect]], held: Sequence[Holding]) -> bool:
    """Whether a job lost light by a fault shortly before, told of it or not: all of its circuits are set again then,
    and a command that refuses leaves none of them on."""
    own = {circuit for each in held if each.job in finding.jobs for circuit in each.circuits}
    is_dark = finding.kind == FindingKind.DARK
    return is_dark and any(circuit in own and 0 <= finding.from_s - at_s <= MENDED_S for at_s, circuit in hits)
