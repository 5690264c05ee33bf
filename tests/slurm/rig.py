"""A real Slurm on loopback, with munge, as a site has it: started in a folder of its own, and stopped for certain.

Needs root (nodes have character devices as GPUs, jobs run as ordinary users).
"""

import contextlib
import json
import os
import pwd
import random
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess, Popen
from typing import Any, TypeVar

from tests.slurm.sites import Site, write_site

REPOSITORY = Path(__file__).resolve().parents[2]
SYSTEM_PATH = os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin:/sbin:/bin"
GUARD = Path(__file__).with_name("guard.py")
ALICE, MALLORY = "nobody", "games"
"""ordinary accounts that every Debian has"""
START_S = 240.0
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol")
T = TypeVar("T")


def run_as(user: str | None, *argv: str, env: dict[str, str], cwd: Path, timeout_s: float) -> CompletedProcess[str]:
    """A command as that account and in none of the groups of root; None: as root."""
    account: dict[str, Any] = (
        {} if user is None else {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}
    )
    return subprocess.run(argv, env=env, cwd=cwd, capture_output=True, text=True, timeout=timeout_s, **account)


def flat(row: dict[str, Any]) -> dict[str, Any]:
    """A job as Slurm 22.05 shows it, whatever the version: one state, and numbers that are numbers, or None."""
    found = {
        key: (value["number"] if value["set"] and not value["infinite"] else None)
        if isinstance(value, dict) and "infinite" in value else value
        for key, value in row.items()
    }  # fmt: skip
    if isinstance(states := found["job_state"], list):
        found["job_state"] = ({"COMPLETING", "CONFIGURING"} & {*states} or {states[0]}).pop()
    return found


@dataclass
class Rig:
    """One running cluster: nodes n0, n1, ..., partition gpu of all of them."""

    root: Path
    nodes: int
    gpus: int
    slurm_user: str
    daemons: dict[str, Popen[bytes]] = field(default_factory=dict)
    port: int = 0
    """of slurmctld"""
    plain_conf: str = ""
    """slurm.conf before anything was installed"""

    @property
    def slurm_conf(self) -> Path:
        return self.root / "etc" / "slurm.conf"

    @property
    def out(self) -> Path:
        """Where jobs of all users may write."""
        return self.root / "out"

    @property
    def env(self) -> dict[str, str]:
        return {"PATH": SYSTEM_PATH, "SLURM_CONF": str(self.slurm_conf), "HOME": str(self.out), "LC_ALL": "C.UTF-8"}

    def run(self, *argv: str, user: str | None = None, is_checked: bool = True) -> CompletedProcess[str]:
        """A command of Slurm; AssertionError with what it said where it fails, unless not checked."""
        done = run_as(user, *argv, env=self.env, cwd=self.out, timeout_s=240.0)
        assert done.returncode == 0 or not is_checked, f"{argv}: {done.returncode} {done.stdout} {done.stderr}"
        return done

    def submit(self, *options: str, script: str = "true", user: str | None = ALICE) -> int:
        """Number of a new batch job."""
        path = self.out / f"{user}.{time.monotonic_ns()}.sh"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        said = self.run("sbatch", "--parsable", f"--output={self.out}/%j.out", *options, str(path), user=user)
        return int(said.stdout.split(";")[0])

    def jobs(self) -> dict[int, dict[str, Any]]:
        """What squeue says of each job that has not been forgotten."""
        rows = map(flat, json.loads(self.run("squeue", "--states=all", "--json").stdout)["jobs"])
        return {row["job_id"]: row for row in rows}

    def job(self, number: int) -> dict[str, Any]:
        return self.jobs()[number]

    def until(self, what: Callable[[], T], timeout_s: float = 240.0, every_s: float = 0.4) -> T:
        """The first true answer; AssertionError with what Slurm logged where there is none in time."""
        end = time.monotonic() + timeout_s
        while not (answer := what()):
            assert time.monotonic() < end, f"not within {timeout_s:g} s\n{self.logs()}"
            time.sleep(every_s)
        return answer

    def until_state(self, number: int, *states: str, timeout_s: float = 240.0) -> dict[str, Any]:
        return self.until(lambda: (job := self.job(number))["job_state"] in states and job, timeout_s)

    def logs(self, lines: int = 40) -> str:
        """The ends of all logs."""
        found = sorted((self.root / "log").glob("*.log"))
        return "\n".join(
            f"== {log.name}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) for log in found
        )

    def start(self, name: str, *argv: str) -> None:
        """A daemon in the foreground, its output in a log."""
        with (self.root / "log" / f"{name}.out.log").open("ab") as log:
            self.daemons[name] = Popen(
                argv, env=self.env, cwd=self.root, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip

    def stop(self, name: str, timeout_s: float = 10.0) -> None:
        """Stop a daemon, by force if it takes too long."""
        daemon = self.daemons.pop(name)
        daemon.terminate()
        try:
            daemon.wait(timeout_s)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()

    def start_slurmctld(self) -> None:
        """It answers when this returns: commands that came before would wait for seconds."""
        self.start("slurmctld", "slurmctld", "-D", "-f", str(self.slurm_conf))

        def is_listening() -> bool:
            self._require_daemons()
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0

        self.until(is_listening, START_S)

    def restart_slurmctld(self) -> None:
        """As a site does after a change of its configuration."""
        self.stop("slurmctld")
        self.start_slurmctld()
        self.until_idle()

    def until_idle(self) -> None:
        """All nodes answer; AssertionError with the logs where a daemon has died."""

        def is_idle() -> bool:
            self._require_daemons()
            said = self.run("sinfo", "-h", "-t", "idle,mixed,allocated", "-o", "%D", is_checked=False).stdout
            return sum(map(int, said.split())) == self.nodes

        self.until(is_idle, START_S)

    def _require_daemons(self) -> None:
        for name, daemon in self.daemons.items():
            assert daemon.poll() is None, f"{name} ended with {daemon.returncode}\n{self.logs()}"


@contextlib.contextmanager
def planned(nodes: int = 2, gpus: int = 8, **fields: Any) -> Iterator[tuple[Rig, Site]]:
    """A cluster into which the planner was installed before Slurm started; its daemon does not run yet."""
    sites: list[Site] = []

    def prepare(made: Rig) -> None:
        sites.append(write_site(made.root / "site", nodes, gpus, **fields))
        sites[0].install(made.slurm_conf)

    with rig(nodes, gpus, prepare=prepare) as made:
        yield made, sites[0]


@contextlib.contextmanager
def rig(nodes: int = 2, gpus: int = 8, *, prepare: Callable[[Rig], None] = lambda rig: None) -> Iterator[Rig]:
    """A cluster that runs; `prepare` is called before Slurm starts, to install what a site installs."""
    assert os.geteuid() == 0, "a real Slurm with jobs of several users needs root"
    missing = [program for program in PROGRAMS if shutil.which(program, path=SYSTEM_PATH) is None]
    assert not missing, f"{', '.join(missing)} not found: apt-get install slurm-wlm slurm-client munge"
    root = Path(tempfile.mkdtemp(prefix="slurm-rig-", dir="/tmp"))
    root.chmod(0o755)
    guard = Popen((sys.executable, "-I", str(GUARD), str(root)), stdin=subprocess.PIPE, start_new_session=True)
    made = Rig(root, nodes, gpus, _slurm_user())
    try:
        _write_site(made)
        prepare(made)
        _start(made)
        yield made
    finally:
        _stop(made, guard)


def _slurm_user() -> str:
    """The account slurm, as sites have it, where it can run hooks; else root."""
    for python in (sys.executable, "/usr/bin/python3"):
        probe = (python, "-P", "-S", "-s", "-c", "import planner.integrations.slurm.hooks")
        with contextlib.suppress(OSError, subprocess.SubprocessError, KeyError):
            done = run_as("slurm", *probe, env={"PYTHONPATH": str(REPOSITORY)}, cwd=Path("/"), timeout_s=240.0)
            if done.returncode == 0:
                return "slurm"
    return "root"


def _free_ports(count: int) -> range:
    """Ports one after the other that nobody listens on, below those that clients get."""
    for _ in range(200):
        first = random.randrange(10_000, 32_000 - count)
        ports = range(first, first + count)
        with contextlib.ExitStack() as stack:
            try:
                for port in ports:
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
            return ports
    raise AssertionError(f"no {count} free ports in a row")


def _write_site(made: Rig) -> None:
    """Folders, key, devices, and a plain slurm.conf that knows nothing of the planner."""
    root = made.root
    for folder in ("etc", "log", "run", "spool", "dev", "munge"):
        (root / folder).mkdir(mode=0o755)
    (root / "save").mkdir(mode=0o700)
    made.out.mkdir()
    made.out.chmod(0o1777)
    for folder in ("save", "log", "run"):
        shutil.chown(root / folder, made.slurm_user)
    key = root / "munge" / "key"
    key.touch(0o600)
    key.write_bytes(random.randbytes(128))
    for index in range(made.gpus):
        os.mknod(root / "dev" / f"gpu{index}", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    etc = root / "etc"
    (etc / "gres.conf").write_text(f"Name=gpu File={root}/dev/gpu[0-{made.gpus - 1}]\n")
    constrain = "".join(f"Constrain{what}=no\n" for what in ("Cores", "Devices", "RAMSpace", "SwapSpace"))
    (etc / "cgroup.conf").write_text(f"CgroupPlugin=cgroup/v1\n{constrain}")
    made.plain_conf = _slurm_conf(made)
    made.slurm_conf.write_text(made.plain_conf)


def _slurm_conf(made: Rig) -> str:
    root, host = made.root, socket.gethostname().split(".")[0]
    ports, cores = _free_ports(made.nodes + 1), 4 * made.gpus
    made.port = ports[0]
    nodes = "".join(
        f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1 + i]} CPUs={cores} Boards=1 "
        f"SocketsPerBoard=1 CoresPerSocket={cores} ThreadsPerCore=1 RealMemory=1000 Gres=gpu:{made.gpus}\n"
        for i in range(made.nodes)
    )
    return f"""ClusterName=rig
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={made.slurm_user}
MinJobAge=3600
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={root}/munge/socket,cred_expire=5
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={root}/save
SlurmdSpoolDir={root}/spool/%n
SlurmctldPidFile={root}/run/slurmctld.pid
SlurmdPidFile={root}/run/slurmd.%n.pid
SlurmctldLogFile={root}/log/slurmctld.log
SlurmdLogFile={root}/log/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=0,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
GresTypes=gpu
{nodes}PartitionName=gpu Nodes=n[0-{made.nodes - 1}] Default=YES MaxTime=INFINITE State=UP
"""


def _start(made: Rig) -> None:
    munge, path = made.root / "munge", str(made.slurm_conf)
    made.start(
        "munged", "munged", "--foreground", f"--socket={munge}/socket", f"--key-file={munge}/key",
        f"--pid-file={munge}/pid", f"--log-file={made.root}/log/munged.log", f"--seed-file={munge}/seed",
    )  # fmt: skip
    made.until((munge / "socket").exists, START_S)
    made.start_slurmctld()
    for i in range(made.nodes):
        made.start(f"slurmd.n{i}", "slurmd", "-D", "-N", f"n{i}", "-f", path)
    made.until_idle()


def _stop(made: Rig, guard: Popen[bytes]) -> None:
    """End every process of the cluster: first as Slurm wants it, then by force."""
    with contextlib.suppress(subprocess.SubprocessError, OSError):
        users = f"--user={','.join((ALICE, MALLORY, 'root'))}"
        run_as(None, "scancel", "--full", users, env=made.env, cwd=made.out, timeout_s=5.0)
    for daemon in made.daemons.values():
        daemon.terminate()
    end = time.monotonic() + 5.0
    for daemon in made.daemons.values():
        with contextlib.suppress(subprocess.TimeoutExpired):
            daemon.wait(max(0.0, end - time.monotonic()))
    guard.communicate()
    for daemon in made.daemons.values():
        daemon.wait()
