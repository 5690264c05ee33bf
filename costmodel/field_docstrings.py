"""What each field of a file type means: the docstring below it, read when somebody asks and not at every start."""

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise

from pydantic import BaseModel


def field_descriptions(model: type[BaseModel]) -> dict[str, str]:
    """By the name of a field: its description, or else its docstring where it is annotated last; others are not in."""
    found: dict[str, str] = {}
    for name, field in model.model_fields.items():
        owner = next((each for each in model.__mro__ if name in inspect.get_annotations(each)), model)
        text = field.description or _of_class(owner.__module__, owner.__qualname__).get(name)
        if text:
            found[name] = text
    return found


@cache
def _of_class(module: str, qualified_name: str) -> dict[str, str]:
    body = _classes(module).get(qualified_name, [])
    return {
        field.target.id: inspect.cleandoc(after.value.value)
        for field, after in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str)
    }  # fmt: skip


@cache
def _classes(module: str) -> dict[str, list[ast.stmt]]:
    """Bodies of all classes of a module by their qualified names; none where its source is not to be had."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError):
        return {}
    found: dict[str, list[ast.stmt]] = {}
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        prefix, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, ast.ClassDef):
                found[prefix + child.name] = child.body
                inner = f"{prefix}{child.name}."
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = f"{prefix}{child.name}.<locals>."
            waiting.append((inner, child))
    return found
