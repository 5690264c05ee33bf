"""Sets of servers that a divided job may lie on, against every way to part them."""

from itertools import combinations, permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cpsat.divisions.joined_servers import MOST_ACROSS, JoinedServers, Needs
from planner.formulation.step_one import PairLight

NUM_SERVERS = 5
PAIRS = [*combinations(range(NUM_SERVERS), 2)]


def is_cut(servers: tuple[int, ...], carried: dict[tuple[int, int], int]) -> bool:
    """Whether some of the servers have no fibers to the others."""
    some = (set(each) for number in range(1, len(servers)) for each in combinations(servers, number))
    return any(all((min(a, b), max(a, b)) not in carried for a in part for b in {*servers} - part) for part in some)


@given(
    carried=st.dictionaries(st.sampled_from(PAIRS), st.integers(1, 3)),
    number=st.integers(2, NUM_SERVERS),
    light=st.integers(0, 4),
    may_part=st.booleans(),
)
def test_servers_send_the_light_and_lie_apart_only_where_they_may(
    carried: dict[tuple[int, int], int], number: int, light: int, may_part: bool
) -> None:
    links = PairLight(lambda demand: {}, lambda demand: (), lambda demand: (), carried, is_all=True)
    needs = Needs(light, may_part)
    expected = [
        on
        for on in combinations(range(NUM_SERVERS), number)
        if (may_part or not is_cut(on, carried))
        and all(sum(carried.get((min(a, b), max(a, b)), 0) for b in {*on} - {a}) >= light for a in on)
    ]
    assert list(JoinedServers(links, range(NUM_SERVERS)).having(number, needs)) == expected


@settings(max_examples=50)
@given(
    carried=st.dictionaries(st.sampled_from(PAIRS), st.integers(1, 3)),
    servers=st.sets(st.integers(0, NUM_SERVERS - 1)).map(lambda chosen: tuple(sorted(chosen))),
)
def test_servers_are_renamed_to_all_whose_fibers_carry_no_more(
    carried: dict[tuple[int, int], int], servers: tuple[int, ...]
) -> None:
    def light(a: int, b: int) -> int:
        return carried.get((min(a, b), max(a, b)), 0)

    expected = {
        others
        for others in permutations(range(NUM_SERVERS), len(servers))
        if all(
            light(others[x], others[y]) <= light(servers[x], servers[y])
            for x, y in combinations(range(len(servers)), 2)
        )
    }
    links = PairLight(lambda demand: {}, lambda demand: (), lambda demand: (), carried, is_all=True)
    found = [tuple(names[s] for s in servers) for names in JoinedServers(links, range(NUM_SERVERS)).renamed(servers)]
    assert found[0] == servers
    assert len(found) == len(expected)
    assert {*found} == expected
    carried_there = [[light(*pair) for pair in combinations(others, 2)] for others in found]
    as_much = [each == carried_there[0] for each in carried_there]
    assert as_much == sorted(as_much, reverse=True)


CARRIED = st.dictionaries(st.sampled_from(PAIRS), st.integers(1, 3))
SERVERS = st.sets(st.integers(0, NUM_SERVERS - 1), min_size=1).map(lambda chosen: tuple(sorted(chosen)))


def joined(carried: dict[tuple[int, int], int]) -> JoinedServers:
    return JoinedServers(
        PairLight(lambda demand: {}, lambda demand: (), lambda demand: (), carried, is_all=True), range(NUM_SERVERS)
    )


@given(carried=CARRIED, servers=SERVERS)
def test_servers_that_join_others_are_those_without_which_these_are_cut(
    carried: dict[tuple[int, int], int], servers: tuple[int, ...]
) -> None:
    """The number of sets is that of ways to divide the others between which no fiber runs, of which two to its power
    are."""
    found = joined(carried).apart(servers)
    for server in servers:
        others = [each for each in servers if each != server]
        halves = [{*some} for number in range(len(others) + 1) for some in combinations(others, number)]
        closed = [
            half for half in halves if not any((a in half) != (b in half) for a, b in carried if {a, b} <= {*others})
        ]
        assert 2 ** found.get(server, 0 if not others else 1) == len(closed)


@given(carried=CARRIED, servers=SERVERS)
def test_cuts_are_all_pairs_between_two_sets_that_are_joined_each(
    carried: dict[tuple[int, int], int], servers: tuple[int, ...]
) -> None:
    expected = set[tuple[tuple[int, int], ...]]()
    for number in range(1, len(servers)):
        for some in combinations(servers, number):
            rest = tuple(sorted({*servers} - {*some}))
            across = tuple(pair for pair in combinations(servers, 2) if pair in carried and len({*pair} & {*some}) == 1)
            if len(across) <= MOST_ACROSS and not is_cut(some, carried) and not is_cut(rest, carried):
                expected.add(across)
    found = joined(carried).cuts(servers)
    assert {pairs for _, pairs in found} == expected
    for side, pairs in found:
        assert servers[0] in side
        assert all(len({*pair} & {*side}) == 1 for pair in pairs)
