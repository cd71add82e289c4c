"""A notice: what happened, to whom it matters, and where to read of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aifactory.launch.runs.result import RunResult
from aifactory.namespace.access import PUBLIC


@dataclass(frozen=True)
class Notice:
    """`title` is one line; `text` may have several; `link` leads to a page or a file; `facts` are short."""

    title: str
    text: str = ""
    link: str = ""
    owners: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, object]:
        """As JSON. `text` alone says everything, for receivers that show nothing else."""
        return {
            "text": "\n".join(one for one in (self.title, self.text, self.link) if one),
            "title": self.title,
            "link": self.link,
            "owners": list(self.owners),
            "facts": dict(self.facts),
        }


def of_run(
    result: RunResult, access: str, title: str, *, text: str = "", link: str = "", owners: tuple[str, ...] = ()
) -> Notice:
    """A notice of a run that ended. Of a private one it tells names and codes that are the machinery's own, and no
    text: what a run says may quote what it reads, and a notice leaves the site."""
    facts = {"run": result.run, "outcome": result.outcome, "attempt": str(result.attempt)}
    if result.error is not None and result.error.code:
        facts["code"] = result.error.code
    if access != PUBLIC:
        text = "Of a private run nothing more is told here."
    return Notice(title, text, link, owners, facts)
