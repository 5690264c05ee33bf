"""Plans for other programs: algorithms, execution traces, tuning tables, circuits and graphs."""

from planner.exports.files import DEFAULT_MESSAGE_BYTES, FORMATS, export_files
from planner.exports.groups import GroupRun, group_runs

__all__ = ["DEFAULT_MESSAGE_BYTES", "FORMATS", "GroupRun", "export_files", "group_runs"]
