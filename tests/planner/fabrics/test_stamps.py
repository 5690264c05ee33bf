"""Numbers of racks against what is taken there."""

from random import Random

from planner.fabrics.stamps import Stamps


def test_racks_of_one_number_have_the_same_taken() -> None:
    """Whatever is taken and given back, in whatever order, in several racks at once."""
    random, seen, again = Random(0), dict[int, frozenset[str]](), 0
    stamps, taken = Stamps(3), [set[str]() for _ in range(3)]
    jobs = {name: random.sample(range(3), random.randint(1, 3)) for name in "abcdef"}
    for _ in range(400):
        name = random.choice(list(jobs))
        is_taken = not any(name in rack for rack in taken)
        for rack in jobs[name]:
            (taken[rack].add if is_taken else taken[rack].remove)(name)
        stamps.changed(jobs[name], name, is_taken=is_taken)
        assert len({*stamps.now}) == 3
        for stamp, there in zip(stamps.now, taken, strict=True):
            again += stamp in seen
            assert seen.setdefault(stamp, frozenset(there)) == there
    assert 300 < again < 900


def test_what_is_taken_and_given_back_at_once_leaves_the_number() -> None:
    stamps, job = Stamps(2), object()
    before = [*stamps.now]
    stamps.changed([1], job, is_taken=True)
    during = [*stamps.now]
    assert during[0] == before[0] != before[1] != during[1]
    for now, is_taken in ((before, False), (during, True), (before, False)):
        stamps.changed([1], job, is_taken=is_taken)
        assert stamps.now == now
    stamps.changed([1], object(), is_taken=True)
    assert stamps.now[1] not in {before[1], during[1]}
