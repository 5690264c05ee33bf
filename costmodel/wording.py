"""Numbers of things in words."""


def counted(number: float, noun: str, rest: str = "", *, many: str | None = None) -> str:
    """2 rows of a matrix product, 1 row of a matrix product; `many` where the plural is not the noun with an s."""
    amount = f"{number:,.0f}" if number == int(number) else f"{number:,.4g}"
    things = noun if number == 1 else many or f"{noun}s"
    return f"{amount} {things} {rest}".rstrip()
