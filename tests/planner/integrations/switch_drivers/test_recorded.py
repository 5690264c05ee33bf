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
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.cli import main
from planner.controller.switch_driver import UnsureError
from planner.integrations.switch_drivers import CircuitBusyError, CircuitError, Circuits, Driver, driver_of
from planner.integrations.switch_drivers.parts import switches, taken, used
from planner.model.plan import Circuit, HeldCircuits
from tests.need import need_root
from tests.paths import ROOT

COMMAND = """#!/bin/sh
cat >> {folder}/told; echo >> {folder}/told
[ -e {folder}/fail ] && {{ cat {folder}/fail; exit 3; }}
exit 0
"""
CONNECT = [
    sys.executable, "-c",
    "import sys, json; from pathlib import Path; from planner.integrations.switch_drivers import driver_of;"
    "driver_of(json.loads(sys.argv[1]), Path(sys.argv[2])).connect('a', json.loads(sys.argv[3]))",
]  # fmt: skip
"""then: spec, folder and circuits"""


def circuits(
    source: str = "s0.t0", to: str = "s1.t0", wavelengths: tuple[int, ...] = (0,), fibers: Any = ()
) -> Circuits:
    """One circuit, as a controller gives it."""
    circuit = Circuit(source=source, destination=to, wavelengths=wavelengths, fibers=tuple(fibers))
    held = HeldCircuits(dimension="data", circuits=(circuit,))
    return [held.model_dump(mode="json", by_alias=True)]


BETWEEN = circuits(fibers=["s0>s1#0"])


@pytest.fixture(params=["file", "hook"])
def driver(request: pytest.FixtureRequest, tmp_path: Path) -> Driver:
    if request.param == "file":
        return driver_of({"kind": "file"}, tmp_path / "driver")
    return hook(tmp_path, COMMAND.format(folder=tmp_path))


def hook(tmp_path: Path, script: str, timeout_s: float = 240.0) -> Driver:
    path = tmp_path / "command with 'quotes'"
    path.write_text(script)
    path.chmod(0o755)
    return driver_of({"kind": "hook", "command": [str(path), "$(id)"], "timeout_s": timeout_s}, tmp_path / "driver")


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


def test_parts_elsewhere_break_nothing() -> None:
    wanted = used(circuits("s0.t2", "s1.t4", (3,), fibers=["s0>s1#0"]))
    others = {
        "s1>s0#0",
        "s0>s1#1",
        "s0>s1#0:w2",
        "s0.t2:w2",
        "s0.t2:rx",
        "s1.t4:tx",
        "s1.t4:w3",
        "s0.t4",
        "q3#3",
        "q2#2",
    }
    assert not wanted & others


def test_a_command_is_told_what_to_do(tmp_path: Path) -> None:
    driver = hook(tmp_path, COMMAND.format(folder=tmp_path))
    job = "x $(reboot) '\"\n`id`"
    driver.connect(job, BETWEEN)
    driver.release(job)
    told = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
    expected = [{"action": action, "job": job, "circuits": BETWEEN} for action in ("connect", "release")]
    assert told == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "part", "message"),
    [
        ('{"part": "s0>s1#0", "said": "no light"}', "s0>s1#0", "exited with 3: no light"),
        ('{"part": 7}', None, "exited with 3: it gave no reason"),
        ("no JSON", None, "exited with 3: it gave no reason"),
        ("[]", None, "exited with 3"),
    ],
)
def test_a_command_that_fails_says_why(tmp_path: Path, said: str, part: str | None, message: str) -> None:
    driver = hook(tmp_path, COMMAND.format(folder=tmp_path))
    (tmp_path / "fail").write_text(said)
    with pytest.raises(CircuitError, match=message) as caught:
        driver.connect("a", BETWEEN)
    assert caught.value.part == part
    assert driver.applied() == {}
    (tmp_path / "fail").unlink()
    driver.connect("a", BETWEEN)
    (tmp_path / "fail").write_text(said)
    with pytest.raises(CircuitError, match=message):
        driver.release("a")
    assert driver.applied() == {"a": BETWEEN}, "some may be left"
    (tmp_path / "fail").unlink()
    driver.connect("a", BETWEEN)
    told = (tmp_path / "told").read_text().splitlines()
    assert [json.loads(line)["action"] for line in told] == ["connect", "connect", "release", "connect"]


@pytest.mark.slow
def test_a_command_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    driver = hook(tmp_path, f"#!/bin/sh\nsleep 1000 & echo $! > {tmp_path}/child; wait\n", timeout_s=1.0)
    start = time.monotonic()
    with pytest.raises(UnsureError, match=r"took longer than 1 s"):
        driver.connect("a", BETWEEN)
    child = (tmp_path / "child").read_text().strip()
    while _lives(child):
        assert time.monotonic() - start < 500
        time.sleep(0.01)
    assert driver.applied() == {"a": BETWEEN}, "it may be on"
    with pytest.raises(CircuitBusyError):
        driver.connect("b", BETWEEN)
    with pytest.raises(CircuitError, match="release them first"):
        driver.connect("a", circuits(wavelengths=(1,)))


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    driver = driver_of({"kind": "hook", "command": ["/nowhere/to be found"]}, tmp_path / "driver")
    with pytest.raises(CircuitError, match="/nowhere/to be found cannot be run: No such file"):
        driver.connect("a", BETWEEN)
    assert driver.applied() == {}


def _lives(process: str) -> bool:
    """Whether a process is there that has not ended."""
    try:
        return (Path("/proc") / process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _spec(tmp_path: Path) -> dict[str, Any]:
    return {"kind": "hook", "command": [str(tmp_path / "command with 'quotes'")]}


def test_whoever_dies_in_the_middle_leaves_a_trace(tmp_path: Path) -> None:
    """The process that switches is killed by the command itself: what may be on is known, and can be released."""
    driver = hook(tmp_path, "#!/bin/sh\nkill -9 $PPID\n")
    argv = [*CONNECT, json.dumps(_spec(tmp_path)), str(tmp_path / "driver"), json.dumps(BETWEEN)]
    died = subprocess.run(argv, env=os.environ | {"PYTHONPATH": str(ROOT)}, timeout=240, check=False)
    assert died.returncode == -signal.SIGKILL
    assert driver.applied() == {"a": BETWEEN}
    again = hook(tmp_path, COMMAND.format(folder=tmp_path))
    again.release("a")
    assert again.applied() == {}
    assert json.loads((tmp_path / "told").read_text())["action"] == "release"


@pytest.mark.slow
def test_a_command_that_outlives_its_caller_is_waited_for(tmp_path: Path) -> None:
    """A release comes after the connection has ended, whoever began it; what may be on is known at once."""
    script = """#!/bin/sh
told=$(cat)
case $told in *'"connect"'*) touch {folder}/began; while [ ! -e {folder}/go ]; do sleep 0.05; done;; esac
echo "$told" >> {folder}/told
"""
    driver = hook(tmp_path, script.format(folder=tmp_path))
    argv = [*CONNECT, json.dumps(_spec(tmp_path)), str(tmp_path / "driver"), json.dumps(BETWEEN)]
    with subprocess.Popen(argv, env=os.environ | {"PYTHONPATH": str(ROOT)}) as process:
        while not (tmp_path / "began").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    assert driver.applied() == {"a": BETWEEN}
    with ThreadPoolExecutor(1) as pool:
        releasing = pool.submit(driver.release, "a")
        time.sleep(0.2)
        assert not (tmp_path / "told").exists(), "it comes afterwards"
        (tmp_path / "go").touch()
        releasing.result()
    told = [json.loads(line)["action"] for line in (tmp_path / "told").read_text().splitlines()]
    assert told == ["connect", "release"]
    assert driver.applied() == {}


SLOW = """#!/bin/sh
told=$(cat)
case $told in *'"job": "hangs"'*) touch {folder}/began; while [ ! -e {folder}/go ]; do sleep 0.02; done;; esac
"""


@pytest.mark.slow
def test_a_switch_that_hangs_delays_no_other(tmp_path: Path) -> None:
    """In the same process and in others; on the same switch they follow each other."""
    driver = hook(tmp_path, SLOW.format(folder=tmp_path))
    with ThreadPoolExecutor(4) as pool:
        hangs = pool.submit(driver.connect, "hangs", BETWEEN)
        while not (tmp_path / "began").exists():
            time.sleep(0.01)
        elsewhere = circuits("s2.t0", "s3.t0", fibers=["s2>s3#0"])
        driver.connect("b", elsewhere)
        hook(tmp_path, SLOW.format(folder=tmp_path)).release("b")
        driver.connect("c", elsewhere)
        beside = pool.submit(driver.connect, "d", circuits("s1.t3", "s4.t0", fibers=["s1>s4#0"]))
        driver.release("c")
        time.sleep(0.1)
        assert not hangs.done()
        assert not beside.done(), "it needs the same server's switch"
        (tmp_path / "go").touch()
        hangs.result()
        beside.result()
    assert sorted(driver.applied()) == ["d", "hangs"]


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


@pytest.mark.parametrize(
    ("one", "names"),
    [
        (circuits("s0.t0", "s0.t1"), {"s0"}),
        (BETWEEN, {"s0", "s1"}),
        (circuits("s0.t0", "s1.t0", fibers=["s0>s4#0", "s4>s1#1"]), {"s0", "s4", "s1"}),
        (circuits("s0.g3", "s1.g3", (2,)), {"s0", "s1", "q3#2"}),
        (circuits("s0.c0", "s1.c0", fibers=["x0"]), {"s0", "s1", "x0"}),
    ],
)
def test_switches_are_known_by_the_circuits(one: Circuits, names: set[str]) -> None:
    assert switches(one) == names


LIT = """#!{python}
import json, pathlib, sys
told, folder = json.load(sys.stdin), pathlib.Path("{folder}")
path = folder / "lit.json"
lit = json.loads(path.read_text()) if path.exists() else []
given = [circuit for held in told["circuits"] for circuit in held["circuits"]]
if told["action"] == "report":
    print(json.dumps({{"circuits": lit}}))
elif told["action"] == "connect" and (folder / "dark").exists():
    sys.exit(3)
else:
    kept = [circuit for circuit in lit if circuit not in given]
    path.write_text(json.dumps(kept + (given if told["action"] == "connect" else [])))
"""
"""a switch that knows its circuits, not whose they are"""


@pytest.mark.slow
def test_a_switch_that_lost_its_circuits_gets_them_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, command = tmp_path / "p.db", tmp_path / "switch"
    command.write_text(LIT.format(python=sys.executable, folder=tmp_path))
    command.chmod(0o755)
    driver = driver_of({"kind": "hook", "command": [str(command)]}, tmp_path / "p.db.circuits")
    other = circuits("s2.t0", "s3.t0", fibers=["s2>s3#0"])
    driver.connect("a", BETWEEN)
    driver.connect("b", other)
    argv = ["resync", "--driver", f"hook:{command}", "--journal", str(journal)]
    assert main(argv) == 0
    assert "agree" in capsys.readouterr().out
    stray = circuits("s5.t0", "s6.t0", fibers=["s5>s6#0"])[0]["circuits"]
    (tmp_path / "lit.json").write_text(json.dumps(other[0]["circuits"] + stray))
    (tmp_path / "dark").touch()
    assert main(argv) == 1
    assert "a: its circuits are lost, and could not be set: connect a" in capsys.readouterr().out
    assert driver.applied() == {"b": other}, "whoever wants them sees that they are dark"
    (tmp_path / "dark").unlink()
    driver.connect("a", BETWEEN)
    (tmp_path / "lit.json").write_text(json.dumps(other[0]["circuits"] + stray))
    assert main(argv) == 0
    out = capsys.readouterr().out
    assert "a: its circuits were lost, and are on again" in out
    assert "s5>s6#0:w0 is on for no job" in out
    assert "b:" not in out
    lit = json.loads((tmp_path / "lit.json").read_text())
    assert all(held["circuits"][0] in lit for held in (BETWEEN[0], other[0]))
    assert driver.applied() == {"a": BETWEEN, "b": other}


@pytest.mark.parametrize("argv", [[], ["--config", "x", "--driver", "file:x"], ["--driver", "hook:/bin/true"]])
def test_a_resync_that_cannot_be_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    assert main(["resync", *argv, "--journal", str(tmp_path / "p.db")]) == 2
    said = capsys.readouterr().err
    assert ("does not say what is on" if "hook:/bin/true" in argv else "give --config FILE of Slurm") in said


def test_what_a_command_leaves_behind_holds_nobody_up(tmp_path: Path) -> None:
    script = "#!/bin/sh\nsetsid sleep 1000 < /dev/null > /dev/null 2>&1 &\necho $! >> {folder}/left\n"
    driver = hook(tmp_path, script.format(folder=tmp_path))
    driver.connect("a", BETWEEN)
    driver.release("a")
    left = (tmp_path / "left").read_text().split()
    assert len(left) == 2
    assert all(map(_lives, left))
    for process in left:
        os.kill(int(process), signal.SIGKILL)


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


_circuits = st.builds(
    lambda a, b, w, f: circuits(f"s0.t{a}", f"s1.t{b}", tuple(sorted(w)), [f"s0>s1#{i}" for i in f]),
    st.integers(0, 3), st.integers(0, 3), st.sets(st.integers(0, 3), min_size=1), st.sets(st.integers(0, 2)),
)  # fmt: skip


@pytest.mark.slow
@given(_circuits, _circuits)
def test_two_jobs_clash_where_they_share_light(one: Circuits, other: Circuits) -> None:
    (a,), (b,) = one[0]["circuits"], other[0]["circuits"]
    shares = set(a["wavelengths"]) & set(b["wavelengths"])
    meets = a["from"] == b["from"] or a["to"] == b["to"] or set(a["fibers"]) & set(b["fibers"])
    assert bool(taken(one) & taken(other)) == bool(shares and meets)


def test_drivers_need_the_standard_library_alone() -> None:
    """Hooks of schedulers start without numpy and pydantic, in any Python of the machine."""
    code = "import planner.integrations.slurm.hooks, planner.integrations.switch_drivers.hook_driver"
    env = {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-S", "-s", "-c", code], env=env, check=True, timeout=240)


def test_a_command_runs_as_one_account_whoever_asks(tmp_path: Path) -> None:
    """slurmctld runs hooks as SlurmUser, a daemon may be root: what one wrote the other could not change."""
    need_root()
    folder = tmp_path / "driver"
    made = hook(tmp_path, f"#!/bin/sh\necho $(id -u) $(id -g) $(id -G) $(umask) > {tmp_path}/out/said\n")
    for path in (folder, tmp_path / "out"):
        path.mkdir(mode=0o755)
        os.chown(path, 65534, 65534)
    for parent in [*tmp_path.parents][: len(tmp_path.parents) - 1]:
        if parent != Path("/tmp"):
            parent.chmod(parent.stat().st_mode | 0o111)
    tmp_path.chmod(0o755)
    made.connect("a", BETWEEN)
    assert (tmp_path / "out" / "said").read_text().split() == ["65534", "65534", "65534", "0077"]
    assert {path.stat().st_uid for path in folder.iterdir()} == {65534}
