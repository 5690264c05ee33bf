"""Changes of single fields of a YAML or JSON text; comments and everything else stay as they are written."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import yaml

from planner.model.errors import InputError
from planner.model.files import parse_data
from planner.model.files.strict_yaml import StrictLoader, parse_yaml

Step = str | int
"""a key of a mapping, or the number of an item of a list"""
_WHOLE = 10**9
"""columns of a line that is never broken"""


def with_value(text: str, path: Sequence[Step], value: Any) -> str:
    """The text with a field set to a value, which is added where it is absent; mappings on the way are made."""
    at, steps = _reached(text, path)
    inner = value
    for each in reversed(steps[1:]):
        inner = {str(each): inner}
    changed = _added(text, at, str(steps[0]), inner) if steps else _replaced(text, at, _flow(text, value))
    return _verified(text, changed, path, lambda holder, last: holder.__setitem__(last, value))


def with_block(text: str, path: Sequence[Step], block: str) -> str:
    """The text with an item written anew, as YAML of its own lines."""
    at, steps = _reached(text, path)
    if steps:
        raise _unreachable(path)
    value = read_value(block, "YAML")
    if _is_json(text) or _is_in_flow(text, path):
        changed = _replaced(text, at, _flow(text, value))
    else:
        changed = _replaced(text, at, _indented(block, at.start_mark.column))
    return _verified(text, changed, path, lambda holder, last: holder.__setitem__(last, value))


def with_item(text: str, path: Sequence[Step], block: str) -> str:
    """The text with one more item at the end of a list, given as YAML of its own lines; an absent list is made."""
    value = read_value(block, "YAML")
    at, steps = _reached(text, path)
    if steps or not isinstance(at, yaml.SequenceNode) or not at.value:
        return with_value(text, path, [value])
    end = _end(at.value[-1])
    if at.flow_style:
        changed = f"{text[:end]}, {_flow(text, value)}{text[end:]}"
    else:
        indent, after = " " * at.start_mark.column, _line_end(text, end)
        changed = f"{text[:after]}\n{indent}- {_indented(block, len(indent) + 2)}{text[after:]}"
    return _verified(text, changed, path, lambda holder, last: holder[last].append(value))


def without(text: str, path: Sequence[Step]) -> str:
    """The text without a field or an item; unchanged where there is none."""
    holder, steps = _reached(text, path[:-1])
    number = None if steps else _number_in(holder, path[-1])
    if number is None:
        return text
    spans = [_span(entry) for entry in holder.value]
    start, end = spans[number]
    if len(spans) == 1:
        changed = _replaced(text, holder, "[]" if isinstance(holder, yaml.SequenceNode) else "{}")
    elif number + 1 < len(spans) and (holder.flow_style or _is_behind_dash(text, start, holder)):
        changed = text[:start] + text[spans[number + 1][0] :]
    elif holder.flow_style:
        changed = text[: spans[number - 1][1]] + text[end:]
    else:
        changed = text[: text.rfind("\n", 0, start) + 1] + text[_line_end(text, end) + 1 :]
    return _verified(text, changed, path, lambda within, last: within.__delitem__(last))


def block_of(text: str, path: Sequence[Step]) -> str:
    """How a part is written, as lines of its own."""
    at, steps = _reached(text, path)
    if steps:
        raise _unreachable(path)
    if _is_json(text):
        value = read_value(text[at.start_mark.index : _end(at)], "text")
        return yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    first, *lines = text[at.start_mark.index : _end(at)].split("\n")
    indent = at.start_mark.column
    return "\n".join([first, *(line[indent:] if not line[:indent].strip() else line for line in lines)]) + "\n"


def read_value(text: str, name: str) -> Any:
    """What a piece of YAML says; InputError names its line."""
    try:
        return parse_yaml(text)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(name, line, f"is no valid YAML: {error.problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(name, "", f"is no valid YAML: {error}") from None


def in_one_line(value: Any) -> str:
    """A value as YAML writes it within a line."""
    dumped = yaml.safe_dump(value, default_flow_style=True, width=_WHOLE, sort_keys=False, allow_unicode=True)
    return dumped.removesuffix("\n").removesuffix("\n...")


# Where things stand


def _reached(text: str, path: Sequence[Step]) -> tuple[Any, list[Step]]:
    """The part at a path, or the last one on the way to it with the steps that lead on from there."""
    at: Any = yaml.compose(text, StrictLoader)
    if at is None:
        raise _unreachable(path)
    for done, step in enumerate(path):
        number = _number_in(at, step)
        if number is None:
            if isinstance(step, int) or not (isinstance(at, yaml.MappingNode) or _is_empty(at)):
                raise _unreachable(path)
            return at, list(path[done:])
        entry = at.value[number]
        following = entry[1] if isinstance(at, yaml.MappingNode) else entry
        before = entry[0].end_mark if isinstance(at, yaml.MappingNode) else at.start_mark
        if following.start_mark.index < before.index:
            raise _unreachable(path)
        at = following
    return at, []


def _is_empty(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _number_in(node: yaml.Node, step: Step) -> int | None:
    """The place of a key or of an item among the entries of a node."""
    if isinstance(node, yaml.MappingNode):
        return next((i for i, (key, _) in enumerate(node.value) if key.value == str(step)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
        return step
    return None


def _span(entry: Any) -> tuple[int, int]:
    """Where an entry begins, with its key if it has one, and where it ends."""
    first, last = entry if isinstance(entry, tuple) else (entry, entry)
    return first.start_mark.index, _end(last)


def _end(node: yaml.Node) -> int:
    """Where a part ends; marks of blocks lie behind the comments that follow them."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        return _span(node.value[-1])[1]
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        return int(node.end_mark.index - 1)
    return int(node.end_mark.index)


def _line_end(text: str, index: int) -> int:
    end = text.find("\n", index)
    return len(text) if end < 0 else end


def _is_behind_dash(text: str, start: int, holder: yaml.Node) -> bool:
    """Whether a key stands on the line of the dash of its item."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return isinstance(holder, yaml.MappingNode) and bool(line.strip())


def _is_in_flow(text: str, path: Sequence[Step]) -> bool:
    """Whether a part lies within brackets of a list or mapping around it."""
    return any(getattr(_reached(text, path[:done])[0], "flow_style", False) for done in range(len(path)))


# How it is written


def _is_json(text: str) -> bool:
    return text.lstrip().startswith("{")


def _flow(text: str, value: Any) -> str:
    """A value within a line, in the manner of the text."""
    return json.dumps(value, ensure_ascii=False) if _is_json(text) else in_one_line(value)


def _indented(block: str, column: int) -> str:
    first, *lines = block.strip("\n").split("\n")
    return "\n".join([first, *(" " * column + line if line.strip() else "" for line in lines)])


def _replaced(text: str, node: yaml.Node, written: str) -> str:
    start, end = node.start_mark.index, _end(node)
    space = " " if text[start - 1 : start] == ":" else ""
    return text[:start] + space + written + text[end:]


def _added(text: str, holder: yaml.Node, key: str, value: Any) -> str:
    """The text with a key that a mapping does not have yet."""
    if not isinstance(holder, yaml.MappingNode) or not holder.value:
        return _replaced(text, holder, _flow(text, {key: value}))
    end = _end(holder.value[-1][1])
    written = f"{_flow(text, key)}: {_flow(text, value)}"
    if holder.flow_style:
        return f"{text[:end]}, {written}{text[end:]}"
    after = _line_end(text, end)
    return f"{text[:after]}\n{' ' * holder.start_mark.column}{written}{text[after:]}"


# What was meant


def _verified(before: str, after: str, path: Sequence[Step], change: Callable[[Any, Any], None]) -> str:
    """The changed text, if it says what was meant and nothing else."""
    wanted = parse_data(before, "text")
    holder = wanted
    for step in path[:-1]:
        if isinstance(holder, dict) and holder.get(step) is None:
            holder[step] = {}
        holder = holder[step]
    change(holder, path[-1])
    try:
        found = parse_data(after, "text")
    except InputError:
        found = None
    if found != wanted:
        raise _unreachable(path)
    return after


def _unreachable(path: Sequence[Step]) -> InputError:
    field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    return InputError("the form", field, "is written in a way that the form cannot change; change it in the text")
