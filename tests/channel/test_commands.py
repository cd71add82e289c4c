"""Commands: numbered, acknowledged, each half its own journal."""

from __future__ import annotations

from pathlib import Path

import pytest

from aifactory.channel import Commands
from aifactory.errors import FactoryError


def test_a_command_is_pending_until_it_is_acknowledged(tmp_path: Path) -> None:
    launcher, driver = Commands(tmp_path), Commands(tmp_path)
    assert driver.pending() == []
    assert launcher.send("stop", reason="enough") == 1
    assert launcher.send("stop") == 2
    first, second = driver.pending()
    assert (first.n, first.name, first.arguments) == (1, "stop", {"reason": "enough"})
    driver.acknowledge(1, "taken")
    assert driver.pending() == [second]
    assert launcher.acknowledged() == {1: "taken"}
    assert {path.name for path in tmp_path.iterdir()} == {"commands", "acknowledged"}


def test_an_unknown_command_is_refused_by_its_sender(tmp_path: Path) -> None:
    with pytest.raises(FactoryError) as caught:
        Commands(tmp_path).send("dance")
    assert caught.value.code == "command"
    assert Commands(tmp_path).sent() == []
