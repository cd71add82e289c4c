"""Small enough to train in about a minute on two cores; what `make demo` runs."""

from aifactory.spec import GPT, Batch, Checkpointing, Mix, Optimizer, Parallelism, Schedule, Train, recipe
from assets.public import icd10cm


@recipe(line="public/models/tiny", suites=[icd10cm.chapters, icd10cm.heldout])
def tiny() -> Train:
    """A two-layer GPT on the ICD-10-CM hierarchy, with two workers and three checkpoints."""
    return Train(
        model=GPT(layers=2, hidden=64, heads=4, context=128),
        mix=Mix.of({icd10cm.ready: 1.0}, unit="loss_token"),
        steps=300,
        batch=Batch(sequences=16),
        optimizer=Optimizer(learning_rate=3e-3),
        schedule=Schedule(kind="cosine", warmup=20),
        checkpointing=Checkpointing(count=3),
        parallelism=Parallelism(data=2),
    )


@recipe(line="public/models/tiny", suites=[icd10cm.chapters, icd10cm.heldout], baseline=tiny)
def tiny_wide() -> Train:
    """`tiny` with twice the width."""
    return tiny().evolve({"model.hidden": 128})


@recipe(line="public/models/tiny", suites=[icd10cm.chapters, icd10cm.heldout], baseline=tiny)
def tiny_one() -> Train:
    """`tiny` with one worker and few steps: the shortest way from a change to a checkpoint."""
    return tiny().evolve(
        {"parallelism.data": 1, "steps": 20, "schedule.warmup": 2, "batch.sequences": 8, "checkpointing.count": 1}
    )
