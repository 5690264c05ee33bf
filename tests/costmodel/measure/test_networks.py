"""Which training steps of networks are measured, without a GPU."""

from costmodel.dataflow.networks.convolutional import load_convolutional_network
from costmodel.measure.networks import CONVOLUTIONAL, FULL_BATCHES, RECURRENT, plan


def test_every_network_and_cell_is_measured_with_every_batch() -> None:
    cases = plan(is_quick=False).cases
    told = {(case.row["network"], case.row["hidden"], case.row["steps"], case.row["batch"]) for case in cases}
    assert told == {
        (*network, batch)
        for network in [*((name, "", "") for name in CONVOLUTIONAL), *RECURRENT]
        for batch in FULL_BATCHES
    }
    quick = plan(is_quick=True).cases
    assert len(quick) * len(FULL_BATCHES) == len(cases)
    assert {case.row["network"] for case in quick} == {case.row["network"] for case in cases}


def test_room_is_asked_for_all_outputs_that_backward_needs() -> None:
    """Outputs in 16 bits and their gradients at least."""
    cases = {(case.row["network"], case.row["batch"]): case.needed_bytes for case in plan(is_quick=False).cases}
    for name in CONVOLUTIONAL:
        outputs = sum(node.output_elements for node in load_convolutional_network(name).nodes)
        assert cases[name, 512] > 4 * 512 * outputs
        assert cases[name, 32] < cases[name, 128] < cases[name, 512]
    assert cases["lstm", 512] > cases["vanilla", 512]
