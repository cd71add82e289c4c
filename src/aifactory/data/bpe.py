"""Byte-level BPE tokenizers: trained deterministically, kept as one canonical `tokenizer.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aifactory.errors import FactoryError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

EOD = "<|endoftext|>"
"""Ends every document; id 0. Text that spells it is ordinary text: only the factory writes this token."""
FILE = "tokenizer.json"
SMALLEST = 257
"""256 bytes and the end of document."""


class BPE:
    """A byte-level BPE tokenizer: any text in, ids in [0, vocabulary) out, and `decode(encode(text)) == text`."""

    def __init__(self, tokenizer: Tokenizer, source: str = FILE) -> None:
        eod = tokenizer.token_to_id(EOD)
        if eod is None:
            raise FactoryError(
                f"{source}: the tokenizer has no end-of-document token",
                found=f"{tokenizer.get_vocab_size()} tokens without {EOD}",
                expected=EOD,
                fix="train it with aifactory.data.bpe.train_bpe",
                code="tokenizer",
            )
        # Else a document that quotes the token would end in its middle.
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self.eod: int = eod
        self.vocabulary: int = tokenizer.get_vocab_size()

    @classmethod
    def load(cls, path: Path) -> BPE:
        """Read `tokenizer.json`, given as the file or the directory that holds it."""
        from tokenizers import Tokenizer

        file = path / FILE if path.is_dir() else path
        if not file.is_file():
            raise FactoryError(f"{file}: no such tokenizer", fix="build the tokenizer's stage", code="tokenizer")
        try:
            tokenizer = Tokenizer.from_str(file.read_text("utf-8"))
        except Exception as error:  # tokenizers raises bare Exception on what it can't parse
            raise FactoryError(
                f"{file}: not a tokenizer",
                found=str(error)[:200],
                fix="rebuild the tokenizer's stage",
                code="tokenizer",
            ) from error
        return cls(tokenizer, str(file))

    def encode(self, text: str) -> list[int]:
        """Ids of one text, without the end of document."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of many texts, on all threads that TOKENIZERS_PARALLELISM and RAYON_NUM_THREADS allow."""
        return [e.ids for e in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]

    def encode_offsets(self, texts: Sequence[str]) -> list[tuple[list[int], list[tuple[int, int]]]]:
        """Ids and, for each, the characters [start, end) of the text that it stands for (a character that is cut into
        several tokens belongs to each of them)."""
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [(e.ids, e.offsets) for e in encoded]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of these ids; end-of-document tokens are left out, bytes that are no UTF-8 become U+FFFD."""
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=True)
        return text

    def save(self, directory: Path) -> Path:
        """Write the canonical `tokenizer.json` (sorted keys, no spaces) into `directory`; the same tokenizer gives the
        same bytes."""
        directory.mkdir(parents=True, exist_ok=True)
        file = directory / FILE
        file.write_text(canonical_json(json.loads(self._tokenizer.to_str())), "utf-8")
        return file


def canonical_json(content: Any) -> str:
    """One text per content: sorted keys, no spaces, characters as they are."""
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def train_bpe(texts: Iterable[str], vocabulary: int = 8192) -> BPE:
    """Train on texts as they come, in bounded memory (the counts of distinct words apart).

    The result depends on the words and their counts, not on threads nor on the order of the texts. It has at most
    `vocabulary` tokens, the end of document and all 256 bytes among them; fewer where the texts hold too few pairs.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    if vocabulary < SMALLEST:
        raise FactoryError(
            "the vocabulary is too small for bytes", found=vocabulary, expected=f">= {SMALLEST}", code="vocabulary"
        )
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=2,
        special_tokens=[EOD],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    seen = 0

    def counted() -> Iterable[str]:
        nonlocal seen
        for text in texts:
            seen += 1
            yield text

    tokenizer.train_from_iterator(counted(), trainer)
    if not seen:
        raise FactoryError("no text to train a tokenizer on", found="0 texts", expected="at least one", code="empty")
    return BPE(tokenizer)
