"""Switches are set by a command of the operator: what it is told, how it may fail, and how long it may take."""

import json
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from planner.controller.switch_driver import UnsureError
from planner.integrations.switch_drivers import CircuitBusyError, CircuitError, driver_of
from tests.need import need_root
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


@pytest.mark.slow
def test_what_one_has_set_that_hung_is_kept_until_it_is_released(tmp_path: Path) -> None:
    """One that refuses then, or cannot be run, has set nothing itself; of the other nobody knows."""
    script = """#!/bin/sh
told=$(cat)
case $told in *'"release"'*) exit 0;; esac
if [ -e {folder}/again ]; then echo '{{"part": "s0.t1:port", "said": "no light"}}'; exit 1; fi
touch {folder}/again; sleep 1000
"""
    driver = hook(tmp_path, script.format(folder=tmp_path), timeout_s=1.0)
    with pytest.raises(UnsureError, match="took longer than 1 s"):
        driver.connect("a", BETWEEN)
    with pytest.raises(UnsureError, match="no light; circuits of before may be on") as refused:
        driver.connect("a", BETWEEN)
    assert refused.value.part == "s0.t1:port"
    assert driver.applied() == {"a": BETWEEN}
    with pytest.raises(CircuitBusyError):
        driver.connect("b", BETWEEN)
    driver.release("a")
    with pytest.raises(CircuitError, match=r"no light$"):
        driver.connect("b", BETWEEN)
    assert driver.applied() == {}, "it was refused at once"


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


@pytest.mark.slow
def test_a_command_that_outlives_its_caller_is_waited_for(tmp_path: Path) -> None:
    """A release comes after the connection has ended, whoever began it; what may be on is known at once."""
    script = """#!/bin/sh
told=$(cat)
case $told in *'"connect"'*) touch {folder}/began; while [ ! -e {folder}/go ]; do sleep 0.05; done;; esac
echo "$told" >> {folder}/told
"""
    driver = hook(tmp_path, script.format(folder=tmp_path))
    argv = [*CONNECT, json.dumps(made_spec(tmp_path)), str(tmp_path / "driver"), json.dumps(BETWEEN)]
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


def test_a_command_is_told_of_what_is_new_alone(tmp_path: Path) -> None:
    driver = hook(tmp_path, COMMAND.format(folder=tmp_path))
    driver.connect("a", BETWEEN)
    (tmp_path / "fail").write_text('{"said": "no light"}')
    with pytest.raises(CircuitError, match="no light"):
        driver.connect("a", BOTH)
    assert driver.applied() == {"a": BETWEEN}
    (tmp_path / "fail").unlink()
    driver.connect("a", BOTH)
    driver.release("a", BETWEEN)
    driver.release("a")
    told = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
    assert [(each["action"], each["circuits"]) for each in told] == [
        ("connect", BETWEEN), ("connect", NEW), ("connect", NEW), ("release", NEW), ("release", BETWEEN),
    ]  # fmt: skip
