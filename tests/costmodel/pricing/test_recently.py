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
