"""Steps of networks on one accelerator: as `score` prices them, and where the measured ones lie."""

import json

import numpy as np
import pytest

from costmodel.calibrate.network_training import FAMILY, predict
from planner.cli import main
from planner.studies.validate import validate_table
from planner.tables import read_table
from tests.paths import ROOT

MEASURED = ROOT / "instances/published/network_training.csv"


def step_ms(**row: object) -> float:
    known = {"device": "h100", "network": "vgg-e", "hidden": np.nan, "steps": np.nan, "batch": 64.0,
             "precision": "bf16", "latency_ms": 1.0} | row  # fmt: skip
    return float(predict({name: np.array([value]) for name, value in known.items()}, None)[0].predicted[0])


def test_a_step_is_that_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("--device", "h200-sxm", "--devices", "1", "--batch", "64", "--json")
    assert main(["score", "--workload", "resnet-34", *given]) == 0
    told_s = json.loads(capsys.readouterr().out)["best"][0]["step_s"]
    assert told_s == pytest.approx(step_ms(device="h200", network="resnet-34") / 1e3)


def test_recurrent_layers_take_a_new_input_at_each_step() -> None:
    """On batches that fill the device, twice as many steps or half as many gates are so much work."""
    once = step_ms(network="lstm", hidden=2048.0, steps=25.0, batch=4096.0)
    assert step_ms(network="lstm", hidden=2048.0, steps=50.0, batch=4096.0) == pytest.approx(2 * once, rel=0.02)
    assert step_ms(network="vanilla", hidden=2048.0, steps=25.0, batch=4096.0) == pytest.approx(once / 4, rel=0.15)


def test_what_does_not_fit_is_left_out() -> None:
    assert np.isnan(step_ms(batch=65536.0))


def test_an_unknown_network_is_refused() -> None:
    with pytest.raises(ValueError, match=r"line 2, network: .*vgg-f.*vgg-e"):
        step_ms(network="vgg-f")
    with pytest.raises(ValueError, match="line 2, steps: a recurrent layer has 1 or more"):
        step_ms(network="lstm", hidden=512.0)


def test_measured_steps_lie_where_the_manual_says() -> None:
    """Nothing was fitted: residual networks come near, other software and recurrent layers do not."""
    table = read_table(MEASURED)
    assert table.family is FAMILY
    (found,) = validate_table(table)
    ratio = 1 + found.error
    network = table.columns["network"]
    assert 0.65 < ratio[network == "resnet-34"].min() < ratio[network == "resnet-34"].max() < 1.25
    assert 1.2 < ratio[network == "vgg-e"].min() < ratio[network == "vgg-e"].max() < 1.55
    is_wide = np.isin(network, ["vanilla", "lstm", "gru"]) & (table.columns["batch"] == 512)
    assert np.abs(found.error[is_wide]).max() < 0.3
