"""What `aifactory plan` shows is a reviewed file: a diff of it is the effect of a change on every plan."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aifactory.cli.plan import show
from aifactory.launch import ask, plan
from tests.launch.lab import Lab
from tests.launch.published import RECIPE, publish_all

GOLDEN = Path(__file__).parents[2] / "golden" / "plan.txt"


def test_a_plan_is_shown_as_reviewed(
    lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    publish_all(lab.ns)
    planned = plan(RECIPE, project=lab.project, ns=lab.ns)
    show(planned, ask(planned, project=lab.project, ns=lab.ns))
    # The image and with it the hash follow the machinery's own source; the commit and the path follow the machine.
    shown = capsys.readouterr().out.replace(planned.hash, "<hash>")
    shown = shown.replace(planned.spec.image.digest[:16], "<image>").replace(str(lab.ns.root), "<namespace>")
    lines = [line.rstrip() for line in shown.splitlines() if not line.startswith("  commit ")]
    written = "\n".join(lines) + "\n"
    if os.environ.get("AIFACTORY_GOLDEN") == "write":
        GOLDEN.write_text(written)
    assert GOLDEN.read_text() == written, "review the change, then run this with AIFACTORY_GOLDEN=write"
