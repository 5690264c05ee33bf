"""Candidates on pools and on local memory."""

from tests.planner.studies.reproduce.experiments.pools import outcome

BY_PRODUCT = ", by the product's model"


def test_what_candidates_gain_stays_within_the_bound() -> None:
    found = outcome("iteration").quantities
    gains = {name: value for name, value in found.items() if name.startswith("gain") and name.endswith(BY_PRODUCT)}
    assert len(gains) >= 10
    assert all(1 < gain < found["bound of the memory bandwidth gain, I/Os as their own"] for gain in gains.values())
    for phase in ("training", "inference"):
        of_phase = [gain for name, gain in gains.items() if phase in name]
        assert found[f"largest {phase} gain{BY_PRODUCT}"] == max(of_phase)


def test_fused_attention_raises_the_intensity() -> None:
    found = outcome("intensity").quantities
    for label in outcome("intensity").inputs.models:
        fused = found[f"intensity {label} training{BY_PRODUCT}"]
        assert found[f"intensity {label} training, attention unfused{BY_PRODUCT}"] < fused
