from __future__ import annotations

from aifactory.channel import Progress
from aifactory.orchestrate.live import LOG_LINES, LiveLog, LiveProgress, line


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_flood_of_lines_becomes_one_event_with_the_newest_of_them() -> None:
    said: list[str] = []
    log = LiveLog(said.append, clock=(clock := Clock()))
    log.feed("first\n")
    log.feed("".join(f"{n}\n" for n in range(1000)))
    assert said == ["first"]
    clock.now = 10
    log.tick()
    lines = said[1].split("\n")
    assert lines[0] == f"... {1000 - LOG_LINES} lines more in the attempt's log"
    assert lines[1:] == [str(n) for n in range(1000 - LOG_LINES, 1000)]


def test_the_last_line_is_said_even_if_it_never_ended() -> None:
    said: list[str] = []
    log = LiveLog(said.append)
    log.feed("one\ntw")
    log.feed("o")
    log.close()
    assert said == ["one", "two"]


def test_a_progress_bar_is_its_last_state() -> None:
    said: list[str] = []
    LiveLog(said.append).feed("10%\r50%\r100%\r\n")
    assert said == ["100%"]


def test_progress_is_said_when_it_is_new_or_old_or_done() -> None:
    said: list[str] = []
    progress = LiveProgress(said.append, clock=(clock := Clock()))
    for done in (1, 2, 3):
        progress.feed(Progress(text="tokenize", done=done, total=9, unit="rows"))
    clock.now = 6
    progress.feed(Progress(text="tokenize", done=4, total=9, unit="rows"))
    progress.feed(Progress(text="tokenize", done=9, total=9, unit="rows"))
    progress.feed(Progress(text="write"))
    assert said == ["tokenize: 1 of 9 rows", "tokenize: 4 of 9 rows", "tokenize: 9 of 9 rows", "write"]


def test_large_numbers_are_readable() -> None:
    assert line(Progress(text="read", done=98_505, unit="rows")) == "read: 98,505 rows"


def test_a_text_that_says_the_amount_is_not_followed_by_it_again() -> None:
    assert line(Progress(text="quiz: 9 of 12 items", done=9, total=12, unit="items")) == "quiz: 9 of 12 items"
