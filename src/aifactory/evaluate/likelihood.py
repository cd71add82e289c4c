"""Log-likelihoods of tokens under a model of a checkpoint, several sequences at once.

Importing this module imports megatron: call `aifactory.train.device.prepare` first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from aifactory.train.device import Device
from aifactory.train.model import block_mask

ROW_TOKENS = 1024
"""At most so many tokens of choices stand behind one prompt; attention costs the square of a row."""
PASS_TOKENS = 8192
"""At most so many tokens in one forward pass, whatever the batch: what bounds memory."""


class Likelihood:
    """Scores tokens with `model` (a megatron GPT). `batch` is the most rows of one forward pass."""

    def __init__(self, model: Any, device: Device, context: int, batch: int):
        # Without weights that want gradients no graph is kept.
        self._model = model.eval().requires_grad_(False)
        self._device, self.context, self._batch = device, context, batch

    def documents(self, documents: Sequence[Sequence[int]]) -> Iterator[tuple[int, list[float]]]:
        """For each document: its index and the log-probability (nats) of each of its tokens but the first.

        Documents come back as they are done, short ones first. One longer than the context is cut as in training: the
        first token of a later piece is predicted from the last piece's end.
        """
        pieces = [
            (n, start, ids[start : start + self.context + 1])
            for n, ids in enumerate(documents)
            for start in range(0, max(1, len(ids) - 1), self.context)
        ]
        pieces.sort(key=lambda piece: (len(piece[2]), piece[0], piece[1]))
        left = [sum(1 for _ in range(0, max(1, len(ids) - 1), self.context)) for ids in documents]
        found: list[list[float]] = [[0.0] * max(0, len(ids) - 1) for ids in documents]
        for group in self._groups(pieces):
            width = max(2, max(len(ids) for _, _, ids in group))
            tokens = torch.zeros(len(group), width, dtype=torch.long)
            for row, (_, _, ids) in enumerate(group):
                tokens[row, : len(ids)] = torch.tensor(ids, dtype=torch.long)
            inputs, targets = tokens[:, :-1], tokens[:, 1:]
            mask = block_mask(torch.zeros(1, inputs.shape[1], dtype=torch.long))
            hidden = self._hidden(inputs, torch.arange(inputs.shape[1]), mask)
            known = torch.tensor([len(ids) - 1 for _, _, ids in group])
            used = torch.arange(inputs.shape[1])[None] < known[:, None]
            values = iter(self._logprobs(hidden, used, targets[used]))
            for n, start, ids in group:
                found[n][start : start + len(ids) - 1] = [next(values) for _ in ids[1:]]
                left[n] -= 1
                if not left[n]:
                    yield n, found[n]

    def choices(
        self, prompts: Sequence[Sequence[int]], choices: Sequence[Sequence[int]]
    ) -> Iterator[tuple[int, list[float]]]:
        """For each prompt: its index and the log-probability (nats) of each choice right after it.

        All choices stand in one row behind their prompt, each blind to the others and at the positions that follow the
        prompt, so that a prompt is read once. Prompts come back as they are done, short ones first; prompt and longest
        choice must fit into the context.
        """
        order = sorted(range(len(prompts)), key=lambda n: (len(prompts[n]), n))
        while order:
            size = len(prompts[order[0]])
            same = [n for n in order if len(prompts[n]) == size]
            order = order[len(same) :]
            for group in self._equal_groups(same, size, choices):
                scores = torch.zeros(len(group), len(choices), dtype=torch.float64)
                for first, last in _parts(choices):
                    rows = [prompts[n] for n in group]
                    scores[:, first:last] = self._behind(rows, choices[first:last])
                for row, n in enumerate(group):
                    yield n, scores[row].tolist()

    def _behind(self, prompts: Sequence[Sequence[int]], choices: Sequence[Sequence[int]]) -> Any:
        size = len(prompts[0])
        tail = [token for choice in choices for token in choice]
        tokens = torch.tensor([[*prompt, *tail] for prompt in prompts], dtype=torch.long)
        lengths = [len(choice) for choice in choices]
        starts = [size + sum(lengths[:k]) for k in range(len(choices))]
        positions = torch.cat([torch.arange(size), *(torch.arange(size, size + n) for n in lengths)])
        # Segment 0 is the prompt, which everyone may look at; k + 1 is choice k.
        segments = torch.cat([torch.zeros(size), *(torch.full((n,), k + 1) for k, n in enumerate(lengths))])
        length = len(positions)
        later = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
        other = (segments[:, None] != segments[None]) & (segments[None] != 0)
        hidden = self._hidden(tokens, positions, (later | other)[None, None])
        # What predicts a choice's first token is the prompt's last.
        before = [[size - 1, *range(start, start + n - 1)] for start, n in zip(starts, lengths, strict=True)]
        where = torch.tensor([place for places in before for place in places])
        rows = torch.arange(len(prompts))[:, None].expand(-1, len(where))
        picked = hidden[where[None].expand(len(prompts), -1), rows]
        values = self._scored(picked.reshape(1, -1, picked.shape[-1]), torch.tensor(tail).repeat(len(prompts)))
        sums = torch.zeros(len(prompts), len(choices), dtype=torch.float64)
        owner = torch.repeat_interleave(torch.arange(len(choices)), torch.tensor(lengths))
        return sums.index_add_(1, owner, values.reshape(len(prompts), -1))

    def _hidden(self, tokens: Any, positions: Any, mask: Any) -> Any:
        """Hidden states [s, b, h] of tokens [b, s] whose rows all stand at `positions` [s]."""
        model, place = self._model, self._device.name
        tokens, positions, mask = tokens.to(place), positions.to(place), mask.to(place)
        embedded = model.embedding(input_ids=tokens, position_ids=positions[None].expand_as(tokens))
        rotary = model.rotary_pos_emb(int(positions.max()) + 1)[positions]
        return model.decoder(hidden_states=embedded, attention_mask=mask, rotary_pos_emb=rotary)

    def _logprobs(self, hidden: Any, used: Any, targets: Any) -> list[float]:
        picked = hidden.transpose(0, 1)[used.to(hidden.device)]
        return list(self._scored(picked[None], targets).tolist())

    def _scored(self, hidden: Any, targets: Any) -> Any:
        """Log-probabilities (float64, on the CPU) of `targets` [n] after hidden states [1, n, h]."""
        found = []
        weight = self._model.shared_embedding_or_output_weight()
        for start in range(0, hidden.shape[1], PASS_TOKENS):
            logits, _ = self._model.output_layer(hidden[:, start : start + PASS_TOKENS], weight=weight)
            wanted = targets[start : start + PASS_TOKENS].to(logits.device)
            logits = logits[0].float()
            chosen = logits.gather(1, wanted[:, None])[:, 0]
            found.append((chosen - torch.logsumexp(logits, dim=1)).double().cpu())
        return torch.cat(found) if found else torch.zeros(0, dtype=torch.float64)

    def _groups(self, pieces: list[tuple[int, int, Sequence[int]]]) -> Iterator[list[tuple[int, int, Sequence[int]]]]:
        while pieces:
            rows = 1
            while rows < min(self._batch, len(pieces)) and (rows + 1) * len(pieces[rows][2]) <= PASS_TOKENS:
                rows += 1
            yield pieces[:rows]
            pieces = pieces[rows:]

    def _equal_groups(self, same: list[int], size: int, choices: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        longest = max(sum(len(choice) for choice in choices[a:b]) for a, b in _parts(choices))
        rows = max(1, min(self._batch, PASS_TOKENS // (size + longest)))
        for start in range(0, len(same), rows):
            yield same[start : start + rows]


def _parts(choices: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Ranges of choices that stand in one row together."""
    parts, first, tokens = [], 0, 0
    for n, choice in enumerate(choices):
        if n > first and tokens + len(choice) > ROW_TOKENS:
            parts.append((first, n))
            first, tokens = n, 0
        tokens += len(choice)
    return [*parts, (first, len(choices))]
