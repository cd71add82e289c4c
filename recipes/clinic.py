"""Trained on private notes: the line, its runs and its checkpoints are private to the project too."""

from aifactory.spec import GPT, Batch, Checkpointing, Mix, Train, recipe
from assets.private.clinic import notes


@recipe(line="private/clinic/models/notes", suites=[notes.heldout])
def clinic_notes() -> Train:
    """A small GPT on the pseudonymized notes."""
    return Train(
        model=GPT(layers=2, hidden=64, heads=4, context=128),
        mix=Mix.of({notes.ready: 1.0}, unit="loss_token"),
        steps=40,
        batch=Batch(sequences=8),
        checkpointing=Checkpointing(count=1),
    )
