"""Answers are remembered until enough others were asked for."""

from costmodel.pricing.recently import Recently


def test_the_oldest_answer_is_forgotten() -> None:
    found = Recently[str, int](2)
    asked = []

    def find(word: str) -> int:
        asked.append(word)
        return len(word)

    def of(word: str) -> int:
        return found.of(word, lambda: find(word))

    assert [of("a"), of("bb"), of("a")] == [1, 2, 1]
    assert asked == ["a", "bb"]
    found.keep("ccc", 4)
    assert of("ccc") == 4
    assert "bb" not in found
    assert "a" in found


def test_small_answers_are_kept_beside_the_last_ones() -> None:
    found = Recently[int, str](1, most_weight=10, weigh=len)
    for number, answer in enumerate(["aaaa", "bbb", "ccc"]):
        found.keep(number, answer)
    assert all(number in found for number in range(3))
    found.keep(0, "a")
    found.keep(3, "ddd")
    assert all(number in found for number in range(4))
    found.keep(4, "e" * 11)
    assert [number in found for number in range(5)] == [False] * 4 + [True]
