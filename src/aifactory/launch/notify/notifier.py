"""Who is told, and how: the table `[tool.aifactory.notify]`, or the environment. Without either, the log."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aifactory.errors import FactoryError
from aifactory.launch.notify.notice import Notice
from aifactory.namespace.settings import FILE, setting
from aifactory.project import Project

VARIABLE = "AIFACTORY_NOTIFY_WEBHOOK"
"""Holds the webhook's address, which is a secret at most services and then belongs in no file of the project."""
type Say = Callable[[str], None]


class Notifier(Protocol):
    """Tells a notice. Never raises: what failed is said by its answer, and what is told of has happened anyway."""

    def tell(self, notice: Notice) -> str:
        """Empty when it was delivered, else why not, without the address."""
        ...


class NotifySettings(BaseModel):
    """`webhook`: where notices are posted as JSON. `tries` of `timeout_seconds` each, with pauses between them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    webhook: Annotated[str, Field(pattern=r"^(https?://[^\s/]+.*)?$")] = ""
    timeout_seconds: Annotated[float, Field(gt=0, le=60)] = 5.0
    tries: Annotated[int, Field(ge=1, le=10)] = 4


@dataclass(frozen=True)
class Log:
    """Says the notice in a log."""

    say: Say

    def tell(self, notice: Notice) -> str:
        owners = f" (for {', '.join(notice.owners)})" if notice.owners else ""
        self.say("\n".join(one for one in (f"{notice.title}{owners}", notice.text, notice.link) if one))
        return ""


@dataclass(frozen=True)
class Both:
    """The log, whatever becomes of the other; what that one could not deliver is said there too."""

    log: Log
    other: Notifier

    def tell(self, notice: Notice) -> str:
        self.log.tell(notice)
        why = self.other.tell(notice)
        if why:
            self.log.say(f"the notice was not delivered: {why}")
        return why


def notifier(project: Project, say: Say) -> Notifier:
    """The one of the project; `say` is the log. Raises FactoryError, code "notify", naming the field that is wrong,
    without its value."""
    table = setting(project, "notify") or {}
    if address := os.environ.get(VARIABLE):
        table = {**table, "webhook": address}
    try:
        settings = NotifySettings.model_validate(table)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(map(str, first["loc"]))
        raise FactoryError(
            f"{project.root / FILE}: tool.aifactory.notify.{name} is wrong",
            found=first["msg"],
            expected='webhook = "https://hooks.example/f" (or AIFACTORY_NOTIFY_WEBHOOK), timeout_seconds, tries',
            fix="correct that field",
            code="notify",
        ) from None
    if not settings.webhook:
        return Log(say)
    from aifactory.launch.notify.webhook import Webhook

    return Both(Log(say), Webhook(settings.webhook, settings.timeout_seconds, settings.tries))
