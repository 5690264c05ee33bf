"""Jobs that run alike share a price; others have their own."""

import pytest

from planner.candidates.expand import expand
from planner.candidates.priced_rows import PricedRows
from planner.model.instance import Instance
from tests.planner.small_racks import rack, training


def test_each_configuration_has_the_scores_of_its_candidate() -> None:
    problem = expand(Instance.parse(rack(training("a", [2, 4]), training("b", [2, 4], 32))))
    priced, seen = PricedRows(problem.cluster), 0
    for options in problem.options:
        for row in range(len(options)):
            found = priced.of(options.job, options.candidates.configuration(row))
            assert found.scores.step_s == pytest.approx(options.scores.step_s[row : row + 1], rel=1e-9)
            assert found.graph.flops[0] > 0
            seen += 1
    a, b = problem.options
    configuration = a.candidates.configuration(0)
    assert priced.of(a.job, configuration) is priced.of(a.job, configuration.model_copy())
    assert priced.of(a.job, configuration) is not priced.of(b.job, configuration)
    assert seen > 4


def test_a_configuration_that_does_not_divide_the_workload_is_refused() -> None:
    problem = expand(Instance.parse(rack(training("a", [2, 4]))))
    (options,) = problem.options
    wrong = options.candidates.configuration(0).model_copy(update={"data": 7, "tensor": 1})
    with pytest.raises(ValueError, match="divide"):
        PricedRows(problem.cluster).of(options.job, wrong)
