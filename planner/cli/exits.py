"""Exit codes, and what counts as bad input."""

import sys

import typer

from planner.model.errors import InputError, UnwrittenError

PLAN, VIOLATIONS, BAD_INPUT, INFEASIBLE, NO_PLAN, REFUSED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

EXIT_CODES = """
Exit codes: 0 a plan, or whatever was asked for; 1 a given plan that breaks a rule, or a crash; 2 bad input, or
output that cannot be written; 3 proven that the required jobs and residents cannot all run; 4 no plan found in time;
5 internal error: the check refuses the plan that was found, which is withheld and lies in a file to report.
"""

_CommandLineError: type[Exception] = typer.BadParameter.__mro__[2]
"""what the command-line library raises for wrong options and arguments"""


def report_bad_input(error: Exception) -> int:
    """The exit code of bad input, which is told in one line on stderr; any other error is raised again."""
    message = _message_of(error)
    if message is None:
        raise error
    print(f"error: {message}", file=sys.stderr)
    return BAD_INPUT


def _message_of(error: Exception) -> str | None:
    """One line for a user, or None where the error is no fault of the input."""
    if isinstance(error, InputError | UnwrittenError):
        text = str(error)
    elif isinstance(error, _CommandLineError):
        text = _of_command_line(error)
    else:
        return None
    return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))


def _of_command_line(error: Exception) -> str:
    format_message = getattr(error, "format_message", error.__str__)
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "planner")
    said = str(format_message()).replace("Value error, ", "").rstrip(".") or _missing_command(context)
    if (of_validator := getattr(error.__cause__, "errors", None)) is not None:
        from planner.model.validation_messages import message

        said = said.replace(str(getattr(error, "message", "")), message(of_validator()[0]))
    return f"{command}: {said}; see `{command} --help`"


def _missing_command(context: typer.Context | None) -> str:
    """What is missing where a command with commands of its own is given none, which has printed its help."""
    return f"a command is missing; one of {', '.join(getattr(context.command, 'commands', ()))}" if context else ""
