"""What admitting a job would cost the others."""

from tests.planner.small_racks import ask, is_possible, rack, serving, single, texts


def test_job_that_fits_but_is_worth_nothing_there() -> None:
    data = rack(
        serving("x", [2, 4], utility="step", step_at=0.9),
        servers=1,
        residents=[single("r0", "s0.t0", movable=False)],
    )
    explanation = ask(data, "x")
    assert explanation.tag == "worth less"
    assert explanation.headline == "x is worth less than it takes (admitting it costs no value)"
    assert explanation.cost == 0.0
    assert texts(explanation) == ["fits beside the other jobs with 2 accelerators on s0"]
    assert is_possible(data, "x", accelerators=2)
    assert not is_possible(data, "x", accelerators=4)


def test_cost_is_told_in_the_first_objective() -> None:
    explanation = ask(rack(serving("x", 2), objectives=["energy", "value"]), "x")
    assert explanation.tag == "worth less"
    assert explanation.headline == "x is worth less than it takes (admitting it costs 1 of energy)"
