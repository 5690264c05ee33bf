"""Options that are sizes with a unit, such as '1 MiB'."""

from planner.model.errors import InputError


def bytes_of(text: str, option: str, remedy: str) -> float:
    """From one byte to the most that files may have; `remedy`: what to give where it is less or more."""
    from pydantic import TypeAdapter, ValidationError

    from costmodel.quantity import with_prefix
    from costmodel.spec import MOST_BYTES, Bytes

    try:
        size = float(TypeAdapter(Bytes).validate_python(text))
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] != "greater_than_equal":
            raise InputError(option, f"'{text}'", str(first["msg"]).removeprefix("Value error, ")) from None
        size = 0.0
    if size < 1:
        raise InputError(option, f"'{text}'", f"is less than a byte; {remedy}")
    if size > MOST_BYTES:
        raise InputError(option, f"'{text}'", f"is more than {with_prefix(MOST_BYTES, 'B')}; {remedy}")
    return size
