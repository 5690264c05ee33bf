"""Threads of simulated processes: one of all runs at a time, and only while the world waits for it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any

from planner.controller.journal_file import Seen
from tests.planner.integrations.switch_drivers.ocs.faulty_world import Killed


class Strand:
    """One thread of a process. It runs from one wait to the next."""

    def __init__(self, member: "Member", name: str, body: Callable[[], None], wakes_s: float) -> None:
        self.member, self.name, self.wakes_s = member, name, wakes_s
        self.is_over = False
        self.is_stopped = False
        """whether its process was stopped in it, perhaps while it held locks: it is the first that goes on"""
        self.error: BaseException | None = None
        """that ended it, other than being killed"""
        self._body = body
        self._go, self._back = Lock(), Lock()
        """held until this may run, and until it waits"""
        self._go.acquire()
        self._back.acquire()
        self._thread = Thread(target=self._main, name=f"{member.number} {name}", daemon=True)
        self._thread.start()

    def _main(self) -> None:
        self._go.acquire()
        try:
            if not self.member.is_dead:
                self._body()
        except Killed:
            pass
        except BaseException as error:
            self.error = error
        finally:
            self.is_over = True
            self._back.release()

    def step(self) -> None:
        """Let it run until it waits or ends. In the thread of the world."""
        self.member.steps += 1
        self._go.release()
        self._back.acquire()
        if self.is_over:
            self._thread.join()

    def wait(self, until_s: float, *, is_stopped: bool = False) -> None:
        """Let others run. In this thread; Killed where the process has ended meanwhile."""
        self.wakes_s, self.is_stopped = until_s, is_stopped
        self._back.release()
        self._go.acquire()
        self.is_stopped = False
        if self.member.is_dead:
            raise Killed


@dataclass
class Member:
    """One process of the controller, with all that it has in memory and has open."""

    number: int
    machine: str
    strands: list[Strand] = field(default_factory=list)
    opened: list[Any] = field(default_factory=list)
    """connections and locks that the system takes back when it ends"""
    locks: set[int] = field(default_factory=set)
    """open files by which switches and the record are locked"""
    frozen_s: float = -1.0
    """until when it does nothing"""
    is_dead: bool = False
    steps: int = 0
    """of its strands"""
    controller: Any = None
    keeper: Any = None
    queue: Any = None
    reconciler: Any = None
    ready_s: float = float("inf")
    """since when it leads or stands by"""

    @property
    def pid(self) -> int:
        return 1000 + self.number

    @property
    def is_leading(self) -> bool:
        return self.controller is not None and not self.controller.leadership.journal.is_reader

    @property
    def is_beginning(self) -> bool:
        """Whether it has the journal for itself, and does not lead yet."""
        return not self.is_leading and any(isinstance(each, Seen) and not each._is_closed for each in self.opened)

    def wake(self, name: str, now_s: float) -> None:
        """Let a strand that sleeps go on."""
        for strand in self.strands:
            if strand.name == name:
                strand.wakes_s = min(strand.wakes_s, now_s)
