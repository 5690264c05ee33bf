"""Checks a site's slurm.conf: obstacles, each with its remedy, and the settings of our snippet."""

import os
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from planner.integrations.slurm.commands import Commands, SlurmError
from planner.integrations.slurm.config import SlurmSite
from planner.integrations.slurm.formats import FORMATS, known_releases, release_in
from planner.integrations.slurm.scripts import WRITTEN
from planner.integrations.slurm.slurm_conf import SlurmConf
from planner.model.errors import InputError

_UNFIT = re.compile(r"""["#\\*?\[\]{}%$`]|[^ -~]""")
_ADD = {
    "PrologSlurmctld": "{path} || exit 1", "EpilogSlurmctld": "{path}", "TaskProlog": "{path}",
    "Prolog": "{path} || exit 1", "Epilog": "{path}",
}  # fmt: skip
"""line by which a program of the site calls ours"""
_ADMIN_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")


@dataclass(frozen=True)
class Programs:
    """Paths of our programs."""

    connect: Path
    release: Path
    task_prolog: Path
    lua: Path
    prolog: Path
    epilog: Path
    closes_gpus: bool
    """whether the last two are wanted"""

    def hooks(self) -> dict[str, Path]:
        """By the setting that names them."""
        found = {"PrologSlurmctld": self.connect, "EpilogSlurmctld": self.release, "TaskProlog": self.task_prolog}
        return found | ({"Prolog": self.prolog, "Epilog": self.epilog} if self.closes_gpus else {})


def require_release() -> str:
    """The release of the slurmctld of this machine, such as 24.11; InputError where what it prints cannot be read."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_ADMIN_FOLDERS])
    program = shutil.which("slurmctld", path=path)
    if program is None:
        problem = "is on none of the folders of PATH; run this on its machine, with its folder in PATH"
        raise InputError("slurmctld", "", problem)
    try:
        release = release_in(Commands().run(program, "-V"))
    except SlurmError as error:
        raise InputError(program, "-V", f"does not tell its version: {error}") from None
    if release not in {each.release for each in FORMATS.values()}:
        problem = f"is of Slurm {release}, whose output is not known here; known are {known_releases()}"
        raise InputError(program, "-V", f"{problem}. Nothing was changed: GPU jobs would be held for ever")
    return release


def untried(release: str) -> str:
    """A warning on a release of Slurm that was not tried; empty where it was."""
    if any(each.release == release and each.is_tried for each in FORMATS.values()):
        return ""
    tried = " and ".join(each.release for each in FORMATS.values() if each.is_tried)
    return f"Slurm {release} was not tried: its JSON is read as 24.11 writes it for older clients; {tried} were tried"


def open_gpus(site: SlurmSite) -> str:
    """A warning where nothing closes the GPUs of a node to other jobs; empty where the planner does."""
    if site.config.gpu_devices is not None:
        return ""
    problem = "EVERY JOB, ALSO ONE WITHOUT GPUS, CAN OPEN EVERY GPU OF ITS NODES, WHOEVER COMPUTES ON IT"
    return f"{problem}. To close them: gpu_devices: /dev/nvidia{{}} in slurm.yaml"


def settings_of(conf: SlurmConf, programs: Programs) -> dict[str, str]:
    """Settings of the snippet: all but what the site sets itself and passes on to us; InputError with the remedy."""
    found: dict[str, str] = {}
    plugins = [name.removeprefix("job_submit/") for name in conf.listed("JobSubmitPlugins")]
    if not plugins:
        found["JobSubmitPlugins"] = "lua"
    elif "lua" not in plugins:
        both = ",".join([*plugins, "lua"])
        problem = f"is {','.join(plugins)}; write JobSubmitPlugins={both}"
        raise InputError(str(conf.path), "JobSubmitPlugins", problem)
    for key, ours in programs.hooks().items():
        if _UNFIT.search(str(ours)):
            problem = "has a character that slurm.conf cannot hold; take a folder of letters, digits, spaces and -_.,'"
            raise InputError(str(ours), "", problem)
        theirs = conf.value(key)
        if not theirs:
            found[key] = str(ours)
        elif not _calls(Path(theirs), quoted := shlex.quote(str(ours))):
            line = _ADD[key].format(path=quoted)
            raise InputError(str(conf.path), key, f"is {theirs} and can be given once; add this line to it: {line}")
    return found


def require_own_job_submit(path: Path, lua: Path) -> bool:
    """True if job_submit.lua is ours to write; InputError where the site has one that does not call ours."""
    if not path.exists() or WRITTEN in path.read_text(encoding="utf-8", errors="replace"):
        return True
    if _calls(path, lua.name):
        return False
    problem = f"is the site's own; call {lua.name} from it, as the first lines of that file show, and run this again"
    raise InputError(str(path), "", problem)


def require_fit(conf: SlurmConf, site: SlurmSite) -> None:
    """InputError where Slurm does not count GPUs as the planner needs it, or knows other nodes."""
    where = str(conf.path)
    if (kind := conf.value("SelectType") or "not given") != "select/cons_tres":
        raise InputError(where, "SelectType", f"is {kind}; the planner needs SelectType=select/cons_tres")
    if "gpu" not in conf.listed("GresTypes"):
        raise InputError(where, "GresTypes", "does not hold gpu; add it, with Gres=gpu:... on each NodeName")
    gpus = conf.gpus_by_node()
    for node in site.server_of_node:
        if node not in gpus:
            raise InputError(where, "NodeName", f"there is no {node}, which slurm.yaml names; correct one of the files")
        if gpus[node] != site.gpus_per_node:
            problem = f"{node} has {gpus[node]} GPUs, servers of the cluster have {site.gpus_per_node}; correct one"
            raise InputError(where, "NodeName", problem)
    cgroup = conf.path.with_name("cgroup.conf")
    if cgroup.exists() and re.search(r"^\s*ConstrainDevices\s*=\s*yes", cgroup.read_text(), re.I | re.M):
        problem = (
            "is yes: tasks could open only GPUs that Slurm picked, not those that were planned; say no, and let the "
            "planner close them: gpu_devices: /dev/nvidia{} in slurm.yaml"
        )
        raise InputError(str(cgroup), "ConstrainDevices", problem)


def _calls(program: Path, name: str) -> bool:
    """True if a script of the site names ours, as our notes ask."""
    return program.is_file() and name in program.read_text(encoding="utf-8", errors="replace")
