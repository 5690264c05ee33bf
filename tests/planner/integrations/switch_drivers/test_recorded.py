"""Drivers keep circuits of jobs on: all of a job or none, whoever dies in between."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from planner.controller.switch_driver import UnsureError
from planner.integrations.switch_drivers import CircuitBusyError, CircuitError, Circuits, Driver, driver_of
from planner.integrations.switch_drivers.recorded import RecordedDriver
from planner.model.errors import DeposedError
from tests.paths import ROOT
from tests.planner.integrations.switch_drivers.drivers import (
    BETWEEN,
    BOTH,
    COMMAND,
    CONNECT,
    NEW,
    SLOW,
    circuits,
    hook,
    made_spec,
)


def test_connect_and_release_may_come_again(driver: Driver) -> None:
    assert driver.applied() == {}
    driver.release("a")
    for _ in range(2):
        driver.connect("a", BETWEEN)
        assert driver.applied() == {"a": BETWEEN}
    for _ in range(2):
        driver.release("a")
        assert driver.applied() == {}


def test_a_job_without_circuits_takes_nothing(driver: Driver) -> None:
    driver.connect("a", [])
    assert driver.applied() == {}


def test_what_is_on_is_not_changed_under_a_job(driver: Driver) -> None:
    driver.connect("a", BETWEEN)
    with pytest.raises(CircuitError, match="release them first"):
        driver.connect("a", circuits(wavelengths=(1,), fibers=["s0>s1#0"]))
    with pytest.raises(CircuitError, match="release them first"):
        driver.connect("a", [])
    assert driver.applied() == {"a": BETWEEN}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("other", "what"),
    [
        (circuits("s0.t5", "s1.t5", fibers=["s0>s1#0"]), "s0>s1#0:w0"),
        (circuits("s0.t0", "s2.t0"), "s0.t0:w0"),
        (circuits("s2.t0", "s1.t0"), "s1.t0:rx:w0"),
    ],
)
def test_light_of_another_job_is_busy_until_it_is_released(driver: Driver, other: Circuits, what: str) -> None:
    driver.connect("a", BETWEEN)
    with pytest.raises(CircuitBusyError, match=f"^{what} is in use by a$"):
        driver.connect("b", other)
    assert driver.applied() == {"a": BETWEEN}
    driver.release("a")
    driver.connect("b", other)
    assert driver.applied() == {"b": other}


@pytest.mark.slow
@pytest.mark.parametrize(
    "other",
    [
        circuits("s0.t5", "s1.t5", fibers=["s0>s1#1"]),
        circuits("s0.t5", "s1.t5", (1,), fibers=["s0>s1#0"]),
        circuits("s1.t0", "s0.t0", fibers=["s1>s0#0"]),
    ],
)
def test_other_light_is_free(driver: Driver, other: Circuits) -> None:
    driver.connect("a", BETWEEN)
    driver.connect("b", other)
    assert driver.applied() == {"a": BETWEEN, "b": other}


def test_jobs_of_a_torus_share_an_optical_switch(driver: Driver) -> None:
    first, second = circuits("s0.c0", "s1.c0", fibers=["x0"]), circuits("s2.c0", "s3.c0", fibers=["x0"])
    driver.connect("a", first)
    driver.connect("b", second)
    assert driver.applied() == {"a": first, "b": second}


def test_files_are_for_their_owner_alone(driver: Driver, tmp_path: Path) -> None:
    driver.connect("a", BETWEEN)
    folder = tmp_path / "driver"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert {path.name for path in folder.iterdir()} == {"switches.json", "lock", "switches.lock"}


def test_a_damaged_record_is_one_clear_error(driver: Driver, tmp_path: Path) -> None:
    driver.connect("a", BETWEEN)
    (tmp_path / "driver" / "switches.json").write_text('{"on": {"a": [')
    with pytest.raises(CircuitError, match=r"switches\.json holds no switch states .* put all circuits off"):
        driver.release("a")


def test_of_many_at_once_one_gets_the_light(driver: Driver, tmp_path: Path) -> None:
    spec = {"kind": "file"}

    def connect(number: int) -> bool:
        try:
            driver_of(spec, tmp_path / "driver").connect(
                f"job{number}", circuits(f"s0.t{number}", f"s1.t{number}", fibers=["s0>s1#0"])
            )
        except CircuitBusyError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(connect, range(8))) == 1
    assert len(driver.applied()) == 1


@pytest.mark.parametrize(
    "part",
    ["s0>s1#0", "s0>s1#0:w3", "s0.t2", "s0.t2:port", "s0.t2:tx", "s0.t2:w3", "s1.t4", "s1.t4:port", "s1.t4:rx",
     "s1.t4:rx:w3", "q2#3"],
)  # fmt: skip
def test_a_broken_part_is_named_and_nothing_is_on(tmp_path: Path, part: str) -> None:
    folder = tmp_path / "driver"
    driver = driver_of({"kind": "file"}, folder)
    driver.release("none")
    (folder / "faults.json").write_text(json.dumps(["s5.t5", part]))
    wanted = circuits("s0.t2", "s1.t4", (3,), fibers=["s0>s1#0"])
    with pytest.raises(CircuitError, match=part) as caught:
        driver.connect("a", wanted)
    assert caught.value.part == part
    assert driver.applied() == {}
    driver.connect("a", circuits("s0.t3", "s1.t5", (4,), fibers=["s0>s1#1"]))
    (folder / "faults.json").write_text("[]")
    driver.connect("b", wanted)


def test_whoever_dies_in_the_middle_leaves_a_trace(tmp_path: Path) -> None:
    """The process that switches is killed by the command itself: what may be on is known, and can be released."""
    driver = hook(tmp_path, "#!/bin/sh\nkill -9 $PPID\n")
    argv = [*CONNECT, json.dumps(made_spec(tmp_path)), str(tmp_path / "driver"), json.dumps(BETWEEN)]
    died = subprocess.run(argv, env=os.environ | {"PYTHONPATH": str(ROOT)}, timeout=240, check=False)
    assert died.returncode == -signal.SIGKILL
    assert driver.applied() == {"a": BETWEEN}
    again = hook(tmp_path, COMMAND.format(folder=tmp_path))
    again.release("a")
    assert again.applied() == {}
    assert json.loads((tmp_path / "told").read_text())["action"] == "release"


def test_who_waits_too_long_for_a_switch_is_told_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = hook(tmp_path, SLOW.format(folder=tmp_path))
    with ThreadPoolExecutor(1) as pool:
        hangs = pool.submit(driver.connect, "hangs", BETWEEN)
        while not (tmp_path / "began").exists():
            time.sleep(0.01)
        monkeypatch.setattr(type(driver), "wait_s", 0.05)
        with pytest.raises(CircuitBusyError, match=r"has been setting s1 for more than 0\.05 s"):
            driver.connect("b", circuits("s1.t5", "s2.t5", fibers=["s1>s2#0"]))
        (tmp_path / "go").touch()
        hangs.result()
    assert sorted(driver.applied()) == ["hangs"]


def test_what_is_on_is_known_while_switches_are_set(tmp_path: Path) -> None:
    driver = hook(
        tmp_path, f"#!/bin/sh\ntouch {tmp_path}/began\nwhile [ ! -e {tmp_path}/go ]; do sleep 0.05; done\n", 240.0
    )
    with ThreadPoolExecutor(1) as pool:
        setting = pool.submit(driver.connect, "a", BETWEEN)
        while not (tmp_path / "began").exists():
            time.sleep(0.01)
        assert driver.applied() == {"a": BETWEEN}, "it may be on"
        assert not setting.done()
        (tmp_path / "go").touch()
        setting.result()


def test_drivers_need_the_standard_library_alone() -> None:
    """Hooks of schedulers start without numpy and pydantic, in any Python of the machine."""
    code = "import planner.integrations.slurm.hooks, planner.integrations.switch_drivers.hook_driver"
    env = {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-S", "-s", "-c", code], env=env, check=True, timeout=240)


def test_what_is_new_is_set_beside_what_is_on(driver: Driver) -> None:
    driver.connect("a", BETWEEN)
    for _ in range(2):
        driver.connect("a", BOTH)
        assert driver.applied() == {"a": BOTH}
    with pytest.raises(CircuitError, match="release them first"):
        driver.connect("a", BETWEEN)
    driver.release("a")
    assert driver.applied() == {}


def test_what_is_not_to_stay_is_put_off_alone(driver: Driver) -> None:
    driver.connect("a", BOTH)
    for _ in range(2):
        driver.release("a", BETWEEN)
        assert driver.applied() == {"a": BETWEEN}
    driver.connect("a", BETWEEN)
    driver.connect("b", NEW)
    driver.release("a", BOTH)
    assert driver.applied() == {"b": NEW}, "what is to stay and is not on is nothing that stays"


class _Stuck(RecordedDriver):
    """Some may be left of what is put off, as often as it is told."""

    left = 1

    def set(self, job: str, circuits: Circuits, lock: int) -> None:
        assert circuits == BOTH

    def unset(self, job: str, circuits: Circuits, lock: int) -> None:
        assert circuits == NEW
        if self.left:
            self.left -= 1
            raise CircuitError("some may be left")


def test_what_could_not_be_put_off_beside_others_is_put_off_again(tmp_path: Path) -> None:
    driver = _Stuck(tmp_path / "driver")
    driver.connect("a", BOTH)
    with pytest.raises(CircuitError, match="some may be left"):
        driver.release("a", BETWEEN)
    assert driver.applied() == {"a": BOTH}, "it may be on"
    driver.release("a", BETWEEN)
    assert driver.applied() == {"a": BETWEEN}
    driver.connect("a", BETWEEN)


def test_light_of_another_is_in_the_way_and_what_is_on_stays(driver: Driver) -> None:
    driver.connect("a", BETWEEN)
    driver.connect("b", NEW)
    with pytest.raises(CircuitBusyError, match="in use by b"):
        driver.connect("a", BOTH)
    assert driver.applied() == {"a": BETWEEN, "b": NEW}


class _Unsure(RecordedDriver):
    """Nobody knows what is on, as often as it is told."""

    left = 0

    def set(self, job: str, circuits: Circuits, lock: int) -> None:
        if self.left:
            self.left -= 1
            raise UnsureError("nobody knows")


def test_what_may_be_on_is_set_again_or_released_as_a_whole(tmp_path: Path) -> None:
    driver = _Unsure(tmp_path / "driver")
    driver.connect("a", BETWEEN)
    driver.left = 1
    with pytest.raises(UnsureError):
        driver.connect("a", BOTH)
    again = _Unsure(tmp_path / "driver")
    assert again.applied() == {"a": BOTH}, "it may be on"
    again.connect("a", BOTH)
    assert again.applied() == {"a": BOTH}
    again.release("a")
    assert again.applied() == {}


def test_a_reading_leaves_alone_what_a_job_has_and_what_it_gets_beside_it(tmp_path: Path) -> None:
    """Whether what is new is on is not known, and it is refused by then; what was on stays on."""

    class Moody(RecordedDriver):
        lights: tuple[object, ...] = ()
        error: CircuitError | None = None

        def set(self, job: str, circuits: Circuits, lock: int) -> None:
            if isinstance(self.error, UnsureError):
                raise self.error
            self.unset(job, circuits, lock)
            if self.error is not None:
                raise self.error
            self.lights += tuple(each for held in circuits for each in held["circuits"])

        def unset(self, job: str, circuits: Circuits, lock: int) -> None:
            gone = [each for held in circuits for each in held["circuits"]]
            self.lights = tuple(each for each in self.lights if each not in gone)

        def lit(self) -> list[dict[str, object]]:
            return [*self.lights]  # type: ignore[list-item]

    driver = Moody(tmp_path / "record")
    driver.connect("a", BETWEEN)
    had, driver.error = driver.lights, UnsureError("took too long")
    with pytest.raises(UnsureError):
        driver.connect("a", BOTH)
    driver.error = CircuitError("no light")
    assert driver.resync().again == ()
    assert driver.lights == had
    driver.error = None
    driver.connect("a", BOTH)
    assert driver.applied() == {"a": BOTH}
    assert set(map(str, had)) < set(map(str, driver.lights))


def test_a_lost_circuit_is_seen_although_others_of_its_job_have_its_ends(tmp_path: Path) -> None:
    """Of circuits that are never on together, one may send as the lost one does, and another receive so."""
    every = [*circuits("s0.t7", "s0.t1"), *circuits("s0.t7", "s0.t6"), *circuits("s0.t0", "s0.t1")]

    class Lossy(RecordedDriver):
        lost: tuple[object, ...] = ()

        def set(self, job: str, circuits: Circuits, lock: int) -> None:
            self.lost = ()

        def lit(self) -> list[dict[str, object]]:
            on = (each for held in self.applied().values() for each in held)
            return [circuit for each in on for circuit in each["circuits"] if circuit not in self.lost]

    driver = Lossy(tmp_path / "driver")
    driver.connect("a", every)
    assert driver.resync().again == ()
    driver.lost = tuple(every[0]["circuits"])
    assert driver.resync().again == ("a",)
    assert driver.resync().again == ()


@pytest.mark.parametrize("is_refused", [False, True])
def test_who_goes_on_after_another_has_led_leaves_the_record_as_it_is(tmp_path: Path, is_refused: bool) -> None:
    """It hung as it set circuits, lost its locks, and another has put these on, or off, meanwhile."""

    class Hung(RecordedDriver):
        def set(self, job: str, circuits: Circuits, lock: int) -> None:
            with self._record() as record:
                record.on[job] = record.setting.pop(job)
                record.write()
            self.fence = refuse
            if is_refused:
                raise CircuitError("refused")

    def refuse() -> int:
        raise DeposedError("lease", "term", "another leads")

    driver = Hung(tmp_path / "driver")
    with pytest.raises(DeposedError):
        driver.connect("a", BETWEEN)
    assert RecordedDriver(tmp_path / "driver").applied() == {"a": BETWEEN}
