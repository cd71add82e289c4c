"""MedQuAD: questions and answers from twelve sites of the NIH (Ben Abacha and Demner-Fushman 2019, CC BY 4.0)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aifactory.data.archive import members
from aifactory.data.xml import parse_xml, text_of
from aifactory.datasets import dataset, drop, rows, source, split, suite, tokenize, tokenizer, unique
from aifactory.spec import BitsPerByte

raw = source(
    archive="medquad-577bd37.tar.xz",
    url="https://github.com/abachaa/MedQuAD/archive/577bd37b96c02d1833b2c9eed2de9f96964e96cb.tar.gz",
    digest="25427bb9f11de40ed715f3001fc223153a3ff62edebbdfdf26ee5b435668fc8d",
    owners=["team:data"],
)


@dataclass(frozen=True)
class Pair:
    pair: str
    doc: str
    source: str
    focus: str
    qtype: str
    question: str
    answer: str
    text: str


@dataset(checks=[rows(16_407), unique("pair")])
def clean(raw: Path) -> Iterator[Pair]:
    """Every pair with an answer (three sites' are empty for copyright); the pages of one document share `doc`."""
    for path, content in members(raw, suffix=".xml"):
        root = parse_xml(content, path)
        focus, site = text_of(root.find("Focus")), root.get("source", "")
        number = root.get("id") or root.get("fid")
        drop("pair in the markup of an early draft", len(root.findall("qaPairs/pair")))
        for n, pair in enumerate(root.findall("QAPairs/QAPair"), 1):
            asked = pair.find("Question")
            question, answer = text_of(asked), text_of(pair.find("Answer"))
            if asked is None or not question or not answer:
                drop("empty answer" if question else "empty question")
                continue
            name, qtype, text = path.removesuffix(".xml"), asked.get("qtype", ""), f"{question}\nanswer: {answer}"
            yield Pair(f"{name}-{n}", f"{site}/{number}", site, focus, qtype, question, answer, text)


parts = split(clean, by="doc", train=0.9, val=0.05, test=0.05)
bpe8k = tokenizer(parts, vocabulary=8192)
ready = tokenize(parts, tokenizer=bpe8k, learn="answer", id="pair")
heldout = suite(parts, scorer=BitsPerByte(text="text"))
