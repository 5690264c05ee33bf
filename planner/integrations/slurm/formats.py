"""Rows from the JSON that Slurm prints, in the format of each release. A document names its format in `meta`.

22.05 has numbers where later releases have {"set", "infinite", "number"}, and one state where they have a list; its
sinfo lists nodes one by one, as `scontrol show nodes` does later. Of the fields that are read here, formats from
v0.0.40 on have the same.
"""

import re
from dataclasses import dataclass
from typing import Any

from planner.integrations.slurm.commands import SlurmDownError
from planner.integrations.slurm.rows import JobRow, NodeRow


@dataclass(frozen=True)
class Format:
    """One way to print jobs and nodes."""

    release: str
    """of Slurm that prints it unasked"""
    nodes: tuple[str, ...] = ("scontrol", "show", "nodes", "--all", "--json")
    """command that lists nodes one by one"""
    is_tried: bool = False
    """with a Slurm of that release; else as 24.11 still writes it"""


FORMATS = {
    "openapi/v0.0.38": Format("22.05", ("sinfo", "--all", "--json"), is_tried=True),
    "data_parser/v0.0.40": Format("23.11"),
    "data_parser/v0.0.41": Format("24.05"),
    "data_parser/v0.0.42": Format("24.11", is_tried=True),
}
JOBS = ("squeue", "--all", "--json")
"""command that lists all jobs, of hidden partitions too"""
_ASKS = ("tres_per_node", "tres_per_job", "tres_per_socket", "tres_per_task")
_GONE = {"DOWN", "FAIL", "ERROR", "FUTURE"}
"""not who sleeps to save power: Slurm wakes it for a job (SuspendProgram)"""
_LEFT = {"DRAIN", "FAIL", "MAINTENANCE", "RESERVED", "REBOOT_REQUESTED", "REBOOT_ISSUED"}
"""RESERVED: of a reservation, which no job of the planner names"""
_STATES_FIRST = (
    "COMPLETING", "STAGE_OUT", "CONFIGURING", "RESIZING", "REQUEUE_HOLD", "SPECIAL_EXIT", "STOPPED", "REVOKED",
)  # fmt: skip
"""flags that 22.05 prints in place of the state beside which later releases list them, the first that holds"""


def known_releases() -> str:
    """For people."""
    return ", ".join(each.release for each in FORMATS.values())


def release_in(said: str) -> str:
    """The release that `slurmctld -V` names: 24.11 of `slurm-wlm 24.11.5`; what it said where it names none."""
    match = re.search(r"\b(\d+\.\d+)\.\d+", said)
    return match[1] if match else said.strip()


def format_of(document: dict[str, Any]) -> Format:
    """The format of a document; SlurmDownError where it is not known: nothing may be concluded from it."""
    meta = _mapping(document.get("meta"))
    plugin = _mapping(meta.get("plugin"))
    name = str(plugin.get("data_parser") or plugin.get("type") or "without a name")
    if name not in FORMATS:
        release = _mapping(meta.get("slurm") or meta.get("Slurm")).get("release", "unknown")
        problem = f"Slurm {release} prints JSON of the format {name}, which is not known here"
        raise SlurmDownError(f"{problem}; known are those of Slurm {known_releases()}")
    return FORMATS[name]


def rows_of(document: dict[str, Any], name: str) -> list[Any]:
    """A list of a document; SlurmDownError where it has none of this name."""
    rows = document.get(name)
    if not isinstance(rows, list):
        raise SlurmDownError(f"Slurm's JSON has no list of {name}")
    return rows


def _mapping(value: Any) -> dict[str, Any]:
    """What names something else, or nothing where it does not."""
    return value if isinstance(value, dict) else {}


def job_row(row: dict[str, Any]) -> JobRow:
    """One job; SlurmDownError where it is not as its format has it."""
    try:
        row = {key: _plain(value) for key, value in row.items()}
        limit = row["time_limit"]
        tasks = row["array_task_string"].partition("%")[0]
        is_last = tasks.isdigit()  # of its array, which scontrol does not split: it stands for this one task
        return JobRow(
            job_id=row["job_id"],
            state=_state(row["job_state"]),
            reason=row["state_reason"],
            is_held=row["priority"] == 0,
            user=row["user_name"],
            user_id=row["user_id"],
            account=row["account"],
            comment=row["comment"],
            admin_comment=row["admin_comment"],
            nice=row["nice"] or 0,
            time_limit_s=None if limit is None else limit * 60.0,
            submitted_s=row["submit_time"],
            eligible_s=row["eligible_time"],
            restarts=row["restart_cnt"],
            can_requeue=row["requeue"] and row["batch_flag"],
            dependency=row["dependency"],
            nodes=row["nodes"],
            takes_gpus=bool(row["gres_detail"]) or any("gpu" in row[ask] for ask in _ASKS),
            array_id=row["array_job_id"],
            task=int(tasks) if is_last else row["array_task_id"],
            tasks="" if is_last else tasks,
            most_tasks=row["array_max_tasks"] or 0,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise SlurmDownError(f"a job of squeue --json is not as its format has it: {error!r}") from None


def node_row(row: dict[str, Any]) -> NodeRow:
    """One node; SlurmDownError where it is not as its format has it."""
    try:
        state = row["state"]
        flags = {each.upper() for each in ([state, *row["state_flags"]] if isinstance(state, str) else state)}
        return NodeRow(row["name"], not flags.isdisjoint(_GONE), not flags.isdisjoint(_LEFT), row["reason"])
    except (KeyError, TypeError, AttributeError) as error:
        raise SlurmDownError(f"a node of Slurm's JSON is not as its format has it: {error!r}") from None


def _plain(value: Any) -> Any:
    """A number, or None where there is none or no limit."""
    if isinstance(value, dict) and "infinite" in value:
        return value["number"] if value["set"] and not value["infinite"] else None
    return value


def _state(value: str | list[str]) -> str:
    if isinstance(value, str):
        return value
    return next((flag for flag in _STATES_FIRST if flag in value), value[0] if value else "UNKNOWN")
