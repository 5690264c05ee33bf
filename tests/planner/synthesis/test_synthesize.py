"""What is synthesized lies between the bound and the families."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.collectives.interpret import interpret
from costmodel.collectives.ladder import Collective
from costmodel.collectives.synthesis.check import faults_of
from costmodel.collectives.synthesis.network import Network
from planner.model.errors import RefusedPlanError
from planner.synthesis import synthesize as module
from planner.synthesis.synthesize import SynthesisOptions, synthesize
from tests.costmodel.collectives.synthesis.networks import networks, path, ring, star

COLLECTIVES: tuple[Collective, ...] = ("all_gather", "reduce_scatter", "all_reduce", "all_to_all", "broadcast")


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(network=networks(4), collective=st.sampled_from(COLLECTIVES), size=st.sampled_from([1.0, 1e4, 1e7]))
def test_between_the_bound_and_the_families(network: Network, collective: Collective, size: float) -> None:
    found = synthesize(network, collective, size, SynthesisOptions(time_limit_s=0.05, workers=1))
    assert found.bound.time_s * (1 - 1e-9) <= found.time_s <= found.family.time_s
    assert interpret(found.written) == ()
    if found.timed is not None:
        assert faults_of(found.timed) == ()
        assert found.timed.finish_s == found.time_s


@pytest.mark.slow
@pytest.mark.parametrize("collective", [each for each in COLLECTIVES if each != "broadcast"])
def test_on_a_star_without_latency_the_bound_is_attained(collective: Collective) -> None:
    assert synthesize(star(4), collective, 4e6, SynthesisOptions(time_limit_s=5.0)).gap == pytest.approx(0.0, abs=1e-6)


def test_one_rank_alone_needs_nothing() -> None:
    found = synthesize(Network("alone", 1, 0, ()), "all_gather", 1e6)
    assert (found.time_s, found.gap, len(found.written)) == (0.0, 0.0, 0)


def test_progress_is_told_and_a_stop_is_obeyed() -> None:
    told: list[tuple[str, float]] = []
    tell = lambda source, time_s, _: told.append((source, time_s))  # noqa: E731
    options = SynthesisOptions(60.0, on_progress=tell, should_stop=lambda: True)
    found = synthesize(ring(4), "all_gather", 1e6, options)
    assert told[0][0].startswith("family")
    assert min(time_s for _, time_s in told) == found.time_s


def test_a_schedule_that_the_check_refuses_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "faults_of", lambda timed: ("link 0 carries two chunks",))
    with pytest.raises(RefusedPlanError, match="two chunks"):
        synthesize(ring(4), "all_gather", 4.0, SynthesisOptions(time_limit_s=0.1))


def test_flows_prove_more_than_cuts() -> None:
    """On a path the two in the middle send on what the two at the ends have for each other."""
    found = synthesize(path(4), "all_to_all", 4e6, SynthesisOptions(time_limit_s=0.2))
    assert found.bound.reason == "flows on the busiest links"
    assert found.bound.time_s == pytest.approx(4e6)
