"""Lines that one scontrol reads: each answer belongs to its line, and nothing but plain words is ever in one."""

import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.integrations.slurm import commands
from planner.integrations.slurm.client import SlurmClient
from planner.integrations.slurm.commands import Commands, SlurmDownError, SlurmError

SCONTROL = r"""#!/bin/sh
# one file for each process, one line for each that it reads; given arguments, a line for each of these
trap '' PIPE
echo $$ >> "{folder}/started"
if [ $# -gt 0 ]; then printf '%s\n' "$@" >> "{folder}/arguments"; exit 0; fi
echo 'scontrol: error: something about a configuration' >&2
while IFS= read -r line; do
  case $line in
    '<'*'>') echo "invalid keyword: $line" >&2 ;;
    '') ;;
    *) printf '%s\n' "$line" >> "{folder}/lines.$$"; . "{folder}/does" ;;
  esac
done
touch "{folder}/ended"
"""
IS_REFUSED = (
    'case $line in *JobId=8*) echo "Invalid job id specified for job 8" >&2; echo "Request aborted" >&2 ;; esac'
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "scontrol"
    path.write_text(SCONTROL.replace("{folder}", str(tmp_path)))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "does").write_text(IS_REFUSED + "\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def lines(folder: Path) -> list[str]:
    return [line for path in folder.glob("lines.*") for line in path.read_text().splitlines()]


def started(folder: Path) -> int:
    path = folder / "started"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_one_process_does_for_many_commands(folder: Path) -> None:
    client = SlurmClient()
    with client.staying():
        client.place(7, ["n1", "n3"], "gpu:2", "photonplan:nodes=2-2:gpus=2:type=any:at=0123456789ab")
        client.release(7)
        client.split(9, 4)
        client.resume("gpu-01.rack_2")
    assert lines(folder) == [
        "update JobId=7 ReqNodeList=n1,n3 NumNodes=2-2 Gres=gpu:2 StartTime=now "
        "AdminComment=photonplan:nodes=2-2:gpus=2:type=any:at=0123456789ab",
        "release 7",
        "uhold 9_4",
        "update NodeName=gpu-01.rack_2 State=RESUME",
    ]
    assert started(folder) == 1


def test_a_refusal_belongs_to_its_line(folder: Path) -> None:
    """What scontrol says as it starts belongs to none."""
    client = SlurmClient()
    with client.staying():
        client.start_now(7)
        with pytest.raises(SlurmError, match=r"^Invalid job id specified for job 8 Request aborted$") as found:
            client.start_now(8)
        assert type(found.value) is SlurmError
        client.start_now(9)
    assert started(folder) == 1


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(min_size=1).filter(lambda text: "\0" not in text))
def test_no_text_becomes_a_line(folder: Path, text: str) -> None:
    """It is an argument of a process of its own, whole; unless all of it is letters, digits and -_.,:=[] ."""
    for path in (*folder.glob("lines.*"), *folder.glob("arguments")):
        path.unlink()
    given_text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    with (client := Commands()).staying():
        client.scontrol("update", "JobId=7", f"AdminComment={given_text}")
    plain = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:=[]-")
    if set(given_text) <= plain:
        assert lines(folder) == [f"update JobId=7 AdminComment={given_text}"]
    else:
        assert lines(folder) == []
        assert (folder / "arguments").read_bytes().decode() == f"update\nJobId=7\nAdminComment={given_text}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("exit 1", "has ended"),
        ("echo fatal >&2; exit 1", "has ended: .*fatal"),
        ("exec sleep 60", "did not answer in 2 s"),
        ("echo 'Unable to contact slurm controller (connect failure)' >&2", "Unable to contact"),
    ],
)
def test_a_scontrol_that_fails_is_a_silence(folder: Path, does: str, said: str) -> None:
    (folder / "does").write_text(does + "\n")
    client = SlurmClient(timeout_s=2.0)
    with pytest.raises(SlurmDownError, match=said), client.staying():
        client.release(7)
    assert lines(folder) == ["release 7"]


def test_no_scontrol_is_a_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SlurmDownError, match="cannot be run"), (client := SlurmClient()).staying():
        client.release(7)


def test_threads_talk_to_one_each(folder: Path) -> None:
    client, both = SlurmClient(), threading.Barrier(2)

    def act(first: int) -> None:
        for job in range(first, first + 10):
            both.wait(30)
            client.release(job)

    with client.staying():
        threads = [threading.Thread(target=act, args=(first,)) for first in (100, 200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert started(folder) == 2
    assert sorted(lines(folder)) == sorted(f"release {job}" for job in (*range(100, 110), *range(200, 210)))


def test_a_planner_that_is_killed_leaves_one_command_at_most(folder: Path) -> None:
    """Its scontrol has been given no line but the one whose answer the planner waited for."""
    (folder / "does").write_text(f'while [ ! -e "{folder}/go" ]; do sleep 0.05; done\n')
    program = f"""
from {commands.__name__} import Commands
client = Commands(600.0)
with client.staying():
    for job in range(100):
        client.scontrol("release", str(job))
"""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    planner = subprocess.Popen((sys.executable, "-c", program), env=env)
    wait_for(lambda: lines(folder) == ["release 0"])
    planner.kill()
    planner.wait()
    (folder / "go").touch()
    wait_for((folder / "ended").exists)
    assert lines(folder) == ["release 0"]
    assert started(folder) == 1


def wait_for(what: Callable[[], bool]) -> None:
    end_s = time.monotonic() + 60.0
    while not what():
        assert time.monotonic() < end_s
        time.sleep(0.02)
