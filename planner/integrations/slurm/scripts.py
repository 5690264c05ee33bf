"""Texts of what slurmctld and nodes run. Names of files are quoted; nothing of what users type comes in."""

import importlib.resources
import shlex
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from planner.integrations.slurm.config import SlurmSite
from planner.integrations.slurm.shapes import Shapes, tried

WRITTEN = "Written by `planner slurm install`; a change is lost when it runs again."
_SITE = "local site = {partitions = {}, gpus_per_node = 8, admins = {[0] = true}} -- by `planner slurm install`\n"
_TASK_PROLOG = """#!/bin/sh
# {written}
# Slurm runs this before each task, as the user of the job, and sets what it prints. Nothing outside the shell is used.
# Slurm counts GPUs, the planner says which: a task whose job has GPUs but no binding on this node gets none.
job=${{SLURM_JOB_ID-}} node=${{SLURMD_NODENAME-}} gpus=${{SLURM_JOB_GPUS-}}${{SLURM_STEP_GPUS-}}${{GPU_DEVICE_ORDINAL-}}
case $job in '' | *[!0-9]*) exit 0 ;; esac
case $node in '' | *[!A-Za-z0-9._-]*) exit 0 ;; esac
{partitions}binding={folder}/$job.$node
indices=
[ -r "$binding" ] && IFS= read -r indices <"$binding"
case $indices in *[!0-9,]*) indices= ;; esac
if [ -n "$indices" ] || [ -n "$gpus" ]; then
  [ -n "$indices" ] || echo "print photonplan: job $job has GPUs on $node, but the planner has not said which"
  echo "export CUDA_VISIBLE_DEVICES=$indices"
  echo "export ROCR_VISIBLE_DEVICES=$indices"
fi
exit 0
"""


def package_folder() -> Path:
    """The folder from which this package is imported."""
    return Path(__file__).resolve().parents[3]


def python_options(driver: str) -> list[str]:
    """Of the interpreter of hooks: most kinds of drivers need nothing that is installed, and start faster so."""
    return ["-P", "-s"] if driver == "ocs" else ["-P", "-S", "-s"]


def hook_script(action: str, python: Path, state: Path, driver: str) -> str:
    """PrologSlurmctld (connect) or EpilogSlurmctld (release); `driver`: its kind."""
    command = [str(python), *python_options(driver), "-m", "planner.integrations.slurm.hooks", action, str(state)]
    path = shlex.quote(str(package_folder()))
    return f"#!/bin/sh\n# {WRITTEN}\nPYTHONPATH={path} exec {shlex.join(command)}\n"


def task_prolog(site: SlurmSite) -> str:
    """TaskProlog: which accelerators the tasks of a job see on a node."""
    config = site.config
    named = " | ".join(map(shlex.quote, config.partitions))
    only = f"case ${{SLURM_JOB_PARTITION-}} in {named}) ;; *) exit 0 ;; esac\n" if named else ""
    return _TASK_PROLOG.format(written=WRITTEN, partitions=only, folder=shlex.quote(str(config.bindings)))


def lua_module(site: SlurmSite, admins: set[int], shapes: Shapes, types: Collection[str]) -> str:
    """photonplan.lua for this site: names of partitions and workloads are letters, digits, _ . - alone."""
    text = (
        importlib.resources.files("planner.integrations.slurm").joinpath("photonplan.lua").read_text(encoding="utf-8")
    )
    assert text.count(_SITE) == 1
    partitions = ", ".join(f'["{name}"] = true' for name in site.config.partitions)
    uids = ", ".join(f"[{uid}] = true" for uid in sorted(admins))
    tried_nodes = ", ".join(f"[{gpus}] = {tried(site, gpus)}" for gpus in range(1, site.gpus_per_node + 1))
    fields = {
        "partitions": f"{{{partitions}}}", "gpus_per_node": str(site.gpus_per_node), "admins": f"{{{uids}}}",
        "nodes": str(site.cluster.fabric.num_servers), "default_workload": f'"{site.config.default_workload}"',
        "runs": f"{{{', '.join(_runs(name, by_gpus) for name, by_gpus in shapes.items())}}}",
        "tried": f"{{{tried_nodes}}}",
    }  # fmt: skip
    if types:
        fields["types"] = f"{{{', '.join(f'[{lua_quoted(name)}] = true' for name in sorted(types))}}}"
    rendered = f"{{{', '.join(f'{name} = {value}' for name, value in fields.items())}}}"
    return f"-- {WRITTEN}\n" + text.replace(_SITE, f"local site = {rendered}\n")


def _runs(workload: str, by_gpus: Mapping[int, Sequence[int]]) -> str:
    """["llama"] = {[1] = "1-4,6", [2] = ""}."""
    texts = ", ".join(f'[{gpus}] = "{_ranges(nodes)}"' for gpus, nodes in by_gpus.items())
    return f'["{workload}"] = {{{texts}}}'


def _ranges(numbers: Sequence[int]) -> str:
    """1-4,6 of 1, 2, 3, 4, 6."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ",".join(f"{low}-{high}" if low < high else str(low) for low, high in found)


def job_submit(module: Path, text: str) -> str:
    """job_submit.lua of a site that has none of its own; it changes with the text of the module, so that slurmctld,
    which looks at this file alone, reads both again."""
    return f"""-- {WRITTEN}
-- for {module.name} {sha256(text.encode()).hexdigest()[:16]}
local photonplan = dofile({lua_quoted(str(module))})

function slurm_job_submit(job_desc, part_list, submit_uid)
  return photonplan.submit(job_desc, part_list, submit_uid)
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  return photonplan.modify(job_desc, job_rec, part_list, modify_uid)
end

return slurm.SUCCESS
"""


def lua_quoted(text: str) -> str:
    """A Lua string that holds exactly this text."""
    plain = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._- ")
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03d}" for byte in text.encode()) + '"'


def snippet(settings: dict[str, str]) -> str:
    """photonplan.conf: what slurm.conf includes."""
    lines = "".join(f'{key}="{value}"\n' if "/" in value else f"{key}={value}\n" for key, value in settings.items())
    return f"""# {WRITTEN}
# GPUs are counted by Slurm and named by the planner (TaskProlog), so cgroup.conf must not say ConstrainDevices=yes.
# Prolog and Epilog close GPUs to all but the user of the job that has them; without them every job can open them all.
{lines}"""
