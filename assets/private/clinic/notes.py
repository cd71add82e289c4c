"""Clinical notes of the restricted zone, pseudonymized on their way here. Those of this lab's example are invented."""

from collections.abc import Iterator
from dataclasses import dataclass

from aifactory.datasets import crossing, dataset, drop, split, suite, tokenize, tokenizer, unique
from aifactory.datasets.crossed import Crossed
from aifactory.spec import BitsPerByte

pseudonymized = crossing(
    "clinic",
    identifiers={
        "mrn": "id",
        "insurance": "id",
        "given": "given",
        "middle": "middle",
        "family": "family",
        "birth": "birth",
        "phone": "phone",
        "mobile": "phone",
        "mail": "mail",
        "street": "street",
        "postcode": "postcode",
        "city": "city",
    },
    annotated="annotated.jsonl",
    checks=[unique("note")],
    owners=["team:clinic"],
)


@dataclass(frozen=True)
class Note:
    note: str
    patient: str
    text: str


@dataset(checks=[unique("note")])
def clean(pseudonymized: Iterator[Crossed]) -> Iterator[Note]:
    """Notes with something in them, blanks at the ends of lines left out."""
    for row in pseudonymized:
        text = "\n".join(line.rstrip() for line in row.text.strip().splitlines())
        if not text:
            drop("empty note")
            continue
        yield Note(row.note, row.patient, text)


parts = split(clean, by="patient", train=0.8, val=0.1, test=0.1)
bpe1k = tokenizer(parts, vocabulary=1024)
ready = tokenize(parts, tokenizer=bpe1k, id="note")
heldout = suite(parts, scorer=BitsPerByte(text="text"))
