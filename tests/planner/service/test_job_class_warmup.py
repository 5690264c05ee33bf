"""New kinds of jobs are expanded beside the queue."""

import asyncio
import threading

from planner.service.job_class_warmup import JobClassWarmup
from tests.planner.controller.sites import controller as small_controller
from tests.planner.controller.sites import request
from tests.planner.service.running import MOST_S


def test_who_gives_up_waiting_does_so_alone() -> None:
    """A kind that is still queued is expanded for the others that wait for it."""
    controller, go_on = small_controller("lightpath"), threading.Event()
    controller.prepare = lambda request, is_asked: go_on.wait(MOST_S)  # type: ignore[method-assign, assignment, return-value]

    async def wait() -> None:
        preparation = JobClassWarmup(controller)
        asked = [request(f"j{i}", accelerators) for i, accelerators in enumerate((1, 2, 4, 4))]
        waiting = [asyncio.create_task(preparation.of([each])) for each in asked]
        await asyncio.sleep(0.05)
        waiting[2].cancel()
        await asyncio.sleep(0.05)
        go_on.set()
        found = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(each) for each in found] == [type(None), type(None), asyncio.CancelledError, type(None)]
        preparation.close()

    asyncio.run(wait())


def test_a_question_lists_a_kind_and_a_job_expands_it() -> None:
    controller = small_controller("lightpath")

    async def prepare() -> None:
        preparation, asked = JobClassWarmup(controller), request("j", 4)
        await preparation.of([asked], is_asked=True)
        assert controller.is_prepared(asked, is_asked=True)
        assert not controller.is_prepared(asked)
        await preparation.of([asked])
        assert controller.is_prepared(asked)
        preparation.close()

    asyncio.run(prepare())
