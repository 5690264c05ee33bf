"""Tables of `planner slurm status`."""

from typing import TYPE_CHECKING, Any

from planner.cli.output import console, plain, table

if TYPE_CHECKING:
    from planner.integrations.slurm.status import StatusReport

MOST_SHOWN = 30
"""characters of the number of a job"""


def show(status: "StatusReport") -> None:
    """Tables of who runs and who waits, and lines on everything else."""
    screen = console()
    if status.running:
        rows = [_running(job) for job in status.running]
        screen.print(table(("running", "user", "state", "GPUs", "circuits"), rows, right=("running",)))
    if status.waiting:
        rows = [_waiting(job) for job in status.waiting]
        screen.print(table(("waiting", "user", "asks for", "why"), rows, right=("waiting",), wrap=("why",)))
    since = f", last tick {status.age_s:.1f} s ago" if status.is_alive else "; start it: planner slurm run"
    print(f"daemon: {'runs' if status.is_alive else 'does not run'}{since}")
    print(f"slurm: {plain(status.slurm) or 'answers'}")
    for name, parts in (("failed", status.failed), ("drained", status.drained)):
        if parts:
            print(f"{name}: {', '.join(parts)}")
    for line in status.troubles:
        print(plain(line))
    print("\n".join(status.differences) or "Slurm, journal and switches agree")


def _running(job: dict[str, Any]) -> tuple[str, ...]:
    nodes = " ".join(f"{node}:{','.join(map(str, indices))}" for node, indices in job["nodes"].items())
    circuits = sum(len(held["circuits"]) for held in job["circuits"])
    light = f"{circuits} {'on' if job['on'] else 'off'}" if circuits else "none"
    return _shown(job), plain(job["user"]), job["state"] or "unknown", nodes, light


def _waiting(job: dict[str, Any]) -> tuple[str, ...]:
    fewest, most = job["nodes"]
    nodes = f"{fewest}" if fewest == most else f"{fewest}-{most}"
    return _shown(job), plain(job["user"]), f"{nodes} x {job['gpus']}", plain(job["why"])


def _shown(job: dict[str, Any]) -> str:
    """Number of a job; of an array with the first of the tasks that it still has."""
    text = plain(job["shown"])
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 4]}...]"
