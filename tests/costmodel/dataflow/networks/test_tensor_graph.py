"""Lifetimes of tensors in a step."""

import pytest

from costmodel.dataflow.networks.tensor_graph import Absence, Operator, Tensor, TensorGraph, TensorKind


def graph(tensors: dict[str, TensorKind], *operators: Operator) -> TensorGraph:
    return TensorGraph(tuple(Tensor(n, kind, 1.0) for n, kind in tensors.items()), operators, ("layer",))


def test_weights_and_state_stay_elsewhere_between_their_uses() -> None:
    weight, state, gradient = range(3)
    found = graph(
        {"w": "weight", "o": "optimizer", "g": "gradient"},
        Operator("forward", 0, "forward", (weight,)),
        Operator("backward", 0, "backward", (weight,), (gradient,)),
        Operator("update", 0, "update", (weight, state, gradient), (weight, state)),
    ).absences(("weight", "optimizer", "gradient"))
    assert set(found) == {
        Absence(weight, -1, 0, False, None),
        Absence(state, -1, 2, False, None),
        Absence(weight, 0, 1, False, None),
        Absence(weight, 1, 2, False, None),
        Absence(gradient, 1, 2, True, None),
        Absence(weight, 2, 3, True, None),
        Absence(state, 2, 3, True, None),
    }


def test_an_activation_is_away_from_its_last_use_forward_to_its_first_backward() -> None:
    found = graph(
        {"x": "activation", "y": "activation"},
        Operator("a", 0, "forward", (), (0,)),
        Operator("b", 0, "forward", (0,), (1,)),
        Operator("c", 0, "forward", (0, 1)),
        Operator("d", 0, "backward", (1,)),
        Operator("e", 0, "backward", (0, 1)),
    ).absences()
    assert found == (Absence(0, 2, 4, True, 0), Absence(1, 2, 3, True, 1, (0,)))


def test_what_backward_does_not_need_does_not_leave() -> None:
    assert (
        graph({"x": "activation", "y": "weight"}, Operator("a", 0, "forward", (), (0,))).absences(
            ("activation", "weight")
        )
        == ()
    )


def test_an_unknown_tensor() -> None:
    with pytest.raises(ValueError, match="operators: 'a' uses tensor 3 of 1"):
        graph({"x": "activation"}, Operator("a", 0, "forward", (3,)))
