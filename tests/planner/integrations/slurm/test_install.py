"""`planner slurm install` on folders of a site: what it writes, what it refuses, and that it leaves no trace."""

import getpass
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from planner.cli import main
from planner.integrations.slurm.hooks import driver_in
from planner.model.errors import InputError
from tests.planner.integrations.slurm.hooks_cases import processor_time_s
from tests.planner.integrations.slurm.install_cases import CONF, ODD, installation
from tests.planner.integrations.slurm.lua import interpreter
from tests.planner.integrations.switch_drivers.drivers import BETWEEN
from tests.slurm.sites import Site, write_site


def tree(*folders: Path) -> dict[str, tuple[int, bytes | None, int]]:
    """Mode, content and time of change of all that is there."""
    found = [path for folder in folders for path in folder.rglob("*")]
    return {
        str(path): (path.stat().st_mode, path.read_bytes() if path.is_file() else None, path.stat().st_mtime_ns)
        for path in found
    }


@pytest.mark.slow
def test_a_second_run_changes_nothing_and_a_removal_leaves_no_trace(tmp_path: Path, site: Site, conf: Path) -> None:
    before = tree(conf.parent)
    said = installation(site, conf).install(is_dry=True)
    assert tree(conf.parent) == before
    assert not site.state.exists()
    assert installation(site, conf).install() == said
    assert f"write {conf}" in said
    after = tree(tmp_path)
    assert installation(site, conf).install() == []
    assert tree(tmp_path) == after
    assert conf.read_text().endswith(CONF)
    assert conf.read_text().count("include photonplan.conf") == 1

    removed = installation(site, conf).remove(is_dry=True)
    assert tree(tmp_path) == after
    assert installation(site, conf).remove() == removed
    assert {path: row[:2] for path, row in tree(conf.parent).items()} == {p: row[:2] for p, row in before.items()}
    assert [path for path in tmp_path.rglob("*") if path.suffix in (".sh", ".lua")] == []
    assert installation(site, conf).remove() == []


@pytest.mark.slow
def test_nothing_is_removed_while_circuits_are_on(site: Site, conf: Path) -> None:
    installation(site, conf).install()
    driver = driver_in(site.state)
    driver.connect("slurm-7", BETWEEN)
    with pytest.raises(InputError, match="slurm-7 still have circuits on"):
        installation(site, conf).remove()
    driver.release("slurm-7")
    installation(site, conf).remove()


@pytest.mark.slow
def test_files_have_the_rights_that_they_need(site: Site, conf: Path) -> None:
    installation(site, conf).install()
    assert stat.S_IMODE(site.state.stat().st_mode) == 0o700
    assert stat.S_IMODE(site.bindings.stat().st_mode) == 0o755
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [*site.state.iterdir(), *site.bindings.iterdir()]}
    hooks = {"connect.sh": 0o755, "release.sh": 0o755, "task_prolog.sh": 0o755, "hooks.json": 0o600}
    assert modes == hooks | dict.fromkeys(("circuits", "reports", "driver"), 0o700)
    assert stat.S_IMODE(conf.stat().st_mode) == 0o640
    for name in ("photonplan.conf", "photonplan.lua", "job_submit.lua"):
        assert stat.S_IMODE(conf.with_name(name).stat().st_mode) == 0o644


@pytest.mark.slow
@pytest.mark.parametrize("name", ["state", "bindings"])
def test_folders_of_others_are_left_alone(tmp_path: Path, site: Site, conf: Path, name: str) -> None:
    """Root must change neither mode nor owner of what a link leads to."""
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o711)
    top: Path = getattr(site, name)
    top.parent.mkdir(parents=True, exist_ok=True)
    top.symlink_to(theirs)
    with pytest.raises(InputError, match="not a link"):
        installation(site, conf).install()
    assert stat.S_IMODE(theirs.stat().st_mode) == 0o711
    assert list(theirs.iterdir()) == []


def test_a_folder_of_another_account_is_refused(site: Site, conf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.state.mkdir(mode=0o711)
    real = os.fstat
    monkeypatch.setattr("os.fstat", lambda file: os.stat_result((*real(file)[:4], 54321, *real(file)[5:])))
    with pytest.raises(InputError, match="belongs to another account"):
        installation(site, conf)._make_folders()
    assert stat.S_IMODE(site.state.stat().st_mode) == 0o711


@pytest.mark.slow
def test_a_link_to_slurm_conf_stays_one(tmp_path: Path, site: Site, conf: Path) -> None:
    link = conf.with_name("link.conf")
    link.symlink_to(conf)
    installation(site, link).install()
    assert link.is_symlink()
    assert "include photonplan.conf" in conf.read_text()


@pytest.mark.slow
def test_a_new_module_makes_a_new_job_submit(tmp_path: Path, site: Site, conf: Path) -> None:
    """slurmctld reads job_submit.lua again where that file has changed, and looks at no other."""
    installation(site, conf).install()
    other = write_site(tmp_path / "site", 4, apart=ODD, partitions=["gpu", "big"])
    said = installation(other, conf).install()
    changed = (conf.with_name("photonplan.lua"), conf.with_name("job_submit.lua"), site.bindings / "task_prolog.sh")
    assert sorted(said) == sorted(f"write {path}" for path in changed)


@pytest.mark.slow
def test_the_hooks_run_as_they_are_written(site: Site, conf: Path) -> None:
    installation(site, conf).install()
    for name in ("connect.sh", "release.sh"):
        subprocess.run([site.state / name], env={"SLURM_JOB_ID": "3"}, cwd="/", check=True, timeout=240)
        wrong = subprocess.run([site.state / name], env={}, cwd="/", check=False, timeout=240, capture_output=True)
        assert wrong.returncode == 1


@pytest.mark.slow
def test_job_submit_is_lua_that_finds_ours(site: Site, conf: Path) -> None:
    installation(site, conf).install()
    fake = "slurm = {SUCCESS = 0}\n" + conf.with_name("job_submit.lua").read_text().replace("return slurm.SUCCESS", "")
    program = f"{fake}\nprint(slurm_job_submit({{}}, {{}}, 1), slurm_job_modify({{}}, {{}}, {{}}, 0))"
    done = subprocess.run([interpreter(), "-"], input=program, capture_output=True, text=True, timeout=240, check=True)
    assert done.stdout.split() == ["0", "0"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("binding", "environment", "printed"),
    [
        ("0,3,5\n", {}, "0,3,5"),
        ("0", {}, "0"),
        (None, {}, None),
        (None, {"SLURM_JOB_GPUS": "0,1"}, ""),
        ("0;reboot\n", {"SLURM_JOB_GPUS": "0"}, ""),
        ("0,1\n", {"SLURM_JOB_ID": "7; echo export X=1"}, None),
        ("0,1\n", {"SLURMD_NODENAME": "../n0"}, None),
        ("0,1\n", {"SLURM_JOB_PARTITION": "cpu"}, None),
        ("0,1\n", {"IFS": ",", "PATH": "", "ENV": "/dev/stdin", "CUDA_VISIBLE_DEVICES": "9", "binding": "/x"}, "0,1"),
    ],
)  # fmt: skip
def test_tasks_see_what_is_theirs(
    site: Site, conf: Path, binding: str | None, environment: dict[str, str], printed: str | None
) -> None:
    installation(site, conf).install()
    if binding is not None:
        (site.bindings / "7.n0").write_text(binding)
    env = {"SLURM_JOB_ID": "7", "SLURMD_NODENAME": "n0", "SLURM_JOB_PARTITION": "gpu"} | environment
    script = site.bindings / "task_prolog.sh"
    done = subprocess.run([script], env=env, capture_output=True, text=True, timeout=240, check=True)
    exports = [line for line in done.stdout.splitlines() if not line.startswith("print ")]
    expected = [] if printed is None else [f"export {name}_VISIBLE_DEVICES={printed}" for name in ("CUDA", "ROCR")]
    assert (exports, done.stderr) == (expected, "")
    assert ("print photonplan" in done.stdout) == (printed == "")


@pytest.mark.slow
def test_a_task_prolog_is_cheap(site: Site, conf: Path) -> None:
    installation(site, conf).install()
    env = {"SLURM_JOB_ID": "7", "SLURMD_NODENAME": "n0"}
    assert min(processor_time_s([str(site.bindings / "task_prolog.sh")], env) for _ in range(5)) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("PrologSlurmctld=/opt/site.sh", "PrologSlurmctld: is /opt/site.sh and can be given once; add this line to"),
        ("epilogslurmctld=/opt/site.sh", "EpilogSlurmctld: is /opt/site.sh"),
        ('TaskProlog="/opt/site.sh"', "TaskProlog: is /opt/site.sh"),
        ("JobSubmitPlugins=throttle", "JobSubmitPlugins: is throttle; write JobSubmitPlugins=throttle,lua"),
        ("SelectType=select/linear", "SelectType: is select/linear; the planner needs"),
        ("GresTypes=nic", "GresTypes: does not hold gpu"),
        ("NodeName=n3 Gres=gpu:6", "NodeName: n3 has 6 GPUs, servers of the cluster have 8"),
        ("NodeName=n[3-1]", "NodeName: 'n[3-1]'"),
        ("SlurmUser=nobody-here", "SlurmUser: there is no account nobody-here"),
        ("include nowhere.conf", "nowhere.conf: does not exist"),
        ("include slurm.conf", "do they name each other?"),
    ],
)  # fmt: skip
def test_what_is_in_the_way_is_named_with_its_remedy(site: Site, conf: Path, line: str, message: str) -> None:
    conf.write_text(f"{CONF}\n{line}\n")
    before = tree(conf.parent)
    with pytest.raises(InputError) as caught:
        installation(site, conf).install()
    assert message in str(caught.value)
    assert tree(conf.parent) == before
    assert not site.state.exists()


@pytest.mark.slow
def test_devices_must_not_be_constrained(site: Site, conf: Path) -> None:
    conf.with_name("cgroup.conf").write_text("# ConstrainDevices=yes\nconstraindevices = Yes\n")
    with pytest.raises(InputError, match="ConstrainDevices: is yes"):
        installation(site, conf).install()
    conf.with_name("cgroup.conf").write_text("# ConstrainDevices=yes\n")
    installation(site, conf).install()


@pytest.mark.slow
def test_programs_of_the_site_may_call_ours(site: Site, conf: Path) -> None:
    theirs = conf.with_name("prolog.sh")
    conf.write_text(f'{CONF}\nJobSubmitPlugins=throttle,job_submit/lua\nPrologSlurmctld="{theirs}"\n')
    theirs.write_text("#!/bin/sh\n")
    with pytest.raises(InputError) as caught:
        installation(site, conf).install()
    line = str(caught.value).split("add this line to it: ")[1]
    theirs.write_text(f"#!/bin/sh\n{line}\nexit 0\n")
    theirs.chmod(0o755)
    submit = conf.with_name("job_submit.lua")
    submit.write_text("-- of the site\nreturn slurm.SUCCESS\n")
    with pytest.raises(InputError, match=r"job_submit\.lua: is the site's own; call photonplan\.lua from it"):
        installation(site, conf).install()
    text = 'local photonplan = dofile("photonplan.lua")\nreturn slurm.SUCCESS\n'
    submit.write_text(text)
    installation(site, conf).install()
    snippet = conf.with_name("photonplan.conf").read_text()
    assert "PrologSlurmctld" not in snippet
    assert "JobSubmitPlugins" not in snippet
    assert "EpilogSlurmctld=" in snippet
    subprocess.run([theirs], env={"SLURM_JOB_ID": "3"}, check=True, timeout=240)
    installation(site, conf).remove()
    assert submit.read_text() == text


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be told to run hooks as another")
def test_an_account_that_cannot_run_the_hooks_is_named(site: Site, conf: Path, tmp_path: Path) -> None:
    conf.write_text(CONF.replace(f"SlurmUser={getpass.getuser()}", "SlurmUser=nobody"))
    tmp_path.chmod(0o700)
    with pytest.raises(InputError, match=r"nobody \(SlurmUser\)"):
        installation(site, conf).install()


@pytest.mark.slow
def test_the_command_says_what_it_did(site: Site, conf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given_ = ["slurm", "install", "--config", str(site.config), "--slurm-conf", str(conf)]
    assert main([*given_, "--dry-run"]) == 0
    assert f"would write {conf}\n" in capsys.readouterr().out
    assert main(given_) == 0
    assert "scontrol reconfigure" in capsys.readouterr().out
    assert main(given_) == 0
    assert capsys.readouterr().out == "nothing to do\n"
    assert main([*given_, "--remove"]) == 0
    assert f"remove {conf.with_name('photonplan.lua')}\n" in capsys.readouterr().out
    shutil.rmtree(conf.parent)
    assert main(given_) == 2
    assert "slurm.conf: does not exist; " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["there-is-none", "no-program"])
def test_switches_that_nothing_can_set_are_named_before_anything_is_written(
    tmp_path: Path, conf: Path, name: str
) -> None:
    (tmp_path / "no-program").write_text("#!/bin/sh\n")
    site = write_site(tmp_path / "site", 4, driver={"kind": "hook", "command": [str(tmp_path / name)]})
    before = tree(conf.parent)
    with pytest.raises(InputError, match="is no program that can be run here"):
        installation(site, conf).install()
    assert (tree(conf.parent), site.state.exists()) == (before, False)


@pytest.mark.slow
def test_open_gpus_are_told_in_capitals(
    tmp_path: Path, conf: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unless the planner closes them, by what runs on each node around a job."""
    command = ["slurm", "install", "--slurm-conf", str(conf), "--config"]
    assert main([*command, str(site.config), "--dry-run"]) == 0
    assert "ALSO ONE WITHOUT GPUS, CAN OPEN EVERY GPU" in capsys.readouterr().out
    closed = write_site(tmp_path / "closed", 4, apart=ODD, gpu_devices="/dev/nvidia{}")
    assert main([*command, str(closed.config)]) == 0
    assert "EVERY GPU" not in capsys.readouterr().out
    snippet = (conf.parent / "photonplan.conf").read_text()
    for key, name in (("Prolog", "prolog.sh"), ("Epilog", "epilog.sh")):
        assert f'{key}="{closed.bindings / name}"' in snippet
        subprocess.run(["sh", "-n", str(closed.bindings / name)], check=True)
    installation(closed, conf).remove()
    assert not list(closed.bindings.glob("*.sh"))


@pytest.mark.parametrize("path", ["dev/nvidia{}", "/dev/nvidia", "/dev/{}{}", "/dev/$(id){}"])
def test_a_wrong_device_is_refused(tmp_path: Path, conf: Path, capsys: pytest.CaptureFixture[str], path: str) -> None:
    wrong = write_site(tmp_path / "wrong", 4, gpu_devices=path)
    assert main(["slurm", "install", "--config", str(wrong.config), "--slurm-conf", str(conf)]) == 2
    assert "gpu_devices" in capsys.readouterr().err
