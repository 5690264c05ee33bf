"""Dimensions of a job cut its box as the configuration says."""

from tests.planner.checks.plans import broken, edited
from tests.planner.fabrics.slices.plans import plane, swapped, taking


def test_dimensions_do_not_share_an_axis() -> None:
    instance, plan = plane()
    configuration = plan["plane"].configuration.model_copy(update={"data_collective": taking("bucket", 2, 1, 1)})
    assert {"cut", "listed"} <= broken(instance, edited(plan, "plane", configuration=configuration))


def test_other_orientations_are_not_listed() -> None:
    instance, plan = plane()
    turned = {"tensor_collective": taking("bucket", 1, 2, 1), "data_collective": taking("bucket", 2, 1, 1)}
    configuration = plan["plane"].configuration.model_copy(update=turned)
    found = broken(instance, swapped(edited(plan, "plane", configuration=configuration), "plane", 1, 2))
    assert found == {"listed"}
