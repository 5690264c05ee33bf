"""A real Slurm of 8 nodes x 8 GPUs: every task sees what was planned, circuits are on as long as it runs, and faults,
drains, users and deaths of the daemon change nothing of that."""

import json
import os
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.need import need_program, need_root
from tests.slurm.plugin import Plugin, plugin, wait_over
from tests.slurm.rig import ALICE, MALLORY
from tests.slurm.tasks import Task, runs_of, tasks_of

SHAPES = (
    (2, 2), (1, 2), (4, 2), (3, 1), (2, 3), (8, 1), (1, 4), (4, 1), (2, 4), (6, 2), (1, 3), (6, 1), (8, 2), (4, 4),
    (3, 2), (3, 4), (2, 1),
)  # fmt: skip
"""GPUs on each node, nodes"""
NAMES = ("plain", 'it\'s "mine"', "$(touch owned)", "`touch owned`; touch owned", "two\nlines\n#SBATCH -N 8", "%s\\n")
TASK = "echo task $SLURM_JOB_ID $SLURM_RESTART_COUNT x $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES $(date +%s.%N)"
DONE = "echo done $SLURM_JOB_ID $SLURM_RESTART_COUNT x $SLURMD_NODENAME $(date +%s.%N)"


@pytest.fixture(scope="module")
def site() -> Iterator[Plugin]:
    need_program("slurmctld")
    need_root()
    with plugin(connect_tries=5) as made:
        yield made


def submit(site: Plugin, gpus: int, nodes: int, lasts: float | Path = 1.0, *options: str, user: str = ALICE) -> int:
    """A job whose tasks, one on each node, say where they are and when; they last so long, or until a file is there."""
    lives = f"while [ ! -e {lasts} ]; do sleep 0.1; done" if isinstance(lasts, Path) else f"sleep {lasts}"
    script = f"srun sh -c '{TASK}; {lives}; {DONE}'"
    wanted = (f"--gres=gpu:{gpus}", f"-N{nodes}", "--ntasks-per-node=1", "--time=5", "--open-mode=append")
    return site.rig.submit(*wanted, *options, script=script, user=user)


def until_nothing_is_placed(site: Plugin) -> None:
    site.rig.until(lambda: not json.loads((site.state / "wants.json").read_text())["places"])


def lit(site: Plugin, job: int) -> list[tuple[float, float]]:
    """When circuits of a job were on: from the end of each connect to the beginning of the release after it."""
    spans, on_s = [], None
    for call in site.switched():
        if call["job"] == f"slurm-{job}" and not call["broken"]:
            if call["action"] == "connect" and on_s is None:
                on_s = call["ended_s"]
            elif call["action"] == "release" and on_s is not None:
                spans.append((on_s, call["began_s"]))
                on_s = None
    assert on_s is None, f"circuits of {job} are on"
    return spans


@pytest.mark.slow
def test_fifty_jobs(site: Plugin) -> None:
    """Planned, shared, lit, not used twice, and nothing lost when the daemon dies in the middle."""
    jobs = [
        submit(site, *SHAPES[i % len(SHAPES)], 1.0 + 0.5 * (i % 3), f"--job-name={NAMES[i % len(NAMES)]}",
               user=(ALICE, MALLORY)[i % 2])
        for i in range(51)
    ]  # fmt: skip
    for number in (8, 20):
        site.rig.until(lambda number=number: len(site.said("release")) >= number, every_s=0.02)  # type: ignore[misc]
        site.kill()
        time.sleep(0.5)
        site.start()
    wait_over(site, jobs)
    until_nothing_is_placed(site)
    assert site.status()["differences"] == []
    assert site.stop() == 0
    tasks = {job: tasks_of(site, job) for job in jobs}
    _require_planned(site, tasks)
    assert _times_shared([task for each in tasks.values() for task in each]) >= 10
    _require_light(site, tasks)
    assert not list(site.rig.out.rglob("owned"))
    site.start()


def _require_planned(site: Plugin, tasks: dict[int, list[Task]]) -> None:
    places = site.places()
    for i, job in enumerate(tasks):
        gpus, nodes = SHAPES[i % len(SHAPES)]
        runs = runs_of(tasks[job])
        planned = iter(places[job])
        assert all(run in planned for run in runs), (runs, places[job])
        assert len(runs[-1]) == nodes
        assert {len(indices) for indices in runs[-1].values()} == {gpus}


def _times_shared(tasks: list[Task]) -> int:
    """How often two jobs were on one node at once; AssertionError where they saw the same accelerator."""
    shared = 0
    for a, b in combinations(tasks, 2):
        if a.job == b.job or a.node != b.node or a.ended_s is None or b.ended_s is None:
            continue
        if a.began_s < b.ended_s and b.began_s < a.ended_s:
            shared += 1
            assert not set(a.indices) & set(b.indices), (a, b)
    return shared


def _require_light(site: Plugin, tasks: dict[int, list[Task]]) -> None:
    """On before the first task of each run, off after the last; no light is ever on for two jobs."""
    across = 0
    for job, each in tasks.items():
        spans = lit(site, job)
        for task in each:
            if len(spans) and task.ended_s is not None:
                assert any(on_s < task.began_s and task.ended_s < off_s for on_s, off_s in spans), (task, spans)
        across += bool(spans) and len({task.node for task in each}) > 1
    assert across >= 25
    taken: dict[tuple[str, int], str] = {}
    for call in site.switched():
        light = {
            (fiber, wavelength)
            for held in call["circuits"] for circuit in held["circuits"]
            for fiber in circuit["fibers"] for wavelength in circuit["wavelengths"]
        }  # fmt: skip
        if call["action"] == "release":
            taken = {key: job for key, job in taken.items() if job != call["job"]}
        elif not call["broken"]:
            assert all(taken.setdefault(key, call["job"]) == call["job"] for key in light)


def rows_of(site: Plugin, array: int) -> list[dict[str, Any]]:
    return [row for row in site.rig.jobs().values() if row["array_job_id"] == array]


@pytest.mark.slow
def test_an_array_runs_within_its_limit(site: Plugin) -> None:
    """One of its tasks is requeued, one is cancelled, and users can no more let them go than they can other jobs."""
    rig, go = site.rig, site.rig.out / "array-goes"
    array = submit(site, 3, 2, go, "--array=0-5%2")
    rig.until(lambda: "its limit of 2" in rig.job(array)["admin_comment"])
    assert rig.run("scontrol", "release", f"{array}_5", user=ALICE, is_checked=False).returncode == 1
    rig.run("scancel", f"{array}_4", user=ALICE)
    first = next(row["job_id"] for row in rows_of(site, array) if row["array_task_id"] == 0)
    rig.until(lambda: tasks_of(site, first))
    rig.run("scontrol", "requeue", f"{array}_0", user=ALICE)
    rig.until(lambda: rig.job(first)["restart_cnt"])
    go.touch()
    rig.until(lambda: not {row["job_state"] for row in rows_of(site, array)} - {"COMPLETED", "CANCELLED"})
    ran = {row["array_task_id"]: row["job_id"] for row in rows_of(site, array) if row["job_state"] == "COMPLETED"}
    assert sorted(ran) == [0, 1, 2, 3, 5]
    assert rig.job(first)["restart_cnt"] == 1
    site.stop()
    places, runs = site.places(), {job: runs_of(tasks_of(site, job)) for job in ran.values()}
    site.start()
    assert len(runs[first]) == 2
    for job, each in runs.items():
        assert each[-1] == places[job][-1]
        assert [len(indices) for indices in each[-1].values()] == [3, 3]
    ended = [task for job in ran.values() for task in tasks_of(site, job) if task.ended_s is not None]
    for task in ended:
        beside = {each.job for each in ended if each.began_s <= task.began_s < (each.ended_s or 0.0)}
        assert len(beside) <= 2
    _times_shared(ended)


@pytest.mark.slow
def test_an_array_is_cancelled(site: Plugin) -> None:
    """As many of its tasks are jobs as fit on all nodes."""
    array = submit(site, 8, 4, 60.0, "--array=1-9")
    states = ["PENDING", "RUNNING", "RUNNING"]
    site.rig.until(lambda: sorted(row["job_state"] for row in rows_of(site, array)) == states)
    site.rig.until(lambda: "why=" in site.rig.job(array)["admin_comment"])
    waiting = {row["job"]: row["shown"] for row in site.status()["waiting"]}
    assert waiting[array] == f"{array}_[3-9]"
    site.rig.run("scancel", str(array), user=ALICE)
    wait_over(site, [row["job_id"] for row in rows_of(site, array)])
    until_nothing_is_placed(site)


@pytest.mark.slow
def test_a_broken_circuit_is_avoided(site: Plugin) -> None:
    """The fiber that the job would take is dark: it is requeued, the fiber counts as failed, the job runs elsewhere."""
    probe = submit(site, 4, 2, 0.1)
    wait_over(site, [probe])
    until_nothing_is_placed(site)
    (call, *_) = [call for call in site.switched() if call["job"] == f"slurm-{probe}"]
    fiber = next(f for held in call["circuits"] for circuit in held["circuits"] for f in circuit["fibers"])
    (site.switches / "faults.json").write_text(json.dumps([fiber]))
    job = submit(site, 4, 2, 0.1)
    wait_over(site, [job])
    (site.switches / "faults.json").write_text("[]")
    calls = [call for call in site.switched() if call["job"] == f"slurm-{job}" and call["action"] == "connect"]
    assert calls[0]["broken"] == [fiber]
    assert calls[-1]["broken"] == []
    assert fiber in site.status()["failed"]
    site.stop()
    (run,) = runs_of(tasks_of(site, job))
    places = site.places()[job]
    assert run == places[-1] != places[0]
    site.start()


@pytest.mark.slow
def test_a_switch_that_names_no_part_ends_the_job(site: Plugin) -> None:
    """After five starts, ever later, with the reason where the user looks; then a switch that is well takes others."""
    (site.switches / "faults.json").write_text(json.dumps(["all"]))
    job = submit(site, 4, 2, 0.1)
    site.rig.until(lambda: "tried 4 times, at most 5 times" in site.rig.job(job)["admin_comment"])
    assert any(line.startswith(f"job {job}: circuits could not be connected") for line in site.status()["troubles"])
    row = site.rig.until_state(job, "CANCELLED")
    assert "tried 5 times, it was ended" in row["admin_comment"]
    assert "no reason" in row["admin_comment"]
    (site.switches / "faults.json").write_text("[]")
    calls = [call for call in site.switched() if call["job"] == f"slurm-{job}" and call["action"] == "connect"]
    assert len(calls) == 5
    assert not tasks_of(site, job)
    wait_over(site, [submit(site, 4, 2, 0.1)])
    until_nothing_is_placed(site)


@pytest.mark.slow
def test_jobs_leave_a_drained_node(site: Plugin) -> None:
    go = site.rig.out / "go"
    job = submit(site, 2, 2, go)
    stays = submit(site, 1, 1, go, "--no-requeue")
    site.rig.until_state(job, "RUNNING")
    site.rig.until_state(stays, "RUNNING")
    site.rig.until(lambda: tasks_of(site, job))
    node = tasks_of(site, job)[0].node
    site.rig.run("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=repairs")
    site.rig.until(lambda: len(runs_of(tasks_of(site, job))) == 2)
    go.touch()
    rows = wait_over(site, [job, stays])
    site.rig.run("scontrol", "update", f"NodeName={node}", "State=RESUME")
    assert rows[job]["restart_cnt"] >= 1
    assert rows[stays]["restart_cnt"] == 0
    runs = runs_of(tasks_of(site, job))
    assert node in runs[0]
    assert node not in runs[-1]
    site.rig.until(lambda: site.said("undrain"))


@pytest.mark.slow
def test_slurmctld_is_away_for_a_while(site: Plugin) -> None:
    """The job that runs meanwhile ends as it would, the daemon waits, and then goes on."""
    job = submit(site, 2, 2, 3)
    site.rig.until(lambda: tasks_of(site, job))
    known = len(site.said("unreachable"))
    site.rig.stop("slurmctld")
    site.rig.until(lambda: len(site.said("unreachable")) > known)
    site.rig.start_slurmctld()
    site.rig.until_idle()
    rows = wait_over(site, [job, submit(site, 2, 2, 0.1)])
    assert {row["job_state"] for row in rows.values()} == {"COMPLETED"}
    assert rows[job]["restart_cnt"] == 0


@pytest.mark.slow
def test_users_can_neither_release_nor_ask_for_nonsense(site: Plugin) -> None:
    rig = site.rig
    refused = {
        "is not understood": ("--gres=gpu:1", "--comment=workload=$(touch owned) x"),
        "can never run": ("--gpus=7",),
    }
    for said, options in refused.items():
        done = rig.run("sbatch", *options, "--wrap=true", user=ALICE, is_checked=False)
        assert done.returncode == 1
        assert said in done.stderr
    held = submit(site, 1, 1, 1, "--comment=weight=two", f"--job-name={NAMES[2]}")
    never = submit(site, 8, 1, 1, "--comment=weight=two")
    for job in (held, never):
        rig.until(lambda job=job: "why=cannot run" in rig.job(job)["admin_comment"], 30.0)  # type: ignore[misc]
    done = rig.run("scontrol", "release", str(held), user=ALICE, is_checked=False)
    assert done.returncode != 0
    assert rig.job(held)["priority"] == 0
    assert "weight" in rig.job(held)["admin_comment"]
    waiting = {row["job"]: row["why"] for row in site.status()["waiting"]}
    assert "weight" in waiting[held]
    rig.run("scontrol", "update", f"JobId={held}", "Comment=workload=bert weight=2", user=ALICE)
    rig.run("scancel", str(never), user=ALICE)
    assert wait_over(site, [held, never])[held]["job_state"] == "COMPLETED"
    assert not list(rig.out.rglob("owned"))
    assert os.stat(site.state).st_mode & 0o077 == 0
