"""Losses of circuits, by seed."""

from tests.planner.integrations.switch_emulator.switches import SETTLING_S, rig


def test_loss_is_within_half_a_decibel_of_the_factory_once_tuned() -> None:
    made = rig()
    made.bulk(add=["1A-2B"])
    made.clock.now_s += SETTLING_S * 0.15
    (row,) = made.rows("OCS_CROSS_CONNECT_TABLE")
    tuning_db = float(row["insertion_loss_dB"])
    made.settle()
    (row,) = made.rows("OCS_CROSS_CONNECT_TABLE")
    factory = [
        float(each["loss_dB"])
        for each in made.rows("OCS_FACTORY_INSERTION_LOSS_TABLE")
        if each["cross_connect_id"] == "1A-2B"
    ]
    assert len(factory) == 2
    assert all(abs(float(row["insertion_loss_dB"]) - each) < 0.5 < tuning_db - each for each in factory)
    assert (row["physical_path"][0], row["physical_path"][-1]) == ("1A", "2B")


def test_one_seed_one_switch() -> None:
    one, same, other = rig(seed=1), rig(seed=1), rig(seed=2)
    losses = [each.rows("OCS_FACTORY_INSERTION_LOSS_TABLE") for each in (one, same, other)]
    assert losses[0] == losses[1] != losses[2]
