"""Jobs that must run and cannot all: what they lack together, and whose absence would do."""

from planner.model.result import Status
from tests.planner.small_racks import ONE_SERVER, ask, outcome, rack, serving, single, texts


def test_the_accelerators_that_lack_and_each_job_whose_absence_would_do() -> None:
    must = [serving(name, size, required=True) for name, size in (("a", 4), ("b", 3), ("c", 2))]
    data = rack(*must, serving("d", 4))
    explanation = ask(data, "b")
    assert explanation.headline == "b: the required jobs and residents cannot all run, so there is no plan"
    assert texts(explanation) == [
        "they need 9 accelerators at least, 8 work",
        "all others can run if a, b or c is not required",
    ]


def test_where_no_job_alone_is_in_the_way() -> None:
    """A server of 4, two of them held; each of three jobs wants all of one."""
    jobs = [serving(name, 4, required=True) for name in "abc"]
    data = rack(*jobs, servers=1, residents=[single("r", "s0.t0"), single("q", "s0.t1")])
    assert texts(ask(data, "a")) == [
        "they need 14 accelerators at least, 4 work",
        "to leave out a, b or c alone is not enough",
    ]


def test_who_stands_in_the_way_is_asked_of_solves() -> None:
    """Three jobs, each within a server, on two servers of 4: the two large ones have one each."""
    jobs = [serving(name, size, required=True, constraints=ONE_SERVER) for name, size in (("a", 3), ("b", 3), ("c", 2))]
    said = texts(ask(rack(*jobs), "c"))
    assert said == ["all others can run if a, b or c is not required"]
    assert outcome(rack(*jobs)).status is Status.INFEASIBLE
    assert all(outcome(rack(*(job for job in jobs if job is not left))).plan is not None for left in jobs)
