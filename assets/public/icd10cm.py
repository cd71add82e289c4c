"""ICD-10-CM, April 2026: the classification of diagnoses, with the chapter of every code."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

from aifactory.data.xml import parse_xml, text_of
from aifactory.datasets import dataset, rows, source, split, suite, tokenize, tokenizer, unique
from aifactory.spec import BitsPerByte, MultipleChoice
from checks.icd10cm import chapter_count, leaves, one_chapter_per_category

CODES, TABULAR = "data/code-list-April-2026.txt", "data/icd10c-tabular-April-1-2026.xml"
raw = source(package="simple-icd-10-cm", files=[CODES, TABULAR], owners=["team:data"])


@dataclass(frozen=True)
class Code:
    code: str
    description: str
    chapter: str
    category: str
    leaf: bool
    text: str


@dataset(checks=[rows(98_505), unique("code"), chapter_count(22), leaves(74_719), one_chapter_per_category()])
def clean(raw: Path) -> Iterator[Code]:
    """Every chapter, block, category and code, with its description and its chapter; a leaf can be billed."""
    listed = {line.split(" ")[0] for line in (raw / CODES).read_text("utf-8").splitlines()}
    for chapter in parse_xml(raw / TABULAR).findall("chapter"):
        title = text_of(chapter.find("desc")).rpartition(" (")[0]
        for code, description, category, leaf in below(chapter, "", {}, listed):
            yield Code(code, description, title, category, leaf, f"{description}\nchapter: {title}")


def below(node: Element, category: str, ends: dict[str, str], listed: set[str]) -> Iterator[tuple[str, str, str, bool]]:
    name, text = node.get("id") or text_of(node.find("name")), text_of(node.find("desc"))
    children = node.findall("section") + node.findall("diag")
    if node.tag == "section" and len(name) == 3:
        name, category = f"{name}-{name}", name  # a block of one category is named like it
    elif node.tag == "diag":
        category = name[:3]
    ends = {e.get("char", ""): text_of(e) for e in node.findall("sevenChrDef/extension")} or ends
    stem = f"{name[:3]}{name[4:]:X<3}"  # codes that a seventh character completes stand in the list only
    full = [] if children else [end for end in ends if stem + end in listed]
    yield name, text, category or name, node.tag == "diag" and not children and not full
    yield from ((f"{stem[:3]}.{stem[3:]}{end}", f"{text}, {ends[end]}", category, True) for end in full)
    for child in children:
        yield from below(child, category, ends, listed)


parts = split(clean, by="category", train=0.9, val=0.05, test=0.05)
bpe8k = tokenizer(parts, vocabulary=8192)
ready = tokenize(parts, tokenizer=bpe8k, id="code")
chapters = suite(parts, scorer=MultipleChoice(question="description", answer="chapter"))
heldout = suite(parts, scorer=BitsPerByte(text="text"))
