"""One constraint group at a time: create variables, add the group, fix choices, ask if it is solvable."""

from typing import Any

import pytest
from ortools.sat.python import cp_model

from planner.candidates.expand import expand
from planner.cpsat.step1.constraints import groups_of
from planner.fabrics import plugin_of
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.step1_variables import light_variables
from planner.fabrics.problem import Problem
from planner.formulation.variables import BlockKind, Variables, create_variables
from planner.model.instance import Instance
from tests.paths import ROOT
from tests.planner.explain.test_explain import Fields, rack, serving, single, training

Placed = dict[int, dict[int, int]]
"""Blocks by server, by job."""


def problem_of(*jobs: Fields, **changes: Any) -> Problem:
    return expand(Instance.parse(rack(*jobs, **changes)), prune=False)


def row_of(problem: Problem, j: int, **wanted: Any) -> int:
    """First row whose shape has these fields; `ring` and `line` ask for one of such a width."""
    ring, line = wanted.pop("ring", None), wanted.pop("line", None)

    def fits(shape: Demand) -> bool:
        widths = {plan.kind: plan.wavelengths for plan in shape.plans}
        return (
            all(getattr(shape, name) == value for name, value in wanted.items())
            and (ring is None or widths.get("ring") == (ring,))
            and (line is None or widths.get("line") == (line,))
        )

    return next(row for row, shape in enumerate(problem.options[j].shapes) if fits(shape))


class Case:
    """Variables of a problem under one group, fixed step by step."""

    def __init__(self, problem: Problem, group: str) -> None:
        self.problem = problem
        self.cp = cp_model.CpModel()
        self.v: Variables = create_variables(self.cp, problem)
        groups_of(plugin_of(problem.cluster.fabric))[group].constraint(self.cp, self.v, problem)

    def choose(self, rows: dict[int, tuple[int, ...]], stays: tuple[int, ...] = ()) -> "Case":
        for j, job in enumerate(self.v.jobs):
            for row, literal in enumerate(job.rows):
                self.cp.add(literal == (row in rows.get(j, ())))
            if job.stay is not None:
                self.cp.add(job.stay == (j in stays))
        return self

    def place(self, placed: Placed, rows: dict[int, int]) -> "Case":
        """Fix blocks; those of other kinds are 0."""
        for j, job in enumerate(self.v.jobs):
            here = placed.get(j, {})
            kind = BlockKind.of(job.options.shapes[rows[j]]) if j in rows else None
            for some, counts in job.blocks.items():
                for server, count in enumerate(counts):
                    self.cp.add(count == (here.get(server, 0) if some == kind else 0))
        return self

    def touch(self, placed: Placed) -> "Case":
        """Fix where jobs lie, as their blocks say."""
        for j, job in enumerate(self.v.jobs):
            here = placed.get(j, {})
            for server, (touched, whole) in enumerate(zip(job.touched, job.whole, strict=True)):
                self.cp.add(touched == (server in here))
                self.cp.add(whole == ([*here] == [server]))
            self.cp.add(job.spans == (len(here) > 1))
        return self

    def light(self, reserved: dict[tuple[int, int, int], int]) -> "Case":
        for j, job in enumerate(light_variables(self.v).jobs):
            for (a, b), light in job.reserved.items():
                self.cp.add(light == reserved.get((j, a, b), 0))
        return self

    def is_solvable(self) -> bool:
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        status = solver.solve(self.cp)
        assert status in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
        return status == cp_model.OPTIMAL


@pytest.mark.parametrize(
    ("required", "rows", "solvable"),
    [
        (False, (), True), (False, (0,), True), (False, (0, 1), False),
        (True, (), False), (True, (1,), True), (True, (0, 1), False),
    ],
)  # fmt: skip
def test_admission_of_a_job(required: bool, rows: tuple[int, ...], solvable: bool) -> None:
    problem = problem_of(serving("x", [1, 2], required=required))
    assert Case(problem, "admission").choose({0: rows}).is_solvable() == solvable


@pytest.mark.parametrize(
    ("movable", "rows", "stays", "solvable"),
    [
        (True, (), (), False), (True, (), (0,), True), (True, (0,), (), True), (True, (0,), (0,), False),
        (False, (), (0,), True), (False, (0,), (), False),
    ],
)  # fmt: skip
def test_admission_of_a_resident(movable: bool, rows: tuple[int, ...], stays: tuple[int, ...], solvable: bool) -> None:
    problem = problem_of(residents=[single("r", "s0.t0", movable=movable)])
    assert Case(problem, "admission").choose({0: rows}, stays).is_solvable() == solvable


def test_admission_of_a_required_job_without_candidates() -> None:
    problem = problem_of(serving("x", 1, model="llama-3.1-70b", required=True))
    assert not Case(problem, "admission").is_solvable()


@pytest.mark.parametrize(
    ("blocks", "solvable"),
    [({0: 4}, True), ({0: 3, 1: 1}, True), ({0: 3}, False), ({0: 4, 1: 1}, False), ({}, False)],
)
def test_placement_add_up_to_the_blocks_of_the_row(blocks: dict[int, int], solvable: bool) -> None:
    problem = problem_of(training("x", 4))
    row = row_of(problem, 0, tensor=4, block=1)
    case = Case(problem, "placement").choose({0: (row,)}).place({0: blocks}, {0: row})
    assert case.is_solvable() == solvable


@pytest.mark.parametrize(("failed", "solvable"), [([], True), (["s0.t0"], False), (["s1.t0"], True)])
def test_placement_fit_into_healthy_devices(failed: list[str], solvable: bool) -> None:
    problem = problem_of(serving("x", 2), serving("y", 2), health={"failed_tiles": failed})
    rows = {j: row_of(problem, j, tensor=1) for j in (0, 1)}
    placed = {0: {0: 2}, 1: {0: 2}}
    case = Case(problem, "placement").choose({j: (r,) for j, r in rows.items()}).place(placed, rows)
    assert case.is_solvable() == solvable


@pytest.mark.parametrize(
    ("pair_server", "single_server", "solvable"), [(0, 1, True), (1, 1, True), (1, 0, True), (0, 0, True)]
)
def test_placement_of_single_ranks_need_no_port(pair_server: int, single_server: int, solvable: bool) -> None:
    problem = problem_of(serving("x", 2), serving("y", 1), tiles=3, health={"failed_ports": ["s0.t0", "s1.t0"]})
    rows = {0: row_of(problem, 0, tensor=1), 1: 0}
    placed = {0: {pair_server: 2}, 1: {single_server: 1}}
    case = Case(problem, "placement").choose({0: (rows[0],), 1: (0,)}).place(placed, rows)
    assert case.is_solvable() == solvable


def test_placement_of_pairs_need_ports() -> None:
    for failed, solvable in ((["s0.t0"], True), (["s0.t0", "s0.t1"], False)):
        problem = problem_of(serving("x", 2), tiles=3, health={"failed_ports": failed})
        row = row_of(problem, 0, tensor=1)
        case = Case(problem, "placement").choose({0: (row,)}).place({0: {0: 2}}, {0: row})
        assert case.is_solvable() == solvable


@pytest.mark.parametrize(("stays", "solvable"), [(True, False), (False, True)])
def test_placement_of_a_resident_count_while_it_stays(stays: bool, solvable: bool) -> None:
    problem = problem_of(serving("x", 4), residents=[single("r", "s0.t0")])
    row = row_of(problem, 1, tensor=1)
    rows: dict[int, tuple[int, ...]] = {1: (row,)} | ({} if stays else {0: (0,)})
    placed: Placed = {1: {0: 4}} | ({} if stays else {0: {1: 1}})
    case = Case(problem, "placement").choose(rows, (0,) if stays else ())
    assert case.place(placed, {1: row} | ({} if stays else {0: 0})).is_solvable() == solvable


@pytest.mark.parametrize(
    ("blocks", "said", "solvable"),
    [
        ({0: 4}, {0: 4}, True),
        ({0: 2, 1: 2}, {0: 2, 1: 2}, True),
        ({0: 4}, {0: 4, 1: 0}, False),
        ({0: 2, 1: 2}, {0: 4}, False),
        ({0: 4}, {1: 4}, False),
        ({}, {0: 0}, False),
    ],
)
def test_placement_says_which_servers_a_job_touches(
    blocks: dict[int, int], said: dict[int, int], solvable: bool
) -> None:
    problem = problem_of(training("x", 4))
    row = row_of(problem, 0, tensor=4, block=1)
    rows = (row,) if blocks else ()
    case = Case(problem, "placement").choose({0: rows}).place({0: blocks}, {0: row}).touch({0: said})
    assert case.is_solvable() == solvable


@pytest.mark.parametrize(("servers", "solvable"), [((0, 1), True), ((2, 3), True), ((1, 2), False), ((3,), True)])
def test_rack_hold_a_job_together(servers: tuple[int, ...], solvable: bool) -> None:
    problem = problem_of(training("x", 4), racks=2)
    case = Case(problem, "rack").touch({0: dict.fromkeys(servers, 1)})
    assert case.is_solvable() == solvable


@pytest.mark.parametrize(
    ("fibers", "per_fiber", "reserved", "solvable"),
    [(1, 4, (2, 2), True), (1, 4, (2, 3), False), (2, 4, (4, 4), True), (1, 2, (1, 2), False), (2, 2, (2, 2), True)],
)
def test_sharing_carry_all_jobs(fibers: int, per_fiber: int, reserved: tuple[int, int], solvable: bool) -> None:
    problem = problem_of(training("x", 4), training("y", 4), fibers=fibers, wavelengths_per_fiber=per_fiber)
    light = {(j, 0, 1): width for j, width in enumerate(reserved)}
    case = Case(problem, "sharing")
    assert all([*light_variables(case.v).jobs[j].reserved[0, 1].proto.domain][1] >= max(reserved) for j in (0, 1))
    assert case.light(light).is_solvable() == solvable


def test_sharing_that_may_be_lit_limit_the_light() -> None:
    problem = problem_of(training("x", 4), fibers=2, wavelengths_per_fiber=2)
    for most, solvable in ((1, False), (2, True)):
        case = Case(problem, "sharing").light({(0, 0, 1): 3})
        case.cp.add(case.v.of_fabric.lit[0, 1] <= most)
        assert case.is_solvable() == solvable


def ring_resident(**fields: Any) -> Fields:
    """Two ranks on two servers, two wavelengths each way."""
    ends = (("s0.t0", "s1.t0", "s0>s1#0"), ("s1.t0", "s0.t0", "s1>s0#0"))
    circuits = [{"from": a, "to": b, "wavelengths": [0, 1], "fibers": [f]} for a, b, f in ends]
    ring = {"kind": "ring", "wavelengths": [2]}
    return serving(
        "r", 2, devices=["s0.t0", "s1.t0"], circuits=[{"dimension": "tensor", "circuits": circuits}],
        configuration={"tensor": 2, "micro_batch": 8, "tensor_collective": ring}, **fields,
    )  # fmt: skip


@pytest.mark.parametrize(("reserved", "stays", "solvable"), [(2, True, True), (3, True, False), (3, False, True)])
def test_sharing_carry_residents_that_stay(reserved: int, stays: bool, solvable: bool) -> None:
    problem = problem_of(training("x", 4), residents=[ring_resident()], fibers=1)
    case = Case(problem, "sharing").choose({}, (0,) if stays else ())
    assert case.light({(1, 0, 1): reserved}).is_solvable() == solvable


@pytest.mark.parametrize(
    ("blocks", "reserved", "solvable"),
    [
        ({0: 4}, {}, True),
        ({0: 4}, {(0, 0, 1): 2, (0, 1, 0): 2}, False),
        ({0: 2, 1: 2}, {(0, 0, 1): 2, (0, 1, 0): 2}, True),
        ({0: 3, 1: 1}, {(0, 0, 1): 2, (0, 1, 0): 2}, True),
        ({0: 2, 1: 2}, {(0, 0, 1): 1, (0, 1, 0): 2}, False),
        ({0: 2, 1: 2}, {(0, 0, 1): 2}, False),
        ({0: 2, 1: 2}, {(0, 0, 1): 3, (0, 1, 0): 2}, False),
        ({0: 2, 1: 2}, {(0, 0, 1): 2, (0, 1, 0): 2, (0, 0, 2): 2}, False),
        ({0: 2, 1: 1, 2: 1}, {(0, 0, 1): 2, (0, 1, 2): 2, (0, 2, 0): 2}, True),
        ({0: 2, 1: 1, 2: 1}, {(0, 0, 1): 2, (0, 1, 0): 2}, False),
    ],
)
def test_path_of_a_ring_leaves_and_enters_every_server(
    blocks: dict[int, int], reserved: dict[tuple[int, int, int], int], solvable: bool
) -> None:
    """Circuits of two wavelengths: whole circuits between servers that the job lies on."""
    problem = problem_of(training("x", 4, constraints={"collective": "ring"}), servers=3, fibers=1)
    row = row_of(problem, 0, tensor=4, block=1, ring=2)
    case = Case(problem, "path").choose({0: (row,)}).place({0: blocks}, {0: row}).touch({0: blocks})
    assert case.light(reserved).is_solvable() == solvable


@pytest.mark.parametrize(("ones", "twos", "solvable"), [(3, 3, False), (3, 4, False), (4, 4, True)])
def test_path_of_complete_groups_depends_on_the_blocks(ones: int, twos: int, solvable: bool) -> None:
    """Four ranks that all exchange with each other: four circuits leave two of them."""
    problem = problem_of(training("x", 4, constraints={"collective": "exchange"}), fibers=2, wavelengths_per_tile=3)
    row = next(r for r, s in enumerate(problem.options[0].shapes) if s.tensor == 4 and s.plans[0].radices == (4,))
    assert problem.options[0].shapes[row].boundary.tolist() == [0, 3, 4, 3, 0]
    blocks = {0: 2, 1: 2}
    case = Case(problem, "path").choose({0: (row,)}).place({0: blocks}, {0: row}).touch({0: blocks})
    assert case.light({(0, 0, 1): ones, (0, 1, 0): twos}).is_solvable() == solvable


def test_path_of_wide_circuits_does_not_fill_a_fiber() -> None:
    """Circuits of two wavelengths on fibers of three: one on each fiber."""
    problem = problem_of(training("x", 4, constraints={"collective": "ring"}), fibers=1, wavelengths_per_fiber=3)
    for width, solvable in ((1, True), (2, True), (4, False)):
        row = row_of(problem, 0, tensor=4, block=1, ring=width)
        blocks = {0: 2, 1: 2}
        case = Case(problem, "path").choose({0: (row,)}).place({0: blocks}, {0: row}).touch({0: blocks})
        assert case.is_solvable() == solvable


@pytest.mark.parametrize(
    ("transit", "reserved", "solvable"),
    [
        (0, {(0, 0, 1): 2, (0, 1, 2): 2, (0, 2, 1): 2, (0, 1, 0): 2}, False),
        (1, {(0, 0, 1): 2, (0, 1, 2): 2, (0, 2, 1): 2, (0, 1, 0): 2}, True),
        (1, {(0, 0, 1): 2, (0, 2, 1): 2}, False),
        (1, {(0, 0, 1): 2, (0, 1, 0): 2, (0, 2, 1): 2, (0, 1, 2): 1}, False),
    ],
)
def test_path_of_a_ring_flows_on_through_third_servers(
    transit: int, reserved: dict[tuple[int, int, int], int], solvable: bool
) -> None:
    """Two ranks on s0 and two on s2, joined over s1: what enters s1 must leave it again."""
    near = [("s0", "s1"), ("s1", "s0"), ("s1", "s2"), ("s2", "s1")]
    bundles = [{"from": a, "to": b, "count": 1} for a, b in near]
    job = training("x", 4, constraints={"collective": "ring"})
    problem = problem_of(job, servers=3, fibers=bundles, transit=transit)
    row = row_of(problem, 0, tensor=4, block=1, ring=2)
    blocks = {0: 2, 2: 2}
    case = Case(problem, "path").choose({0: (row,)}).place({0: blocks}, {0: row}).touch({0: blocks})
    assert case.light(reserved).is_solvable() == solvable


@pytest.mark.parametrize(("transit", "solvable"), [(1, False), (2, True)])
def test_path_goes_no_farther_than_circuits_may(transit: int, solvable: bool) -> None:
    near = [(f"s{a}", f"s{b}") for a in range(4) for b in range(4) if abs(a - b) == 1]
    bundles = [{"from": a, "to": b, "count": 1} for a, b in near]
    job = training("x", 4, constraints={"collective": "ring"})
    problem = problem_of(job, servers=4, fibers=bundles, transit=transit)
    row = row_of(problem, 0, tensor=4, block=1, ring=2)
    blocks = {0: 2, 3: 2}
    case = Case(problem, "path").choose({0: (row,)}).place({0: blocks}, {0: row}).touch({0: blocks})
    assert case.is_solvable() == solvable


@pytest.mark.parametrize(
    ("key", "lost", "width", "blocks", "solvable"),
    [
        ("failed_lasers", (0,), 4, {0: 4}, False),
        ("failed_receivers", (0,), 4, {0: 4}, False),
        ("failed_lasers", (0,), 4, {0: 3, 1: 1}, True),
        ("failed_lasers", (0, 1), 2, {0: 4}, True),
        ("failed_lasers", (0, 1, 2), 2, {0: 4}, False),
    ],
)
def test_tiles_without_enough_lasers_host_no_rank_that_needs_them(
    key: str, lost: tuple[int, ...], width: int, blocks: dict[int, int], solvable: bool
) -> None:
    health = {key: [{"tile": "s0.t1", "wavelength": w} for w in lost]}
    problem = problem_of(training("x", 4, constraints={"collective": "ring"}), fibers=2, health=health)
    row = row_of(problem, 0, tensor=4, block=1, ring=width)
    case = Case(problem, "lasers").choose({0: (row,)}).place({0: blocks}, {0: row})
    assert case.is_solvable() == solvable


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lumorph/golden", "ocs_rail/rails64", "torus/sipac64", "sipam/phases"])
def test_groups_work_in_any_order_and_all_together(name: str) -> None:
    problem = expand(Instance.load(ROOT / "instances" / f"{name}.yaml"))
    groups = groups_of(plugin_of(problem.cluster.fabric))
    for names in ([*groups], [*reversed(groups)]):
        cp = cp_model.CpModel()
        v = create_variables(cp, problem)
        for each in names:
            groups[each].constraint(cp, v, problem)
        cp.add(sum(job.admitted for job in v.jobs) >= 1)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        assert solver.solve(cp) == cp_model.OPTIMAL
