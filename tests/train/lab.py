"""A small lab for tests: a namespace with made-up codes as tokens, tokenizer and suites; jobs on them."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from aifactory.channel import Commands, Job, Message, Reader, Writer
from aifactory.data.bpe import train_bpe
from aifactory.data.tokens import Document, write_tokens
from aifactory.namespace import Namespace, Publications, Staging
from aifactory.spec import (
    GPT,
    Batch,
    Checkpointing,
    Config,
    Context,
    Evaluate,
    ImageRef,
    InputRef,
    Mix,
    Optimizer,
    RunSpec,
    Schedule,
    Train,
)

CHAPTERS = {
    "Injuries": ["fracture", "burn", "wound", "sprain", "crush", "bite"],
    "Infections": ["cholera", "typhoid", "measles", "sepsis", "herpes", "malaria"],
    "Neoplasms": ["tumour", "melanoma", "sarcoma", "leukaemia", "carcinoma", "glioma"],
    "Diseases of the eye": ["cataract", "glaucoma", "keratitis", "blindness", "uveitis", "squint"],
}
SITES = ["left hand", "right hand", "both feet", "unspecified site", "other site", "initial encounter"]
KEY = "public/codes"


@dataclass(frozen=True)
class Lab:
    """References to what was published; `root` is the namespace's."""

    root: Path
    tokens: InputRef
    tokenizer: InputRef
    chapters: InputRef
    heldout: InputRef

    @property
    def namespace(self) -> Namespace:
        return Namespace(self.root)


def rows(count: int, seed: int) -> list[dict[str, str]]:
    """Made-up codes: a description of some words, and the chapter that its first word decides."""
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        chapter = chance.choice(list(CHAPTERS))
        words = [chance.choice(CHAPTERS[chapter]), *chance.sample(SITES, chance.randint(1, 3))]
        description = " ".join(words)
        made.append(
            {"description": description, "chapter": chapter, "text": f"{description}\nchapter: {chapter}"},
        )
    return made


def make_lab(root: Path) -> Lab:
    """Publish 2,000 documents of about 15 tokens, their tokenizer, and two suites of 120 rows."""
    namespace = Namespace(root)
    train, test = rows(2000, 1), rows(120, 2)
    bpe = train_bpe([row["text"] for row in train], 320)

    with Staging.start(namespace, f"{KEY}/bpe", "test") as staging:
        bpe.save(staging.path)
        tokenizer = _publish(namespace, staging, "tokenizer", None, "tokenizer", {})
    with Staging.start(namespace, f"{KEY}/ready", "test") as staging:
        documents = (Document(str(n), str(n), row["text"]) for n, row in enumerate(train))
        write_tokens(documents, staging.path / "train", bpe)
        tokens = _publish(
            namespace, staging, "tokens", "train", "dataset", {}, made_from={tokenizer.key: tokenizer.version}
        )
    scorers = {
        "chapters": {"kind": "multiple_choice", "question": "description", "answer": "chapter", "items": 100},
        "heldout": {"kind": "bits_per_byte", "text": "text", "items": 100},
    }
    suites = {}
    for name, scorer in scorers.items():
        with Staging.start(namespace, f"{KEY}/{name}", "test") as staging:
            (staging.path / "scorer.json").write_text(json.dumps(scorer))
            (staging.path / "test").mkdir()
            pq.write_table(pa.Table.from_pylist(test), staging.path / "test" / "part-00000.parquet")
            parts = {"scorer.json": None}
            suites[name] = _publish(namespace, staging, "suite", "test", "suite", parts)
    return Lab(root, tokens, tokenizer, suites["chapters"], suites["heldout"])


def _publish(
    namespace: Namespace,
    staging: Staging,
    kind: str,
    part: str | None,
    used_as: str,
    parts: dict[str, str | None],
    *,
    made_from: dict[str, str] | None = None,
) -> InputRef:
    names = [path.relative_to(staging.path).as_posix() for path in staging.path.rglob("*") if path.is_file()]
    snapshot, _ = staging.seal(kind=kind, rows={name: (None, parts.get(name, part)) for name in names})
    publications = Publications(namespace, staging.key)
    publications.publish(
        snapshot.version,
        0,
        run="test",
        writer="test",
        build_key="b",
        inputs=made_from or {},
        code_version="1",
        why="test",
    )
    role = {"dataset": "mix", "suite": staging.key.name}.get(used_as, used_as)
    return InputRef(role=role, kind=used_as, key=staging.key, version=snapshot.version, part=part)


def tiny(**changes: object) -> Train:
    """20 steps of a model of about 40,000 weights; keyword names spell dots as two underscores."""
    config = Train(
        model=GPT(layers=2, hidden=32, heads=4, query_groups=2, context=64),
        mix=Mix.of({f"{KEY}/ready": 1.0}),
        steps=20,
        batch=Batch(sequences=8),
        optimizer=Optimizer(learning_rate=1e-2),
        schedule=Schedule(warmup=4),
        checkpointing=Checkpointing(count=2),
        seed=7,
    )
    return config.evolve({name.replace("__", "."): value for name, value in changes.items()}).resolved(320)


def train_job(lab: Lab, config: Train, run: str, attempt: int = 1) -> Job:
    """A job for the next attempt of the run named `run`."""
    return _job(lab, "train", config, (lab.tokens, lab.tokenizer), run, attempt, Context())


def evaluate_job(lab: Lab, checkpoint: Path, digest: str, run: str, suites: tuple[InputRef, ...] = ()) -> Job:
    """A job that scores a checkpoint."""
    chosen = suites or (lab.chapters, lab.heldout)
    model = InputRef(role="checkpoint", kind="checkpoint", key="public/models/codes", version=digest)
    config = Evaluate(suites=tuple(ref.key for ref in chosen))
    context = Context(places={"checkpoint": lab.namespace.canonical(checkpoint)})
    return _job(lab, "evaluate", config, (model, *chosen), run, 1, context)


def _job(
    lab: Lab, kind: str, config: Config, inputs: tuple[InputRef, ...], run: str, attempt: int, context: Context
) -> Job:
    directory = lab.root / "public" / "runs" / run
    attempt_directory = directory / "attempts" / f"{attempt:08d}"
    attempt_directory.mkdir(parents=True, exist_ok=True)
    spec = RunSpec(kind=kind, config=config, inputs=inputs, image=ImageRef(name="train", digest="0" * 64))
    return Job(
        spec=spec,
        context=context,
        directory=directory,
        attempt=attempt,
        attempt_directory=attempt_directory,
        namespace=lab.namespace,
        writer=Writer(attempt_directory),
        commands=Commands(attempt_directory),
    )


def messages(job: Job) -> list[Message]:
    """What the attempt has said so far."""
    return Reader(job.attempt_directory).new()
