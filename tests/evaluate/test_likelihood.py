from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from aifactory.spec import GPT

torch: Any = pytest.importorskip("torch", reason="torch is not installed here")
CONTEXT = 24


@pytest.fixture(scope="module")
def model() -> Iterator[Any]:
    """An untrained GPT, its weights made larger so that its opinions differ."""
    from aifactory.train import device as devices

    with devices.session(1) as device:
        from aifactory.train import model as models

        models.start_megatron(5)
        made = models.build(GPT(layers=2, hidden=32, heads=4, context=CONTEXT), 64, "fp32", device)
        with torch.no_grad():
            for weight in made.parameters():
                weight.mul_(3.0)
        yield made


@pytest.fixture
def likelihood(model: Any) -> Any:
    from aifactory.evaluate.likelihood import Likelihood
    from aifactory.train.device import Device

    return Likelihood(model, Device("cpu", "gloo"), CONTEXT, batch=4)


def plainly(model: Any, tokens: list[int]) -> list[float]:
    """Log-probabilities of all tokens but the first by the model's own forward pass."""
    from aifactory.train.model import block_mask

    rows = torch.tensor([tokens])
    with torch.no_grad():
        logits = model(
            input_ids=rows,
            position_ids=torch.arange(len(tokens))[None],
            attention_mask=block_mask(torch.zeros_like(rows)),
        )[0]
    chosen = torch.log_softmax(logits[:-1].double(), -1).gather(1, rows[0, 1:, None])
    return [float(value) for value in chosen[:, 0]]


def some(count: int, seed: int) -> list[int]:
    generator = torch.Generator().manual_seed(seed)
    return [int(token) for token in torch.randint(0, 64, (count,), generator=generator)]


def test_documents_of_any_length_score_as_each_does_alone(model: Any, likelihood: Any) -> None:
    documents = [some(length, length) for length in (5, 1, 24, 2, 17, 9, 0, 12)]
    found = dict(likelihood.documents(documents))
    assert sorted(found) == list(range(8))
    for n, document in enumerate(documents):
        expected = plainly(model, document) if len(document) > 1 else []
        assert found[n] == pytest.approx(expected, abs=1e-4)


def test_a_long_document_is_cut_as_in_training(model: Any, likelihood: Any) -> None:
    document = some(60, 0)
    ((_, found),) = likelihood.documents([document])
    assert len(found) == 59
    pieces = [document[start : start + CONTEXT + 1] for start in range(0, 59, CONTEXT)]
    assert found == pytest.approx([value for piece in pieces for value in plainly(model, piece)], abs=1e-4)


def test_choices_behind_one_prompt_score_as_each_does_alone(model: Any, likelihood: Any) -> None:
    prompts = [some(length, 50 + n) for n, length in enumerate([4, 7, 4, 1, 7, 4, 4, 4])]
    choices = [some(length, 80 + length) for length in (3, 1, 6)]
    found = dict(likelihood.choices(prompts, choices))
    for n, prompt in enumerate(prompts):
        expected = [sum(plainly(model, [*prompt, *choice])[len(prompt) - 1 :]) for choice in choices]
        assert found[n] == pytest.approx(expected, abs=1e-4)


def test_many_choices_are_spread_over_rows(model: Any, likelihood: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from aifactory.evaluate import likelihood as module

    prompts, choices = [some(5, 1), some(5, 2)], [some(length, length) for length in (3, 2, 4, 1, 5)]
    together = dict(likelihood.choices(prompts, choices))
    monkeypatch.setattr(module, "ROW_TOKENS", 5)
    apart = dict(likelihood.choices(prompts, choices))
    for n in (0, 1):
        assert apart[n] == pytest.approx(together[n], abs=1e-5)
