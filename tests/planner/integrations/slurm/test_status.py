"""What `planner slurm status` says of Slurm, journal and switches."""

from pathlib import Path

import pytest

from planner.cli import main
from planner.integrations.slurm.allocations import Allocation
from planner.integrations.slurm.config import load_site
from planner.integrations.slurm.job_requests import descriptor_of
from planner.integrations.slurm.lock import is_alone
from planner.integrations.slurm.observed_state import DesiredState, ObservedState
from planner.integrations.slurm.status import differences, read_status, write_desired_state
from planner.model.errors import InputError
from tests.planner.integrations.slurm.job_requests_cases import row
from tests.planner.integrations.slurm.status_cases import PLACE
from tests.slurm.sites import write_site


def observed(
    state: str = "RUNNING", *, allocation: Allocation | None = PLACE, is_on: bool = True, takes_gpus: bool = True
) -> ObservedState:
    nodes = "n0" if state == "RUNNING" else ""
    rows = {7: row(state=state, is_held=False, nodes=nodes, takes_gpus=takes_gpus)}
    return ObservedState(
        {"slurm-7": PLACE.circuits} if is_on else {}, {}, rows, {}, {} if allocation is None else {7: allocation}
    )


def desired(**places: Allocation) -> DesiredState:
    return DesiredState(
        {}, {int(job[1:]): allocation for job, allocation in places.items()}, {}, frozenset(), frozenset()
    )


@pytest.mark.parametrize(
    ("seen", "wanted", "said"),
    [
        (observed(), desired(j7=PLACE), []),
        (observed("PENDING", allocation=None, is_on=False), desired(), []),
        (observed("COMPLETED"), desired(j7=PLACE), ["has ended in Slurm, and has a place", "are on, and it has ended"]),
        (observed(), desired(j7=Allocation({"n1": (0, 1)}, [])), ["runs elsewhere than the journal says"]),
        (observed(is_on=False), desired(j7=PLACE), ["its circuits are off"]),
        (observed(), desired(), ["holds GPUs without a place"]),
        (observed("COMPLETED"), desired(), ["are on, and it has ended"]),
    ],
)
def test_differences_are_named(seen: ObservedState, wanted: DesiredState, said: list[str]) -> None:
    found = list(differences(seen, wanted))
    assert len(found) == len(said)
    assert all(part in text for part, text in zip(said, found, strict=True))
    assert all("7" in text for text in found)


@pytest.mark.slow
@pytest.mark.parametrize("command", [["status"], ["fail", "s0.t0"], ["repair", "s0.t0"]])
@pytest.mark.parametrize("has_state", [False, True])
def test_before_an_installation_there_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], has_state: bool
) -> None:
    site = write_site(tmp_path / "site", 4)
    if has_state:
        site.state.mkdir(mode=0o700)
        (site.state / "journal.db").touch()
    code = main(["slurm", *command, "--config", str(site.config)])
    if has_state and command != ["status"]:
        assert code == 0
    else:
        assert code == 2
        assert len(capsys.readouterr().err.splitlines()) <= 3
        assert has_state or not site.state.exists()


def test_a_missing_file_of_the_hooks_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = write_site(tmp_path / "site", 4)
    site.state.mkdir(mode=0o700)
    (site.state / "journal.db").touch()
    write_desired_state(site.state, desired(), 0)
    with is_alone(site.state):
        assert main(["slurm", "status", "--config", str(site.config)]) == 2
    said = capsys.readouterr().err
    assert "hooks.json" in said
    assert "planner slurm install" in said


def test_a_look_leaves_no_lock_of_its_own(tmp_path: Path) -> None:
    site = write_site(tmp_path / "site", 4)
    site.state.mkdir(mode=0o700)
    with pytest.raises(InputError, match="start the daemon first"):
        read_status(load_site(site.config))
    assert list(site.state.iterdir()) == []


def test_a_lock_belongs_to_the_owner_of_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon without the rights of root must open what root has made."""
    owners: list[tuple[int, int]] = []
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("os.fchown", lambda file, user, group: owners.append((user, group)))
    with is_alone(tmp_path) as alone:
        assert alone
    assert owners == [(tmp_path.stat().st_uid, tmp_path.stat().st_gid)]


def test_rows_of_others_are_not_ours() -> None:
    assert descriptor_of(row(admin_comment="something else")) is None


def test_an_order_says_who_will_carry_it_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = write_site(tmp_path / "site", 2)
    site.state.mkdir(0o700)
    order = ["slurm", "fail", "--config", str(site.config), "s0>s1#0"]
    assert main(order) == 0
    assert capsys.readouterr().out == "fail s0>s1#0: kept until the daemon runs\n"
    with is_alone(site.state):
        assert main(order) == 0
    assert capsys.readouterr().out == "fail s0>s1#0: the daemon is told\n"
