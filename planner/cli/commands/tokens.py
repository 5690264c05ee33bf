"""planner tokens: tokens of tenants for `planner serve --tenants`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.model.errors import InputError

if TYPE_CHECKING:
    from planner.service.tenants import Grant

File = Annotated[Path, typer.Argument(metavar="FILE", help="Hashes of tokens; made with the first one.")]
New = Annotated[str | None, typer.Option("--new", metavar="TENANT", help="Print a new token of this tenant, once.")]
Operator = Annotated[bool, typer.Option("--operator", help="The token may do all, for all tenants.")]
Days = Annotated[float | None, typer.Option("--days", min=0.001, max=36500, help="Days until the token expires.")]
Priority = Annotated[int, typer.Option("--most-priority", min=-1_000_000, max=1_000_000, help="Highest job priority.")]
Remove = Annotated[str | None, typer.Option("--remove", metavar="ID", help="Remove this token: it is refused then.")]


def tokens(
    file: File,
    new: New = None,
    operator: Operator = False,
    days: Days = None,
    most_priority: Priority = 0,
    remove: Remove = None,
) -> int:
    """Make, list and remove tokens of tenants. A running service reads the file again within a second.

    To rotate one: make another, hand it out, remove the old one.
    """
    try:
        from planner.service import tenants
    except ModuleNotFoundError as error:
        remedy = "run `pip install 'photonplan[serve]'`"
        raise InputError("planner tokens", "", f"{error.name} is not installed; {remedy}") from None

    if new is not None and remove is not None:
        raise InputError("planner tokens", "", "make or remove a token, one at a time")
    if new is not None:
        made, token = tenants.grant(file, new, is_operator=operator, days=days, most_priority=most_priority)
        print(f"{_line(made)}\n{token}")
    elif remove is not None:
        print(f"removed: {_line(tenants.revoke(file, remove))}")
    else:
        for each in tenants.load(file).tokens:
            print(_line(each))
    return 0


def _line(each: "Grant") -> str:
    until = "for ever" if each.expires is None else f"until {each.expires:%Y-%m-%d %H:%M} UTC"
    return f"{each.id}  {each.tenant}  {each.scope}  {until}  priority up to {each.most_priority}"
