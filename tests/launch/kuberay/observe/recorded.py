"""States as a real API server, operator and Kueue have shown them, trimmed: `recorded/<state>.json`."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from aifactory.launch.kuberay.observe import Seen, observe

HERE = Path(__file__).parent / "recorded"
NAMES = sorted(path.stem for path in HERE.glob("*.json"))


def recorded(name: str) -> tuple[datetime, dict[str, Any]]:
    """When it was so, and the arguments of `observe`."""
    found: dict[str, Any] = json.loads((HERE / f"{name}.json").read_text())
    return datetime.fromisoformat(found.pop("at")), found


def seen(name: str, **more: Any) -> Seen:
    at, objects = recorded(name)
    return observe(**{"now": at, **objects, **more})
