"""Put the planner into a Slurm, and take it out again: files of our own, and one line that slurm.conf includes."""

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from planner.integrations.private_files import PRIVATE, make_private, write_private
from planner.integrations.slurm import device_scripts, scripts
from planner.integrations.slurm.config import SlurmSite
from planner.integrations.slurm.hooks import driver_in, hooks_file
from planner.integrations.slurm.installation_checks import (
    Programs,
    open_gpus,
    require_fit,
    require_own_job_submit,
    require_release,
    settings_of,
    untried,
)  # fmt: skip
from planner.integrations.slurm.shapes import shapes_of
from planner.integrations.slurm.slurm_conf import SNIPPET, read_conf, with_include, without_include
from planner.integrations.switch_drivers import driver_of
from planner.model.errors import InputError
from planner.model.files import read_text

_RUNNABLE, _READABLE = 0o755, 0o644
_START_S = 30.0


@dataclass(frozen=True)
class Wanted:
    """One file as it is to be."""

    path: Path
    text: str
    mode: int

    @property
    def is_there(self) -> bool:
        with suppress(OSError, UnicodeDecodeError):
            return self.path.stat().st_mode & 0o7777 == self.mode and self.path.read_bytes() == self.text.encode()
        return False


@dataclass(frozen=True)
class Installation:
    """One site and the slurm.conf of its slurmctld."""

    site: SlurmSite
    slurm_conf: Path

    @property
    def _folder(self) -> Path:
        return self.slurm_conf.parent

    @property
    def programs(self) -> Programs:
        """Ours: hooks with the state, since slurmctld alone runs them, the prolog of tasks where all nodes see it."""
        config = self.site.config
        return Programs(
            config.state / "connect.sh", config.state / "release.sh", config.bindings / "task_prolog.sh",
            self._folder / "photonplan.lua", config.bindings / "prolog.sh", config.bindings / "epilog.sh",
            config.gpu_devices is not None,
        )  # fmt: skip

    def install(self, *, is_dry: bool = False) -> list[str]:
        """Write what is not there yet, and say what was written: nothing the second time. slurm.conf comes last."""
        wanted = list(self._wanted())
        conf = Wanted(self.slurm_conf, with_include(self._conf_text), self.slurm_conf.stat().st_mode & 0o7777)
        said = [f"write {file.path}" for file in (*wanted, conf) if not file.is_there]
        folders = [folder for folder in self._folders if not folder.is_dir()]
        said = [f"make {folder}" for folder in folders] + said
        if is_dry:
            return said
        self._make_folders()
        for file in wanted:
            if not file.is_there:
                write_private(file.path, file.text, file.mode)
        self._try_hooks()
        if not conf.is_there:
            self._replace_conf(conf.text)
        return said

    def notes(self) -> list[str]:
        """Notes for the operator on an installation that works."""
        return [note for note in (untried(require_release()), open_gpus(self.site)) if note]

    def remove(self, *, is_dry: bool = False) -> list[str]:
        """Take our line out of slurm.conf and our files away, and say so; the journal and its like stay.

        InputError while jobs have circuits on, which nobody would release.
        """
        state = self.site.config.state
        if hooks_file(state).exists() and (jobs := driver_in(state).applied()):
            raise InputError(str(state), "", f"{', '.join(jobs)} still have circuits on; let them end, or cancel them")
        text = without_include(self._conf_text)
        said = [f"write {self.slurm_conf}"] if text != self._conf_text else []
        programs = self.programs
        ours = [self._folder / SNIPPET, programs.lua, *programs.hooks().values(), hooks_file(state)]
        with suppress(InputError):
            if require_own_job_submit(self._job_submit, programs.lua):
                ours.append(self._job_submit)
        ours = [path for path in ours if path.exists()]
        if not is_dry:
            if said:
                self._replace_conf(text)
            for path in ours:
                path.unlink()
        return said + [f"remove {path}" for path in ours]

    @property
    def _job_submit(self) -> Path:
        return self._folder / "job_submit.lua"

    @cached_property
    def _conf_text(self) -> str:
        return read_text(self.slurm_conf, wanted="slurm.conf", remedy="give --slurm-conf the file that slurmctld reads")

    @cached_property
    def _account(self) -> pwd.struct_passwd:
        """User of the hooks."""
        name = read_conf(self.slurm_conf).slurm_user
        try:
            account = pwd.getpwuid(int(name)) if name.isdigit() else pwd.getpwnam(name)
        except KeyError:
            raise InputError(str(self.slurm_conf), "SlurmUser", f"there is no account {name} here") from None
        if os.geteuid() not in (0, account.pw_uid):
            raise InputError(str(self.slurm_conf), "SlurmUser", f"is {name}; run this as root")
        return account

    def _wanted(self) -> Iterator[Wanted]:
        """All files of ours; InputError for whatever is in their way."""
        require_release()
        conf, programs, state = read_conf(self.slurm_conf), self.programs, self.site.config.state
        require_fit(conf, self.site)
        settings = settings_of(conf, programs)
        self._require_switches()
        python, nodes = self._python(), self.site.server_of_node
        driver, kind = self.site.config.driver.model_dump_json(by_alias=True) + "\n", self.site.config.driver.kind
        yield Wanted(programs.connect, scripts.hook_script("connect", python, state, kind), _RUNNABLE)
        yield Wanted(programs.release, scripts.hook_script("release", python, state, kind), _RUNNABLE)
        yield Wanted(hooks_file(state), driver, PRIVATE)
        yield Wanted(programs.task_prolog, scripts.task_prolog(self.site), _RUNNABLE)
        if programs.closes_gpus:
            yield Wanted(programs.prolog, device_scripts.prolog(self.site), _RUNNABLE)
            yield Wanted(programs.epilog, device_scripts.epilog(self.site), _RUNNABLE)
        module = scripts.lua_module(self.site, {0, self._account.pw_uid}, shapes_of(self.site), conf.gpu_types(nodes))
        yield Wanted(programs.lua, module, _READABLE)
        if require_own_job_submit(self._job_submit, programs.lua):
            yield Wanted(self._job_submit, scripts.job_submit(programs.lua, module), _READABLE)
        yield Wanted(self._folder / SNIPPET, scripts.snippet(settings), _READABLE)

    def _require_switches(self) -> None:
        driver = self.site.config.driver
        if driver.kind == "hook" and not os.access(driver.command[0], os.X_OK):
            problem = "is no program that can be run here; correct driver.command of slurm.yaml, or chmod +x it"
            raise InputError(driver.command[0], "", problem)
        if driver.kind == "ocs":
            driver_of(driver.model_dump(), self.site.config.state / "driver")

    @property
    def _folders(self) -> tuple[Path, ...]:
        state = self.site.config.state
        return state, state / "circuits", state / "reports", state / "driver", self.site.config.bindings

    def _make_folders(self) -> None:
        """State for SlurmUser alone; bindings, which it writes, for all to read."""
        state, bindings = self.site.config.state, self.site.config.bindings
        for top, mode in ((state, 0o700), (bindings, 0o755)):
            self._make_top(top, mode)
        for name in ("circuits", "reports", "driver"):
            make_private(state / name)

    def _make_top(self, top: Path, mode: int) -> None:
        """A folder of SlurmUser; InputError for a link, and for what belongs to another account."""
        top.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            top.mkdir(mode)
        try:
            folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError as error:
            problem = f"is no folder of its own ({error.strerror}); name one in slurm.yaml, not a link to it"
            raise InputError(str(top), "", problem) from None
        try:
            if os.fstat(folder).st_uid not in (0, os.geteuid(), self._account.pw_uid):
                problem = f"belongs to another account than root and {self._account.pw_name}; name another folder"
                raise InputError(str(top), "", problem)
            os.fchmod(folder, mode)
            if os.geteuid() == 0:
                os.fchown(folder, self._account.pw_uid, self._account.pw_gid)
        finally:
            os.close(folder)

    def _python(self) -> Path:
        """An interpreter that SlurmUser can run, with this package; InputError where there is none."""
        kind = self.site.config.driver.kind
        wanted = "switch_drivers.ocs.driver" if kind == "ocs" else "slurm.hooks"
        probe = [*scripts.python_options(kind), "-c", f"import planner.integrations.{wanted}"]
        for python in (sys.executable, shutil.which("python3", path="/usr/bin:/usr/local/bin")):
            if python and self._as_slurm_user([python, *probe]) is None:
                return Path(python)
        problem = f"{self._account.pw_name} (SlurmUser) cannot run Python 3.11 with {scripts.package_folder()}"
        raise InputError(str(self.slurm_conf), "", f"{problem}; install photonplan where that account can read it")

    def _try_hooks(self) -> None:
        """Run the hooks as slurmctld will, for a job that there is not."""
        for path in (self.programs.connect, self.programs.release):
            if (said := self._as_slurm_user([str(path)])) is not None:
                raise InputError(str(path), "", f"does not run as {self._account.pw_name} (SlurmUser): {said}")

    def _as_slurm_user(self, command: list[str]) -> str | None:
        """Run a command as the user of slurmctld; returns its error, None for none."""
        account = self._account
        root = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        environment = {"PYTHONPATH": str(scripts.package_folder()), "SLURM_JOB_ID": "0", "PATH": os.defpath}
        try:
            done = subprocess.run(
                command, env=environment, cwd="/", capture_output=True, text=True, timeout=_START_S, check=False, **root
            )  # type: ignore[call-overload]
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        lines: list[str] = done.stderr.strip().splitlines()
        return None if done.returncode == 0 else (lines or [f"exit code {done.returncode}"])[-1]

    def _replace_conf(self, text: str) -> None:
        """slurm.conf with its owner and mode, in place of the file that a link may lead to."""
        path = self.slurm_conf.resolve()
        status = path.stat()
        write_private(path, text, status.st_mode & 0o7777)
        if os.geteuid() == 0:
            os.chown(path, status.st_uid, status.st_gid)
