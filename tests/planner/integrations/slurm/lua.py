"""photonplan.lua under a Lua of this machine, with a fake of what slurmctld gives it."""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import planner.integrations.slurm
from planner.integrations.slurm.scripts import lua_quoted

Fields = Mapping[str, str | int]
MODULE = Path(planner.integrations.slurm.__file__).with_name("photonplan.lua")
NO_VAL, NO_VAL16, INFINITE = 4294967294, 65534, 4294967295
_UNSET_16 = ("ntasks_per_node", "ntasks_per_gpu", "shared", "contiguous", "cpus_per_task", "pn_min_cpus")
_UNSET_32 = ("min_nodes", "max_nodes", "num_tasks", "priority", "nice", "time_limit", "req_switch", "het_job_offset")
UNSET: dict[str, str | int] = dict.fromkeys(_UNSET_16, NO_VAL16) | dict.fromkeys(_UNSET_32, NO_VAL) | {"begin_time": 0}
"""numbers as slurmctld 22.05 passes them where the user gave none; texts are nil"""
_FAKE = """
local said
slurm = {SUCCESS = 0, ERROR = -1, ESLURM_ACCESS_DENIED = 2002, NO_VAL = 4294967294, NO_VAL16 = 65534,
  NO_VAL64 = 18446744073709551614, INFINITE = 4294967295}
slurm.log_info = function(...) string.format(...) end
slurm.log_error = function(...) said = string.format(...) end
slurm.log_user = function(...) said = (said or "") .. string.format(...) end
local function hex(value)
  if type(value) == "number" then return string.format("=%d", value) end
  return (string.gsub(value, ".", function(c) return string.format("%02x", string.byte(c)) end))
end
local function show(code, job)
  io.write("=", string.format("%d", code), " said:", hex(said or ""))
  for key, value in pairs(job) do io.write(" ", key, ":", hex(value)) end
  io.write("\\n")
  said = nil
end
"""


@dataclass(frozen=True)
class Answer:
    """What came of one call."""

    code: int
    said: str
    fields: dict[str, str | int]


@cache
def interpreter() -> str:
    """A Lua; slurmctld of Debian has 5.1 inside, tests run 5.3."""
    found = shutil.which("lua5.3") or shutil.which("lua5.1") or shutil.which("lua")
    assert found, "no lua: apt-get install lua5.3"
    return found


def submit(jobs: Sequence[Fields], *, site: str | None = None) -> list[Answer]:
    """Each job given to submit, in one process, by user 1000; gpu is the default partition.

    `site`: the Lua table that an installation puts in.
    """
    calls = [f"local job = {_table(UNSET | dict(job))}\nshow(m.submit(job, parts, 1000), job)" for job in jobs]
    return _run(calls, site)


def modify(changes: Sequence[tuple[Fields, Fields]], *, uid: int = 1000, site: str | None = None) -> list[Answer]:
    """Each change of a job given to modify."""
    calls = [
        f"local job, change = {_table(job)}, {_table(UNSET | dict(change))}\n"
        f"show(m.modify(change, job, parts, {uid}), change)"
        for change, job in changes
    ]
    return _run(calls, site)


def _run(calls: Sequence[str], site: str | None) -> list[Answer]:
    text = MODULE.read_text(encoding="utf-8")
    if site is not None:
        text, count = re.subn(r"^local site = .*$", lambda _: f"local site = {site}", text, flags=re.M)
        assert count == 1
    blocks = "".join(f"do\n{call}\nend\n" for call in calls)
    parts = "local parts = {cpu = {flag_default = 0}, gpu = {flag_default = 1}}"
    program = f"{_FAKE}\nlocal m = (function()\n{text}\nend)()\n{parts}\n{blocks}"
    done = subprocess.run([interpreter(), "-"], input=program.encode(), capture_output=True, timeout=240)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return [_answer(line) for line in done.stdout.decode().splitlines()]


def _answer(line: str) -> Answer:
    code, *pairs = line.split(" ")
    fields = dict(pair.split(":", 1) for pair in pairs)
    read = {key: _value(text) for key, text in fields.items()}
    said = read.pop("said")
    assert isinstance(said, str)
    return Answer(int(code[1:]), said, read)


def _value(text: str) -> str | int:
    return int(text[1:]) if text.startswith("=") else bytes.fromhex(text).decode(errors="surrogateescape")


def _table(fields: Fields) -> str:
    items = (f"[{lua_quoted(k)}] = {v if isinstance(v, int) else lua_quoted(v)}" for k, v in fields.items())
    return "{" + ", ".join(items) + "}"
