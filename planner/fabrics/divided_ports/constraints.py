"""Appliances that the accelerators of a server share: modules, ports and units of a second tier by server."""

from ortools.sat.python import cp_model

from planner.fabrics.divided_ports.block_prices import BlockPrices
from planner.fabrics.problem import Problem
from planner.fabrics.server_shares.constraints import held_by_server
from planner.formulation.variables import Variables, total


def shares(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""No more of appliances is held than a server has; prices of blocks (`BlockPrices`) tighten the relaxation:
    $\sum_{jk} n_k \pi_{b(k)} z_{jk} \le \sum_s \max_{a \in s} \pi \cdot a$."""
    held_by_server(model, v, problem)
    prices = BlockPrices.of(problem)
    if prices is not None:
        paid = zip(v.jobs, prices.kind, prices.number, strict=True)
        terms = [
            int(prices.prices[kind] * number) * row
            for job, kinds, numbers in paid
            for row, kind, number in zip(job.rows, kinds.tolist(), numbers.tolist(), strict=True)
        ]
        model.add(total(terms) <= prices.limit)
