"""Models and devices by name, or by a file."""

from pathlib import Path

import pytest
import yaml

from costmodel.hardware.device import load_device
from costmodel.workloads import TransformerInference
from costmodel.workloads.from_model import WorkloadChoices
from costmodel.workloads.transformer.shapes import load_model
from planner.cli.workload_inputs import device_of, option_named, workload_of
from planner.model.errors import InputError

PART = {
    "name": "own", "like": "h100-sxm", "capacity": "160 GB", "memory_bandwidth": "6700 GB/s",
    "flops": {"bf16": "989 TFLOP/s"}, "num_sm": 132,
}  # fmt: skip
CHOICES = WorkloadChoices("inference", "bf16", 1, 1, 8, 128, 64)


def test_a_file_describes_what_a_name_stands_for(tmp_path: Path) -> None:
    model, part = tmp_path / "own.yaml", tmp_path / "part.yaml"
    model.write_text(yaml.safe_dump(load_model("llama-3.1-8b").model_dump(mode="json")), encoding="utf-8")
    part.write_text(yaml.safe_dump(PART), encoding="utf-8")
    named, described = workload_of("llama-3.1-8b", CHOICES), workload_of(str(model), CHOICES)
    assert isinstance(named, TransformerInference)
    assert isinstance(described, TransformerInference)
    assert described.shape == named.shape
    assert device_of(str(part)).capacity_bytes == 160e9
    assert device_of("h100") == load_device("h100-sxm")


def test_an_error_names_the_option() -> None:
    for read, option in ((device_of, "--device"), (lambda name: workload_of(name, CHOICES), "--workload")):
        with pytest.raises(InputError) as raised:
            read("nothing")
        assert raised.value.where == option
    with pytest.raises(InputError) as raised, option_named("--x"):
        raise ValueError("it is wrong")
    assert (raised.value.where, raised.value.problem) == ("--x", "it is wrong")
