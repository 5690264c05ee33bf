"""Pages of the manual that list every field of the files."""

from collections.abc import Collection

from planner.reference.fields import ROOT, Field, Object, objects_of
from planner.reference.file_kinds import FILE_KINDS, MEANINGS, json_schema
from planner.reference.priced_parts import priced_parts

HEAD = "| field | type | default | example | meaning |\n|---|---|---|---|---|\n"


def instance_page() -> str:
    """Every field of an instance."""
    objects = objects_of(json_schema("instance"), "instance")
    introduction = (
        "# Fields of an instance\n\nThe same lists stand in `planner fields PATH`, and as JSON Schema for editors in "
        "`planner schema`. A quantity is a number in the SI unit named, or a text with its unit.\n"
    )
    return "\n".join([introduction, *_sections(objects.values())])


def other_files_page() -> str:
    """Every field of the other files; objects that an instance has too, or a file before, are listed there."""
    known = set(objects_of(json_schema("instance"), "instance")) - {ROOT}
    lines = ["# Fields of other files\n"]
    for kind in FILE_KINDS[1:]:
        own = {name: each for name, each in objects_of(json_schema(kind), kind).items() if name not in known}
        known |= set(own) - {ROOT}
        lines += [f"## {kind}\n\nIt is {MEANINGS[kind]}. The same list: `planner fields --of {kind}`.\n"]
        lines += _sections(own.values())
        if kind == "prices":
            lines.append(f"### What each price covers\n\n{priced_parts()}")
    return "\n".join(lines)


def _sections(objects: Collection[Object]) -> list[str]:
    """A table for each object, under its name and meaning but for the first, which is the file itself."""
    tables = [HEAD + "".join(map(_row, each.fields)) for each in objects]
    heads = ["", *(_head(each) for each in list(objects)[1:])]
    return [head + table for head, table in zip(heads, tables, strict=True)]


def _head(of: Object) -> str:
    return f"### {of.name}{f': `{of.kind}`' if of.kind else ''}\n\n{_escaped(of.meaning)}\n\n"


def _row(field: Field) -> str:
    example = f"`{field.example}`" if field.example else ""
    default = field.default if field.default in ("", "required") else f"`{field.default}`"
    return f"| `{field.key}` | {_escaped(field.type)} | {default} | {example} | {_escaped(field.meaning)} |\n"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
