"""Records what the commands of an installed Slurm print, in one situation that has most of what jobs and nodes can be:
`python -m tests.slurm.record FOLDER`, as root; FOLDER gets a folder of its own for each format that this Slurm writes.

What is recorded stands under tests/planner/schedulers/slurm/recorded, where tests read it without a Slurm.
"""

import json
import sys
import time
from pathlib import Path
from socket import gethostname
from typing import Any

from tests.slurm.rig import MALLORY, Rig, planned

OLDER = ("v0.0.40", "v0.0.41")
"""formats of 23.11 and 24.05, as later versions of Slurm still write them"""
COMMANDS = {
    "squeue": ("squeue", "--states=all"),
    "sinfo": ("sinfo",),
    "scontrol-nodes": ("scontrol", "show", "nodes"),
}
LEFT_OUT = {"environment", "job_resources"}
"""of what is recorded: long, and read by nobody"""


def situation(rig: Rig) -> None:
    """Jobs that wait, run, have ended; arrays whole, split and down to the last task; nodes drained and down."""
    lasts = "sleep 600"
    rig.submit("-N2", "--gres=gpu:a100:4", "--time=60", "--comment=workload=llama weight=2", "--nice=7")
    runs = rig.submit("--gres=gpu:2", "--no-requeue", "--time=1-0", script=lasts)
    rig.run("scontrol", "update", f"JobId={runs}", "ReqNodeList=n0", "Gres=gpu:2", "StartTime=now")
    rig.run("scontrol", "release", str(runs))
    rig.until_state(runs, "RUNNING")
    rig.submit("--gres=gpu:1", f"--dependency=afterany:{runs}", user=MALLORY)
    array = rig.submit("--array=0-3%2", "--gres=gpu:2")
    rig.run("scontrol", "uhold", f"{array}_1")
    last = rig.submit("--array=5-6", "--gres=gpu:2")
    rig.run("scontrol", "uhold", f"{last}_5")
    rig.submit("--begin=now+1hour", "--gres=gpu:1")
    rig.run("scontrol", "hold", str(rig.submit("--gres=gpu:1")))
    cpus = rig.submit("--time=60", script=lasts)
    rig.until_state(cpus, "RUNNING")
    rig.until_state(rig.submit("--time=60"), "COMPLETED")
    rig.until_state(rig.submit("--time=60", script="exit 3"), "FAILED")
    rig.run("scancel", str(rig.submit("--gres=gpu:1")))
    again = rig.submit("--time=60", "--requeue", script=lasts)
    rig.until_state(again, "RUNNING")
    rig.run("scontrol", "requeuehold", str(again))
    rig.until(lambda: rig.job(again)["restart_cnt"] and rig.job(again)["job_state"] in ("PENDING", "REQUEUE_HOLD"))
    rig.run("scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=photonplan: no accelerator of s1 works")
    rig.run("scontrol", "update", "NodeName=n2", "State=DOWN", "Reason=a fan")
    time.sleep(1.0)


def record(rig: Rig, folder: Path, flag: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, command in COMMANDS.items():
        done = rig.run(*command, flag, is_checked=False)
        if done.returncode == 0 and done.stdout.startswith("{"):
            text = json.dumps(_anonymous(json.loads(done.stdout), rig), separators=(",", ":"))
            (folder / f"{name}.json").write_text(text + "\n")


def _anonymous(found: Any, rig: Rig) -> Any:
    """Without names of this machine."""
    if isinstance(found, dict):
        return {key: _anonymous(value, rig) for key, value in found.items() if key not in LEFT_OUT}
    if isinstance(found, list):
        return [_anonymous(value, rig) for value in found]
    return found.replace(str(rig.root), "/rig").replace(gethostname(), "host") if isinstance(found, str) else found


def main(folder: Path) -> None:
    with planned(4, 8) as (rig, _):
        situation(rig)
        said = rig.run("scontrol", "--version").stdout.split()[-1]
        version = ".".join(said.split(".")[:2])
        record(rig, folder / version, "--json")
        for older in OLDER if version != "22.05" else ():
            record(rig, folder / f"{version}-{older}", f"--json={older}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
