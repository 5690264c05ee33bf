"""YAML as a reader would take it: nothing is dropped, and no number is read in a base or a unit that nobody meant."""

import re
from collections.abc import Hashable
from typing import Any, ClassVar

import yaml

MAX_DEPTH = 100
"""levels of brackets; files have fewer than ten"""
MOST_DIGITS = 40
"""characters of a number; those of files have fewer than twenty"""
_BOOL, _INT, _FLOAT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"
_OCTAL = re.compile(r"[-+]?0[0-9_]+")
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class StrictLoader(_Base):  # type: ignore[misc]
    """Safe loader that refuses keys given twice, octal numbers and sixties; only true and false are truth values.

    YAML 1.1 reads 010 as 8, 1:30 as 90 and yes as true, each of which a number or a name may look like.
    """

    yaml_implicit_resolvers: ClassVar[Any] = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != _BOOL]
        for first, resolvers in _Base.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(problem="a key is no plain text", problem_mark=key.start_mark)
            if key.value in seen:
                problem = f"key '{key.value}' is given twice; keep one"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            seen.add(key.value)
        result: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return result

    def number(self, node: yaml.ScalarNode) -> int | float:
        """A number in base ten, or in a base that its prefix names."""
        text, problem = str(node.value), ""
        if len(text) > MOST_DIGITS:
            problem = f"a number of {len(text)} characters; give one of at most {MOST_DIGITS}"
        elif ":" in text:
            problem = f"'{text}' would be read in sixties; write it with its unit, such as 90 s, or in quotes as a name"
        elif _OCTAL.fullmatch(text):
            plain = text.replace("_", "").lstrip("+-0") or "0"
            problem = f"'{text}' would be read as octal by some; write {plain}, or in quotes as a name"
        if problem:
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        read = self.construct_yaml_int if node.tag == _INT else self.construct_yaml_float
        found: int | float = read(node)
        return found


StrictLoader.add_implicit_resolver(_BOOL, re.compile(r"true|True|TRUE|false|False|FALSE"), list("tTfF"))
StrictLoader.add_constructor(_INT, StrictLoader.number)
StrictLoader.add_constructor(_FLOAT, StrictLoader.number)


def parse_yaml(text: str) -> Any:
    """Content of a text; nothing is built before its depth is known to be sane. Raises YAMLError or ValueError."""
    depth = 0
    for event in yaml.parse(text, StrictLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    data = yaml.load(text, StrictLoader)
    if "*" in text and _holds_itself(data, set(), set()):
        raise ValueError("an alias (*) stands for what it is in")
    return data


def _holds_itself(data: object, outer: set[int], seen: set[int]) -> bool:
    """Whether a mapping or a list is in itself; `outer`: identities of those around it; `seen`: of others."""
    if not isinstance(data, dict | list) or id(data) in seen:
        return False
    if id(data) in outer:
        return True
    outer.add(id(data))
    found = any(_holds_itself(each, outer, seen) for each in (data.values() if isinstance(data, dict) else data))
    outer.discard(id(data))
    seen.add(id(data))
    return found
