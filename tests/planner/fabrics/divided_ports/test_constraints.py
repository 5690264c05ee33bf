"""Rows of step 1 that speak of appliances."""

from planner.candidates.expand import expand
from planner.cpsat.step1.model import Model
from planner.fabrics.divided_ports.block_prices import BlockPrices
from tests.planner.fabrics.divided_ports.clusters import instance, job


def test_prices_of_blocks_are_a_row() -> None:
    """Its coefficients are what each row of a job pays."""
    problem = expand(instance(job("a", 2), job("b", 4)))
    prices = BlockPrices.of(problem)
    assert prices is not None
    model = Model.build(problem)
    rows = [each.linear for each in model.cp.proto.constraints if each.has_linear()]
    stated = [row for row in rows if list(row.domain)[1] == prices.limit]
    paid = [prices.prices[kind] * number for kind, number in zip(prices.kind, prices.number, strict=True)]
    assert [sorted([*row.coeffs]) for row in stated] == [sorted(each for job in paid for each in job.tolist() if each)]
