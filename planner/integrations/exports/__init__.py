"""Plans for other programs: algorithms, execution traces, tuning tables, circuits and graphs."""

from planner.integrations.exports.files import DEFAULT_MESSAGE_BYTES, FORMATS, Source, export_files, warnings_of
from planner.integrations.exports.groups import GroupRun
from planner.integrations.exports.held import Held
from planner.integrations.exports.leftovers import leftovers

__all__ = ["DEFAULT_MESSAGE_BYTES", "FORMATS", "GroupRun", "Held", "Source", "export_files", "leftovers", "warnings_of"]
