"""The tables that a demonstration ends with."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table

from aifactory.laptop.results import Training, columns, unigram
from aifactory.namespace import Audits, Namespace, Publications


def datasets(ns: Namespace, keys: Iterable[str]) -> Table:
    """One line for each stage: rows, size, version, checks."""
    table = Table(title="Datasets", title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name, justify in (
        ("stage", "left"),
        ("rows", "right"),
        ("size", "right"),
        ("version", "left"),
        ("checks", "left"),
    ):
        table.add_column(name, justify="right" if justify == "right" else "left")
    for key in keys:
        current = Publications(ns, key).current()
        if current is None:
            table.add_row(key, "-", "-", "[yellow]not built[/]", "-")
            continue
        audits = Audits(ns, key, current.version).latest().values()
        red = sorted(audit.check for audit in audits if not audit.passed)
        checks = f"[red]red: {', '.join(red)}[/]" if red else f"[green]{len(audits)} passed[/]"
        rows = "-" if current.rows is None else f"{current.rows:,}"
        table.add_row(key, rows, megabytes(current.bytes), current.version[:16], checks)
    return table


def checkpoints(training: Training) -> Table:
    """One line for each checkpoint: loss beside the unigram model's, scores with their confidence intervals."""
    names = columns(training)
    table = Table(
        title=f"Checkpoints of {training.run}", title_justify="left", title_style="bold", box=None, pad_edge=False
    )
    for name in ("step", "loss", "unigram loss"):
        table.add_column(name, justify="right")
    for label in names.values():
        table.add_column(label)
    for saved in training.checkpoints:
        scores = {f"{score.key} {score.metric}": score for score in training.scores.get(saved.digest, ())}
        reference = unigram(saved)
        cells = [str(saved.step), f"{saved.loss:.3f}", "-" if reference is None else f"{reference:.3f}"]
        for name in names:
            score = scores.get(name)
            cells.append("-" if score is None else f"{score.value:.3f}  ({score.low:.3f} to {score.high:.3f})")
        table.add_row(*cells)
    if names:
        items = {score.items for scores in training.scores.values() for score in scores}
        table.caption = (
            f"in brackets: 95 % confidence intervals, over {' or '.join(f'{n:,}' for n in sorted(items))} items"
        )
        table.caption_justify = "left"
    return table


def megabytes(count: int) -> str:
    """`12.3 MB`."""
    return f"{count / 1e6:.1f} MB"
