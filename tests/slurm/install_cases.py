"""Shared by the tests of `install`."""

import json
from typing import Any

from planner.integrations.private_files import write_private
from planner.integrations.slurm.hooks import circuits_file
from tests.slurm.rig import Rig, Site


def place(rig: Rig, site: Site, job: int, gpus: dict[str, str], circuits: list[dict[str, Any]]) -> None:
    """What the daemon does for a job that starts, as the account that slurmctld runs as."""
    write_private(circuits_file(site.state, job), json.dumps(circuits))
    for node, indices in gpus.items():
        write_private(site.bindings / f"{job}.{node}", f"{indices}\n", 0o444)
    count = len(next(iter(gpus.values())).split(","))
    update = [f"ReqNodeList={','.join(gpus)}", f"NumNodes={len(gpus)}", f"Gres=gpu:{count}"]
    rig.run("scontrol", "update", f"JobId={job}", *update, user=rig.slurm_user)
    rig.run("scontrol", "release", str(job), user=rig.slurm_user)


def printed(rig: Rig, job: int) -> list[str]:
    """Lines that a job has printed so far."""
    path = rig.out / f"{job}.out"
    return sorted(path.read_text().splitlines()) if path.exists() else []
