"""Even shares fit, and every page is somewhere; of tensors of one page each other rules may be faster."""

import numpy as np

from planner.candidates.expand import expand
from planner.model.rank_step import PageCase
from planner.pages.even_shares import even_shares
from planner.pages.placed_prices import JobPrices
from planner.pages.problem import PageProblem
from tests.oracles.placed_nodes import placed_nodes


def test_they_fit_and_every_page_is_somewhere() -> None:
    seen = 0
    for seed in range(8):
        instance = placed_nodes(seed)
        for options in expand(instance).options:
            job = JobPrices(options, instance.cluster.device)
            for row in np.flatnonzero(job.is_placed)[:2].tolist():
                problem = PageProblem.of_case(PageCase.of_rank("", job.step(row)))
                placed = even_shares(problem)
                if placed is None:
                    continue
                seen += 1
                (pages,), (task,) = placed, problem.tasks
                assert problem.fits(placed)
                made = pages.moved.sum(axis=1) + pages.kept + np.where(pages.remade, task.count, 0)
                assert (made == task.count).all()
    assert seen > 5
