"""Bad input: one clear error that names the file, the field and the remedy."""


class InputError(ValueError):
    """Input that cannot be used; the message is complete and fit for a user."""

    def __init__(self, where: str, field: str, problem: str) -> None:
        self.where, self.field, self.problem = where, field, problem
        super().__init__(f"{where}: {field}: {problem}" if field else f"{where}: {problem}")

    def __reduce__(self) -> tuple[type["InputError"], tuple[str, str, str]]:
        """What another process needs to make it again."""
        return type(self), (self.where, self.field, self.problem)


class UnknownError(InputError):
    """It names something that is not here."""


class ConflictError(InputError):
    """It is at odds with what was accepted before."""
