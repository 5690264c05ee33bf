"""Whether a controller may write and act: its term in the journal, and its lease where it holds one."""

from dataclasses import dataclass, field

from planner.controller.journal import Journal
from planner.controller.lease import Lease, LeaseWatch
from planner.model.errors import UnwrittenError


@dataclass
class Leadership:
    """That of one journal, which is written here or only read."""

    journal: Journal
    lease: Lease | None = None
    """of a service; a controller without one leads until its process ends"""
    watch: LeaseWatch = field(init=False)
    """of who leads, for those who stand by"""

    def __post_init__(self) -> None:
        self.watch = LeaseWatch(self.journal.path)

    def hold_lease(self, url: str) -> None:
        """From now on the lease is to be renewed, so that who stands by knows that this controller lives. DeposedError
        where another has begun to lead meanwhile."""
        self.journal.require_term()
        self.lease = Lease(self.journal.path, self.journal.term, url)

    def require_writer(self) -> None:
        """UnwrittenError where another is to be asked."""
        if self.journal.is_reader:
            self.watch.look()
            beat = self.watch.beat
            where = f" at {beat.url}" if beat is not None and beat.url else ""
            problem = f"is written by another controller{where}, for which this one stands by: ask that one"
            raise UnwrittenError("journal", self.journal.path, problem)

    def require(self) -> int:
        """The term, of which all that acts is a part; DeposedError where another may lead by now."""
        self.require_writer()
        if self.lease is not None:
            self.lease.require()
        self.journal.require_term()
        return self.journal.term

    def close(self) -> None:
        """Let go of the lease."""
        if self.lease is not None:
            self.lease.close()
            self.lease = None
