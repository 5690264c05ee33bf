"""One optical switch, whatever protocol it speaks: what it is asked, and what can go wrong."""

import random
import time
from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

from planner.integrations.switch_drivers.ocs.config import SwitchSite
from planner.integrations.switch_drivers.ocs.tables import CrossConnectRow, SwitchTables
from planner.integrations.switch_drivers.recorded import unfenced

MOST_CHARACTERS = 300
"""of what a switch says, in messages"""
T = TypeVar("T")


class SwitchError(Exception):
    """A switch is not as it should be."""

    is_untouched = False
    """whether nothing of the job at hand can be on it"""


class SwitchSilentError(SwitchError):
    """A switch does not answer, not in a way that can be read, or not yet: nobody knows what it does."""


class SwitchRefusalError(SwitchError):
    """A switch answers that it will not: another try changes nothing."""


class OcsSwitch:
    """Asks one switch; from several threads, one after the other. A protocol says how."""

    def __init__(self, site: SwitchSite, name: str, fence: Callable[[], int] = unfenced) -> None:
        """`fence`: asked right before each request; raises where nothing may be asked any more."""
        self.name, self.fence = name, fence
        self._site, self._access = site, site.access[name]

    def close(self) -> None:
        """End its connections."""
        raise NotImplementedError

    def read(self) -> SwitchTables:
        """Its own tables as they are now; SwitchSilentError after all tries, SwitchRefusalError."""
        return self.tried(self.tables)

    def rows(self) -> Mapping[str, CrossConnectRow]:
        """What is configured alone, by name."""
        return self.tried(self.configured)

    def tables(self) -> SwitchTables:
        """One try of `read`; what is configured is asked last, so that little time passes from there to a change."""
        raise NotImplementedError

    def configured(self) -> Mapping[str, CrossConnectRow]:
        """One try of `rows`."""
        return self.tables().rows

    def update(self, delete: Collection[CrossConnectRow], add: Collection[CrossConnectRow]) -> None:
        """Deletes, then adds, sent once: what is answered is not relied on, the tables are read again."""
        raise NotImplementedError

    @property
    def tries(self) -> int:
        return self._access.tries

    def pause(self, number: int) -> None:
        """Before a try, counted from 0: none before the first."""
        if number:
            time.sleep(self._access.backoff_s * 2.0 ** (number - 1) * random.uniform(0.5, 1.5))

    def tried(self, ask: Callable[[], T]) -> T:
        """What a question gives, which is asked again while nothing can be read."""
        for number in range(self.tries):
            self.pause(number)
            try:
                return ask()
            except SwitchSilentError:
                if number == self.tries - 1:
                    raise
        raise AssertionError("there is at least one try")

    def secret(self) -> str | None:
        """Password or token, as the file has it now; SwitchRefusalError."""
        file = self._access.password_file or self._access.token_file
        try:
            return None if file is None else self._site.secret(file)
        except (OSError, ValueError) as error:
            raise SwitchRefusalError(f"{self.name}: its credentials cannot be read: {error}") from None
