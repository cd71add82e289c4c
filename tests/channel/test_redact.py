"""What an exception and a message may say of private data."""

from __future__ import annotations

import json
import traceback
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifactory.channel import Audited, CheckpointSaved, Closed, Failure, Note, Payload, Progress, Scored, StageBuilt
from aifactory.channel.message import Message
from aifactory.channel.redact import redacted, safe_failure
from aifactory.channel.safe import safe
from aifactory.errors import FactoryError
from aifactory.run import verified_spec
from tests.channel.hostile import BARE, chained, raised

values = st.one_of(
    st.text(min_size=0, max_size=12).map(lambda text: f"Zaphodine{text}"),
    st.sampled_from(["Zaphodine", "Zaphodine Bjørk-Ångström", 'Zaphodine "O\'Hara"\nroom 7', "zaphodine_b"]),
)
errors = st.tuples(st.sampled_from(BARE), st.sampled_from(BARE), st.sampled_from(["none", "group", "cause", "context"]))


def quotes(shown: object, value: str) -> bool:
    """Whether any of it, however spelled, is there: the first letters of the name are in every value."""
    return "aphodine" in json.dumps(shown, ensure_ascii=False)


@given(values, errors, st.booleans())
def test_no_exception_that_is_made_of_a_value_tells_it(value: str, kinds: tuple, by_text: bool) -> None:
    make, below, how = kinds
    error = make(value) if how == "none" else chained(make(value), below(value), how)
    error = raised(error, value, by_text=by_text)
    shown = redacted(error, private=True, rows={"raw": 57, "@given": 56})
    assert not quotes(shown.model_dump(), value)
    assert shown.type
    assert "row 57 of raw; row 56 of the output" in shown.text
    assert safe_failure(shown) == shown


@given(values, errors)
def test_an_exception_over_public_data_is_told_unchanged(value: str, kinds: tuple) -> None:
    make, below, how = kinds
    error = make(value) if how == "none" else chained(make(value), below(value), how)
    shown = redacted(error, private=False)
    assert shown == Failure(
        type=type(error).__qualname__, text=str(error), trace="".join(traceback.format_exception(error))[-20_000:]
    )


def test_an_error_of_the_machinery_keeps_its_text_only_where_no_other_code_called_it(tmp_path: Path) -> None:
    (tmp_path / "Zaphodine").mkdir()
    with pytest.raises(FactoryError) as caught:
        verified_spec(tmp_path / "Zaphodine", 1)
    # The frame of this test is not the machinery's, and what it gave is quoted.
    called = redacted(caught.value, private=True)
    assert not quotes(called.model_dump(), "Zaphodine")
    assert called.text.startswith("code attempt; at aifactory/pod/handed.py:")
    assert safe_failure(called) == called
    trace = caught.value.__traceback__
    assert trace is not None
    alone = redacted(caught.value.with_traceback(trace.tb_next), private=True)
    assert alone.text.startswith("attempt 1 of Zaphodine was never recorded")
    assert alone.code == "attempt"


def test_the_place_of_the_labs_own_code_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "assets" / "own.py"
    path.parent.mkdir()
    path.write_text("import json\ndef clean(row):\n    return json.loads(row)\n")
    scope: dict[str, object] = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    with pytest.raises(json.JSONDecodeError) as caught:
        scope["clean"]("Zaphodine")  # type: ignore[operator]
    shown = redacted(caught.value, private=True)
    assert shown.type == "JSONDecodeError"
    assert shown.where == "assets/own.py:3 in clean"
    assert '  File "json/decoder.py", line ' in shown.trace


V = "Zaphodine"


@pytest.mark.parametrize(
    "payload",
    [
        Note(text=V),
        Progress(text=f"building {V}", unit=V, done=1),
        Progress(text=f"building private/clinic/notes/clean\n{V}"),
        Audited(key=V, version=V, check="c", passed=False, blocking=True, counts={V: 1, "rows": V, V + "x": {"a": V}}),
        Audited(key="private/a/b", version="0", check="c", passed=True, blocking=True, counts={"rows": 3}, reason=V),
        Audited(key="a", version="0", check="c", passed=False, blocking=True, reason=f"the check raised {V} at x"),
        StageBuilt(
            key=V,
            version=V,
            outcome="published",
            build_key=V,
            code_version=f"{V} x",
            inputs={V: "0", "private/a/b": V},
            columns=[{"name": V, "type": f"struct<{V}: string>", "nullable": True}, {V: V}],
            metadata={
                "preview": [{V: V}],
                "lengths": {"unit": V, "buckets": {V: 1}},
                "counts": {V: 1, "texts": V},
                "dropped": {V: 2},
                V: 1,
            },
            previous=V,
        ),
        CheckpointSaved(step=1, path=f"/factory/{V}", digest=V, loss=1.0, metrics={f"{V}!": 1.0}),
        Scored(suite=f"{V}?", key=V, scorer=f"a {V}", metric=f"{V} {V}", value=1, low=0, high=1, items=1),
        Closed(
            count=2,
            outcome="failed_code",
            error=Failure(type=f"{V}: x", text=V, trace=f"  {V}", code=V, where=V, rows={f"{V} ": 1}),
        ),
    ],
    ids=lambda payload: payload.type,
)
def test_a_message_of_an_older_image_is_cut_by_its_reader(payload: Payload) -> None:
    message = Message.of(payload, seq=1, attempt=1, time="now").safe()
    assert not quotes(message.pipes, V)
    assert message.safe() == message
    assert safe(safe(payload)) == safe(payload)


def test_a_message_that_nobody_knows_says_nothing() -> None:
    for method, params in (("report_custom_message", {"payload": {"type": V}}), ("log", {"level": V}), (V, {V: V})):
        assert not quotes(Message(seq=1, attempt=1, time="", method=method, params=params).safe().pipes, V)


@pytest.mark.parametrize(
    "payload",
    [
        Progress(text="tokenizing train of private/clinic/notes/ready", done=3, total=9, unit="documents"),
        Progress(text="step 30: loss 4.1234 (unigram 6.0000)", done=30, total=300, unit="steps"),
        Progress(text="notes: 3 of 9 items", done=3, total=9, unit="items"),
        Note(text="goes on from step 30 of 300 (step-00000030)"),
        Audited(
            key="private/clinic/notes/clean",
            version="0" * 64,
            check="unique_id",
            passed=False,
            blocking=True,
            counts={"rows": 5, "distinct": 3, "duplicates": 2},
            reason="rows 5, distinct 3, duplicates 2",
        ),
        CheckpointSaved(
            step=1,
            path="/factory/private/clinic/runs/train-tiny-0123456789ab/checkpoints/step-00000001",
            digest="0" * 64,
            loss=1.0,
            metrics={"unigram_loss": 2.0},
        ),
    ],
    ids=lambda payload: payload.type,
)
def test_what_is_of_the_machinery_stays(payload: Payload) -> None:
    assert safe(payload) == payload
