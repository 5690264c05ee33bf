#!/usr/bin/env bash
# A module of Python, such as pytest, with the Slurm of another Debian:
#   tests/slurm/on_debian.sh trixie FOLDER pytest -x tests/slurm
# As root. FOLDER becomes a root of that Debian, by debootstrap, where there is none; it is used as it is from then on.
# All mounts and processes are those of this script alone: they are gone when it ends, and `rm -r FOLDER` is safe then.
set -euo pipefail

suite=$1 folder=$2
shift 2
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ "$(id -u)" = 0 ] || { echo "$0: needs root" >&2; exit 2; }
if [ ! -x "$folder/usr/sbin/slurmctld" ]; then
  debootstrap --variant=minbase --include=slurm-wlm,slurm-client,munge,procps,python3-minimal,lua5.3 "$suite" "$folder"
fi
folder=$(cd "$folder" && pwd)
readarray -t prefixes < <(python3 -c 'import sys; print(sys.prefix, sys.base_prefix, sep="\n")' | sort -u)

export SLURM_ROOT=$folder SLURM_TESTS=$repository SLURM_PYTHON; SLURM_PYTHON=$(command -v python3)
exec unshare --mount --propagation private --pid --fork --kill-child bash -euo pipefail -c '
  for path in /sys /dev "$SLURM_TESTS" "$@"; do
    [ "$path" != -- ] || break
    [ "$path" != /usr ] || continue
    mkdir -p "$SLURM_ROOT$path"
    mount --rbind "$path" "$SLURM_ROOT$path"
  done
  while [ "$1" != -- ]; do shift; done
  shift
  mount -t proc proc "$SLURM_ROOT/proc"
  touch "$SLURM_ROOT/etc/hosts"
  mount --bind /etc/hosts "$SLURM_ROOT/etc/hosts"
  mount -t tmpfs tmpfs "$SLURM_ROOT/tmp"
  chmod 1777 "$SLURM_ROOT/tmp"
  export PYTHONPATH=$SLURM_TESTS PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TMPDIR=/tmp
  exec chroot "$SLURM_ROOT" sh -c "cd \"\$SLURM_TESTS\" && exec \"\$SLURM_PYTHON\" -m \"\$@\"" sh "$@"
' bash "${prefixes[@]}" -- "$@"
