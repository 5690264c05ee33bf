"""Options that are sizes with a unit, such as '1 MiB'."""

from planner.model.errors import InputError


def bytes_of(text: str, option: str, remedy: str) -> float:
    """At least one byte; `remedy`: what to give where it is less."""
    from pydantic import TypeAdapter, ValidationError

    from costmodel.spec import Bytes

    try:
        size = float(TypeAdapter(Bytes).validate_python(text))
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] != "greater_than_equal":
            raise InputError(option, f"'{text}'", str(first["msg"]).removeprefix("Value error, ")) from None
        size = 0.0
    if size < 1:
        raise InputError(option, f"'{text}'", f"is less than a byte; {remedy}")
    return size
