"""Texts of what slurmd runs on each node around a job, as root, so that a GPU opens to nobody but the user whose job
has it. They use the shell, coreutils and setpriv of util-linux alone, and hold nothing of what users type."""

import shlex

from planner.integrations.slurm.config import SlurmSite
from planner.integrations.slurm.scripts import WRITTEN

KEPT = "/run/photonplan-gpus"
"""folder of a node, of root alone: indices of the GPUs that are open, by job"""
_COMMON = """#!/bin/sh
# {written}
# Device files of GPUs belong to root and open to nobody else but the user of the job that has them, while it has them.
job=${{SLURM_JOB_ID-}} user=${{SLURM_JOB_UID-}} group=${{SLURM_JOB_GID-}} node=${{SLURMD_NODENAME-}}
case $job in '' | *[!0-9]*) exit 0 ;; esac
case $user in '' | *[!0-9]*) exit 0 ;; esac
case $node in '' | *[!A-Za-z0-9._-]*) exit 0 ;; esac
device() {{ printf '%s%s%s' {before} "$1" {after}; }}
owner() {{ stat -c %u "$(device "$1")"; }}
"""
_PROLOG = """
index=0
while [ "$index" -lt {gpus} ]; do
  [ ! -c "$(device "$index")" ] || [ "$(owner "$index")" != 0 ] || chmod 600 "$(device "$index")" || exit 1
  index=$((index + 1))
done
binding={folder}/$job.$node
as_user() {{ setpriv --reuid "$user" --regid "${{group:-$user}}" --clear-groups "$@"; }}
indices=$(head -n 1 "$binding" 2>/dev/null || as_user head -n 1 "$binding" 2>/dev/null)
case $indices in '' | *[!0-9,]*) exit 0 ;; esac
mkdir -p -m 700 {kept}
printf '%s\\n' "$indices" >"{kept}/$job.$node" || exit 1
IFS=,
for index in $indices; do
  chown "$user" "$(device "$index")" && chmod 600 "$(device "$index")" || exit 1
done
exit 0
"""
_EPILOG = """
kept={kept}/$job.$node
indices=
[ -r "$kept" ] && IFS= read -r indices <"$kept"
case $indices in *[!0-9,]*) indices= ;; esac
IFS=,
for index in $indices; do
  [ "$(owner "$index")" != "$user" ] || chown 0 "$(device "$index")"
done
rm -f "$kept"
exit 0
"""


def prolog(site: SlurmSite) -> str:
    """Prolog: close what nobody has, then open the GPUs of the job that starts to its user."""
    return _filled(_COMMON + _PROLOG, site)


def epilog(site: SlurmSite) -> str:
    """Epilog: close them again."""
    return _filled(_COMMON + _EPILOG, site)


def _filled(text: str, site: SlurmSite) -> str:
    config = site.config
    assert config.gpu_devices is not None
    before, _, after = config.gpu_devices.partition("{}")
    return text.format(
        written=WRITTEN, before=shlex.quote(before), after=shlex.quote(after), gpus=site.gpus_per_node,
        folder=shlex.quote(str(config.bindings)), kept=KEPT,
    )  # fmt: skip
