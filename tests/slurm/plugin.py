"""The plugin on a rig: installed, with its daemon, and what its journal and the switches say afterwards."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.controller.journal import Journal
from tests.planner.simulate.grounds import BERT, FABRICS
from tests.slurm.rig import Rig, rig
from tests.slurm.sites import Site, write_site

PLANNER = (sys.executable, "-c", "import sys; from planner.cli import main; sys.exit(main())")
LIGHT: dict[str, Any] = FABRICS["lightpath"]
REPOSITORY = Path(__file__).resolve().parents[2]
Places = dict[str, tuple[int, ...]]
"""indices by node"""

EVEN = BERT | {"uneven_stages": False}
"""seven accelerators cannot share its layers"""


@dataclass
class Plugin:
    """One site whose GPU jobs are placed."""

    rig: Rig
    site: Site
    daemon: subprocess.Popen[bytes] | None = None

    @property
    def state(self) -> Path:
        return self.site.state

    @property
    def switches(self) -> Path:
        return self.rig.root / "switches"

    @property
    def log(self) -> Path:
        return self.rig.root / "log" / "planner.log"

    def status(self) -> dict[str, Any]:
        argv = [*PLANNER, "slurm", "status", "--json", "--config", str(self.site.config)]
        done = subprocess.run(argv, env=self._env, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    @property
    def _env(self) -> dict[str, str]:
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        return {**self.rig.env, **threads, "PYTHONPATH": str(REPOSITORY)}

    def start(self) -> None:
        with self.log.open("ab") as log:
            argv = [*PLANNER, "slurm", "run", "--config", str(self.site.config)]
            self.daemon = subprocess.Popen(argv, env=self._env, stdout=log, stderr=log)

    def kill(self) -> None:
        """SIGKILL."""
        assert self.daemon is not None
        self.daemon.kill()
        self.daemon.wait()

    def stop(self) -> int:
        """Exit code after SIGTERM."""
        assert self.daemon is not None
        self.daemon.terminate()
        return self.daemon.wait(240)

    def said(self, what: str) -> list[dict[str, Any]]:
        """Lines of the daemon's log of one kind."""
        lines = self.log.read_text().splitlines()
        found = [json.loads(line) for line in lines if line.startswith("{")]
        return [line for line in found if line["what"] == what]

    def switched(self) -> list[dict[str, Any]]:
        """Every call that the switches got."""
        path = self.switches / "log"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def places(self) -> dict[int, list[Places]]:
        """Where each job was to run, one place after the other, by the journal; the daemon must not run."""
        found: dict[int, list[Places]] = {}
        journal = Journal(self.state / "journal.db")
        try:
            for record in journal.records(0):
                for decision in record.decisions:
                    if decision["d"] in ("start", "move"):
                        flat, nodes = decision["place"]["devices"], dict[str, list[int]]()
                        for server, slot in zip(flat[::2], flat[1::2], strict=True):
                            nodes.setdefault(f"n{server}", []).append(slot)
                        place = {node: tuple(slots) for node, slots in nodes.items()}
                        found.setdefault(int(decision["job"].removeprefix("slurm-")), []).append(place)
        finally:
            journal.close()
        return found


@contextmanager
def plugin(nodes: int = 8, gpus: int = 8, **fields: Any) -> Iterator[Plugin]:
    """A lightpath cluster, one fiber from each server to each other, whose switches are a command of the site.

    `fields` replace others of slurm.yaml."""
    sites: list[Site] = []

    def prepare(made: Rig) -> None:
        folder = made.root / "switches"
        folder.mkdir()
        folder.chmod(0o777)
        (folder / "faults.json").write_text("[]")
        fabric = LIGHT | {"servers": nodes, "tiles_per_server": gpus}
        (made.root / "cluster.json").write_text(json.dumps({"device": "h100-sxm", "fabric": fabric}))
        script = str(Path(__file__).with_name("switches.py"))
        given = {
            "cluster": str(made.root / "cluster.json"), "workloads": {"bert": EVEN}, "default_workload": "bert",
            "driver": {"kind": "hook", "command": ["/usr/bin/python3", "-I", "-S", script, str(folder)]},
        }  # fmt: skip
        sites.append(write_site(made.root / "site", nodes, gpus, **given | fields))
        sites[0].install(made.slurm_conf)

    with rig(nodes, gpus, prepare=prepare) as made:
        planned = Plugin(made, sites[0])
        planned.start()
        try:
            made.until(lambda: planned.said("start"), 240.0)
            yield planned
        finally:
            if planned.daemon is not None and planned.daemon.poll() is None:
                planned.stop()


def wait_over(site: Plugin, jobs: list[int], timeout_s: float = 600.0) -> dict[int, dict[str, Any]]:
    """Rows of jobs that have all ended; AssertionError with the daemon's log where they do not."""
    end = time.monotonic() + timeout_s
    while True:
        rows = site.rig.jobs()
        left = {job: rows[job]["job_state"] for job in jobs if rows[job]["job_state"] not in ("COMPLETED", "CANCELLED")}
        if not left:
            return {job: rows[job] for job in jobs}
        assert time.monotonic() < end, f"{left}\n{site.log.read_text()[-8000:]}\n{site.rig.logs()}"
        time.sleep(0.8)
