"""Fronts of serving jobs in one picture."""

import io

from matplotlib.figure import Figure

from costmodel.hardware.device import load_device
from costmodel.serving.front import serving_front as front_of
from costmodel.workloads import TransformerInference
from planner.plotting.serving_front import serving_front
from tests.costmodel.pricing.unlisted_cases import fabric

CHAT = TransformerInference(model="llama-3.1-8b", concurrency=1, input_tokens=512, output_tokens=128)
USERS = (1, 4, 16, 64)


def test_each_front_is_a_line_with_its_degrees() -> None:
    fronts = {
        name: front_of(CHAT, (4,), load_device(device), fabric("fat_tree"), users=USERS)
        for name, device in (("h100", "h100"), ("$1_to_$2^", "h200"))
    }
    labels = {name: ["x" if n < 2 else "y" for n in range(len(front.rows))] for name, front in fronts.items()}
    figure = Figure()
    ax = serving_front(figure.subplots(), fronts, labels)
    figure.savefig(io.BytesIO(), format="svg")
    assert [line.get_label() for line in ax.get_lines()] == [*fronts], "a name is no formula"
    for line, front in zip(ax.get_lines(), fronts.values(), strict=True):
        assert list(line.get_xdata()) == front.per_user[front.rows].tolist()
        assert list(line.get_ydata()) == front.per_device[front.rows].tolist()
    assert [text.get_text() for text in ax.texts] == ["x", "y", "x", "y"]
