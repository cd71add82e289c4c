from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from aifactory.spec import GPT

torch: Any = pytest.importorskip("torch", reason="torch is not installed here")


@pytest.fixture(scope="module")
def model() -> Iterator[Any]:
    """A GPT with grouped queries, on a vocabulary of 64."""
    from aifactory.train import device as devices

    with devices.session(1) as device:
        from aifactory.train import model as models

        models.start_megatron(3)
        gpt = GPT(layers=2, hidden=32, heads=4, query_groups=2, context=32)
        yield models.build(gpt, 64, "fp32", device).eval()


def logits(model: Any, tokens: list[int], segments: list[int]) -> Any:
    from aifactory.train.model import block_mask

    rows = torch.tensor([tokens])
    mask = block_mask(torch.tensor([segments]))
    with torch.no_grad():
        return model(input_ids=rows, position_ids=torch.arange(len(tokens))[None], attention_mask=mask)[0]


def test_the_mask_hides_the_future_and_other_documents(model: Any) -> None:
    from aifactory.train.model import block_mask

    hidden = block_mask(torch.tensor([[1, 1, 2, 0]]))[0, 0].tolist()
    assert hidden == [
        [False, True, True, True],
        [False, False, True, True],
        [True, True, False, True],
        [True, True, True, False],
    ]


def test_changing_document_1_moves_document_2_by_exactly_nothing(model: Any) -> None:
    segments = [1] * 10 + [2] * 12
    second = list(range(20, 32))
    before = logits(model, [*range(1, 11), *second], segments)
    after = logits(model, [*range(41, 51), *second], segments)
    assert torch.equal(before[10:], after[10:])
    assert not torch.equal(before[:10], after[:10])


def test_a_packed_document_reads_as_it_does_alone(model: Any) -> None:
    second = list(range(20, 32))
    packed = logits(model, [*range(1, 11), *second], [1] * 10 + [2] * 12)[10:]
    assert torch.allclose(packed, logits(model, second, [1] * 12), atol=1e-5)


def test_weights_are_tied_and_queries_are_grouped(model: Any) -> None:
    from aifactory.train.model import parameters

    shapes = {name: tuple(value.shape) for name, value in model.named_parameters()}
    assert "output_layer.weight" not in shapes
    # 4 query heads and 2 groups of key and value, of 8 floats each.
    assert shapes["decoder.layers.0.self_attention.linear_qkv.weight"] == (4 * 8 + 2 * 2 * 8, 32)
    assert parameters(model) == sum(value.numel() for value in model.parameters())
