"""GPUs of a real Slurm open to nobody but the user whose job has them (`gpu_devices` of slurm.yaml)."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from planner.integrations.slurm.device_scripts import KEPT
from tests.need import need_program, need_root
from tests.slurm.install_cases import place, printed
from tests.slurm.rig import ALICE, MALLORY, Rig, rig
from tests.slurm.sites import Site, write_site


@pytest.fixture(scope="module")
def closed() -> Iterator[tuple[Rig, Site]]:
    need_program("slurmctld")
    need_root()
    sites: list[Site] = []

    def prepare(made: Rig) -> None:
        sites.append(write_site(made.root / "site", 2, 4, gpu_devices=f"{made.root}/dev/gpu{{}}", apart="o'b & c"))
        said = sites[0].install(made.slurm_conf)
        assert "EVERY JOB" not in said

    with rig(2, 4, prepare=prepare) as made:
        yield made, sites[0]
    with contextlib.suppress(OSError):
        Path(KEPT).rmdir()


def opens(made: Rig) -> str:
    """A script that says which of 4 GPUs it can open, and waits until a file is there; nodes here share the devices."""
    tried = f"for i in 0 1 2 3; do (: <{made.root}/dev/gpu$i) 2>/dev/null && printf $i; done; echo"
    return f"{tried}; while [ ! -e {made.out}/go ]; do sleep 0.05; done"


@pytest.mark.slow
def test_a_gpu_opens_to_the_job_that_has_it_alone(closed: tuple[Rig, Site]) -> None:
    made, site = closed
    none = made.submit(script=opens(made), user="bin")
    one = made.submit("--gres=gpu:2", script=opens(made), user=ALICE)
    place(made, site, one, {"n0": "1,3"}, [])
    other = made.submit("--gres=gpu:1", script=opens(made), user=MALLORY)
    place(made, site, other, {"n1": "2"}, [])
    made.until(lambda: all(printed(made, job) for job in (none, one, other)))
    assert printed(made, one) == ["13"]
    (made.out / "go").touch()
    for job in (none, one, other):
        made.until_state(job, "COMPLETED")
    after = made.submit(script=opens(made), user=ALICE)
    made.until_state(after, "COMPLETED")
    assert printed(made, none) == [""], "it has no GPU, whatever it asked for"
    assert printed(made, other) == ["2"]
    assert printed(made, after) == [""], "they are closed again"
