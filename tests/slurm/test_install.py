"""The plugin in a real Slurm as `planner slurm install` puts it there; the daemon's part is done by hand."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner.integrations.private_files import write_private
from planner.integrations.slurm.hooks import driver_in, report_file
from tests.slurm.install_cases import place, printed
from tests.slurm.rig import ALICE, MALLORY, Rig, Site, planned

LIGHT: list[dict[str, Any]] = [
    {"dimension": "data", "circuits": [{"from": "s0.t0", "to": "s1.t1", "wavelengths": [0], "fibers": ["s0>s1#0"]}]}
]
SHOW = (
    'srun sh -c "echo \\$SLURMD_NODENAME \\$CUDA_VISIBLE_DEVICES \\$ROCR_VISIBLE_DEVICES"; echo $CUDA_VISIBLE_DEVICES'
)


@pytest.fixture(scope="module")
def planned_rig() -> Iterator[tuple[Rig, Site]]:
    with planned(2, 8, apart="o'brien & sons") as found:
        yield found


@pytest.fixture
def rig(planned_rig: tuple[Rig, Site]) -> Rig:
    return planned_rig[0]


@pytest.fixture
def site(planned_rig: tuple[Rig, Site]) -> Site:
    return planned_rig[1]


def slurmctld_log(rig: Rig) -> str:
    return (rig.root / "log" / "slurmctld.log").read_text()


@pytest.mark.slow
def test_a_gpu_job_is_held_and_only_the_planner_lets_it_go(rig: Rig) -> None:
    job = rig.submit("-N2", "--gres=gpu:a100:4", "--time=60", "--comment=workload=llama")
    row = rig.job(job)
    assert (row["job_state"], row["state_reason"], row["priority"]) == ("PENDING", "JobHeldUser", 0)
    assert row["admin_comment"] == "photonplan:nodes=2-2:gpus=4:type=a100"
    assert row["comment"] == "workload=llama"
    assert "gpu" not in row["tres_req_str"] + row["tres_per_node"]
    assert row["admin_comment"] in rig.run("scontrol", "show", "job", str(job), user=ALICE).stdout

    update = ("update", f"JobId={job}")
    wrong = [("release", str(job)), ("hold", str(job)), (*update, "StartTime=now"), ("top", str(job))]
    changes = ("Gres=gpu:1", "NumNodes=1", "ReqNodeList=n0", "Features=x", "Nice=1", "Priority=9", "TimeLimit=61")
    wrong += [(*update, change) for change in (*changes, "AdminComment=photonplan:nodes=1-1:gpus=1:type=any")]
    for user in (ALICE, MALLORY):
        for change in wrong:
            assert rig.run("scontrol", *change, user=user, is_checked=False).returncode == 1, (user, change)
    assert rig.run("scontrol", *update, "Comment=x", user=MALLORY, is_checked=False).returncode == 1
    for change in ("Comment=workload=other", "TimeLimit=30", "JobName=$(reboot)"):
        rig.run("scontrol", *update, change, user=ALICE)
    now = rig.job(job)
    assert now["time_limit"] == 30
    same = ("state_reason", "admin_comment", "priority", "node_count", "tres_req_str", "required_nodes")
    assert {key: now[key] for key in same} == {key: row[key] for key in same}
    rig.run("scancel", str(job), user=ALICE)
    rig.until_state(job, "CANCELLED")


@pytest.mark.slow
def test_neither_an_array_nor_a_task_of_it_is_let_go_by_its_user(rig: Rig) -> None:
    array = rig.submit("--array=0-3%2", "--gres=gpu:2")
    row = rig.job(array)
    assert (row["job_state"], row["state_reason"], row["priority"]) == ("PENDING", "JobHeldUser", 0)
    assert row["admin_comment"] == "photonplan:nodes=1-1:gpus=2:type=any"
    rig.run("scontrol", "uhold", f"{array}_1")
    changes = ("Gres=gpu:1", "NumNodes=1", "ReqNodeList=n0", "Priority=9", "StartTime=now", "AdminComment=x")
    for job in (str(array), f"{array}_0", f"{array}_1", f"{array}_[0-3]"):
        for change in (("release", job), *(("update", f"JobId={job}", change) for change in changes)):
            assert rig.run("scontrol", *change, user=ALICE, is_checked=False).returncode == 1, change
    tasks = [each for each in rig.jobs().values() if each["array_job_id"] == array]
    assert len(tasks) >= 2
    same = ("job_state", "state_reason", "admin_comment", "priority", "required_nodes", "tres_per_node", "tres_req_str")
    for task in tasks:
        assert {key: task[key] for key in same} == {key: row[key] for key in same}
    rig.run("scancel", str(array), user=ALICE)
    rig.until(lambda: {rig.job(task["job_id"])["job_state"] for task in tasks} == {"CANCELLED"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--gpus=12",), "12 GPUs are no whole nodes of 8; ask for a multiple of 8"),
        (("--gres=gpu:9",), "9 GPUs on a node are more than the 8"),
        (("--gres=gpu:1", "-w", "n1"), "--nodelist cannot be had with GPUs; leave it out"),
        (("--gres=gpu:1", "-x", "n1"), "--exclude cannot be had with GPUs; leave it out"),
        (("--gres=gpu:1", "--exclusive"), "--exclusive with fewer than the 8 GPUs"),
        (("--gpus-per-task=1", "--gpu-bind=single:1", "-n2"), "--gpu-bind cannot be had"),
        (("--gpus=2", "--cpus-per-gpu=2"), "--cpus-per-gpu cannot be had with GPUs; give --cpus-per-task"),
        (("--gres=gpu:$(reboot):1",), r"cannot read 'gres[:/]gpu:\?\?reboot\?:1'"),
        (("--gres=gpu:a'\"`id`;:1",), "cannot read 'gres[:/]gpu:a"),
    ],
)
def test_what_cannot_be_planned_is_refused_at_once(rig: Rig, options: tuple[str, ...], said: str) -> None:
    done = rig.run("sbatch", *options, "--wrap=true", user=ALICE, is_checked=False)
    assert done.returncode == 1
    assert re.search(f"photonplan: {said}", done.stderr)


def test_a_heterogeneous_job_is_refused(rig: Rig) -> None:
    done = rig.run("sbatch", "-n1", ":", "-n1", "--gres=gpu:1", "--wrap=true", user=ALICE, is_checked=False)
    assert done.returncode == 1
    assert "a heterogeneous job cannot be had with GPUs" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "request_"),
    [
        (("--gpus=16",), "nodes=2-2:gpus=8"),
        (("--gpus=5",), "nodes=1-1:gpus=5"),
        (("--gpus-per-node=2", "-N1-2"), "nodes=1-2:gpus=2"),
        (("--gpus-per-task=1", "-N2", "--ntasks-per-node=4"), "nodes=2-2:gpus=4"),
        (("--gpus=4", "--gpus-per-node=2"), "nodes=2-2:gpus=2"),
    ],
)
def test_all_ways_to_ask_for_gpus_are_understood(rig: Rig, options: tuple[str, ...], request_: str) -> None:
    job = rig.submit(*options)
    row = rig.job(job)
    assert row["admin_comment"] == f"photonplan:{request_}:type=any"
    assert not any(row[f"tres_per_{what}"] for what in ("job", "node", "task", "socket"))
    rig.run("scancel", str(job))


@pytest.mark.slow
def test_jobs_without_gpus_run_and_get_none(rig: Rig) -> None:
    job = rig.submit("-N2", script="echo $SLURM_JOB_NUM_NODES $CUDA_VISIBLE_DEVICES $ROCR_VISIBLE_DEVICES")
    held = rig.submit("--hold")
    rig.until_state(job, "COMPLETED")
    assert printed(rig, job) == ["2"]
    for change in ("Gres=gpu:4", "TresPerNode=gres:gpu:1"):
        assert rig.run("scontrol", "update", f"JobId={held}", change, user=ALICE, is_checked=False).returncode == 1
    rig.run("scontrol", "release", str(held), user=ALICE)
    assert not rig.until_state(held, "COMPLETED")["tres_per_node"]


@pytest.mark.slow
def test_jobs_run_where_they_were_placed_with_their_circuits_on(rig: Rig, site: Site) -> None:
    """Two jobs share both nodes; each sees its own indices, which are not those that Slurm counts."""
    name = "x'\"$(reboot)`id`\n; true"
    script = f"{SHOW}; while [ ! -e {rig.out}/go ]; do sleep 0.05; done"
    one = rig.submit("-N2", "--gres=gpu:4", f"--job-name={name}", script=script)
    two = rig.submit("-N2", "--gres=gpu:2", script=script)
    driver = driver_in(site.state)
    place(rig, site, one, {"n0": "1,3,5,7", "n1": "0,1,2,7"}, LIGHT)
    place(rig, site, two, {"n0": "0,2", "n1": "3,5"}, [])
    for job in (one, two):
        rig.until_state(job, "RUNNING")
    assert driver.applied() == {f"slurm-{one}": LIGHT}
    rig.until(lambda: all(len(printed(rig, job)) == 3 for job in (one, two)))
    assert {rig.job(job)["job_state"] for job in (one, two)} == {"RUNNING"}, "they share the nodes"
    assert printed(rig, one) == ["1,3,5,7", "n0 1,3,5,7 1,3,5,7", "n1 0,1,2,7 0,1,2,7"]
    assert printed(rig, two) == ["0,2", "n0 0,2 0,2", "n1 3,5 3,5"]
    (rig.out / "go").touch()
    for job in (one, two):
        rig.until_state(job, "COMPLETED")
    rig.until(lambda: driver.applied() == {})


@pytest.mark.slow
def test_light_that_fails_is_reported_and_the_job_waits_again(rig: Rig, site: Site) -> None:
    faults = site.state / "driver" / "faults.json"
    write_private(faults, '["s0>s1#0"]')
    job = rig.submit("-N2", "--gres=gpu:1", script=f"{SHOW}; env > {rig.out}/ran")
    place(rig, site, job, {"n0": "6", "n1": "6"}, LIGHT)
    report = rig.until(
        lambda: report_file(site.state, job).exists() and json.loads(report_file(site.state, job).read_text())
    )
    assert (report["action"], report["part"]) == ("connect", "s0>s1#0")
    row = rig.until_state(job, "PENDING")
    assert row["admin_comment"].startswith("photonplan:")
    assert rig.run("scontrol", "update", f"JobId={job}", "StartTime=now", user=ALICE, is_checked=False).returncode == 1
    assert not (rig.out / "ran").exists()
    write_private(faults, "[]")
    rig.until(lambda: not driver_in(site.state).applied())
    rig.run("scontrol", "update", f"JobId={job}", "StartTime=now", user=rig.slurm_user)
    rig.until_state(job, "COMPLETED")
    assert printed(rig, job) == ["6", "n0 6 6", "n1 6 6"]


@pytest.mark.slow
def test_a_job_that_the_planner_did_not_bind_sees_no_gpu(rig: Rig, site: Site) -> None:
    """Slurm would give it indices that belong to others."""
    job = rig.submit("--gres=gpu:1", script=SHOW)
    place(rig, site, job, {"n0": "6"}, [])
    (site.bindings / f"{job}.n0").unlink()
    rig.until_state(job, "COMPLETED")
    lines = printed(rig, job)
    assert [line for line in lines if not line.startswith("photonplan: ")] == ["", "n0"]
    assert f"photonplan: job {job} has GPUs on n0, but the planner has not said which" in lines


def test_slurm_says_nothing_against_the_installation(rig: Rig) -> None:
    """But that one job whose light failed."""
    lines = [line for line in slurmctld_log(rig).splitlines() if "PrologSlurmctld exit status 1:0" not in line]
    wrong = re.compile(r"(?i)photonplan.*(error|invalid)|lua.*(error|attempt to)|pars(e|ing) error|scriptd: error")
    assert [line for line in lines if wrong.search(line)] == []


@pytest.mark.slow
def test_removal_leaves_slurm_as_it_was(rig: Rig, site: Site) -> None:
    etc = rig.slurm_conf.parent
    assert site.install(rig.slurm_conf) == "nothing to do\n"
    site.install(rig.slurm_conf, "--remove")
    assert sorted(path.name for path in etc.iterdir()) == ["cgroup.conf", "gres.conf", "slurm.conf"]
    assert rig.slurm_conf.read_text() == rig.plain_conf
    rig.restart_slurmctld()
    rig.run("scontrol", "reconfigure")
    rig.until_idle()
    seen = len(slurmctld_log(rig))
    job = rig.submit("--gres=gpu:2", script="echo $CUDA_VISIBLE_DEVICES")
    rig.until_state(job, "COMPLETED")
    assert printed(rig, job) == ["0,1"]
    assert "rolog" not in slurmctld_log(rig)[seen:].replace("prolog_running_decr", "")


@pytest.mark.slow
def test_nothing_is_left_of_what_hooks_wrote(site: Site) -> None:
    left: list[Path] = [path for path in site.state.rglob("*") if path.suffix == ".new"]
    assert left == []
