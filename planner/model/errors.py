"""Bad input: one clear error that names the file, the field and the remedy. A refused plan: an error of the program."""

from collections.abc import Sequence


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


class FullError(InputError):
    """It can be, but not now: what is needed for it is taken, and is free again some time."""


class ConflictError(InputError):
    """It is at odds with what was accepted before."""


class UnwrittenError(OSError):
    """What happened cannot be written down now, as on a full disk, so it has not happened: no fault of the input, and
    to be asked again."""

    def __init__(self, where: str, field: str, problem: str) -> None:
        self.where, self.field, self.problem = where, field, problem
        super().__init__(f"{where}: {field}: {problem}")


class DeposedError(UnwrittenError):
    """Another controller leads by now, so that this one neither writes nor acts any more."""


class RefusedPlanError(RuntimeError):
    """A plan of this program that its own check refuses: no fault of the input, and nothing to deploy."""

    def __init__(self, violations: Sequence[str], plan: object) -> None:
        self.violations, self.plan = tuple(violations), plan
        more = f" and {len(violations) - 1} more" if len(violations) > 1 else ""
        super().__init__(f"the check refuses the plan that was found: {violations[0]}{more}; please report this")


class UnitWarning(UserWarning):
    """A number without a unit where the field has one, and how it was read."""
