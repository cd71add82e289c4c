"""What the lab's smoke is: the table `[tool.aifactory.smoke]` of its pyproject.toml."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aifactory.errors import FactoryError
from aifactory.launch.smoke.decide import Rule
from aifactory.namespace import Key
from aifactory.namespace.settings import FILE, setting
from aifactory.project import Project

NIGHTLY = "0 1 * * *"
EXAMPLE = 'data = "public/<dataset>/ready", suites = ["public/<dataset>/<suite>"], version = 1'


class Place(BaseModel):
    """How a smoke is sent to one cluster: queue, priority and shape, by the names that the cluster has."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    queue: str | None = None
    priority: str | None = None
    shape: str | None = None


class SmokeSettings(BaseModel):
    """`data` is the public tokenized stage that is trained on, `suites` what the last checkpoint is scored on.

    `version` is raised by hand when the smoke asks more than before: every image is smoked again. `clusters` names
    where, all that are not this machine if it is left out; `places` what is asked of each. `proof_days`: after how many
    days an image is smoked again though nothing changed (never, if left out). `owners` are told of a red one. `cron` is
    when it is looked (UTC).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: str
    suites: tuple[str, ...] = Field(min_length=1)
    version: Annotated[int, Field(ge=1)] = 1
    clusters: tuple[str, ...] | None = None
    places: dict[str, Place] = Field(default_factory=dict)
    proof_days: Annotated[float, Field(gt=0)] | None = None
    deadline_seconds: Annotated[float, Field(gt=0)] = 3600.0
    owners: tuple[str, ...] = ()
    cron: str = NIGHTLY

    @property
    def rule(self) -> Rule:
        return Rule(self.version, self.proof_days)

    def place(self, cluster: str) -> Place:
        return self.places.get(cluster, Place())


def load_smoke(project: Project) -> SmokeSettings | None:
    """The settings; None for a project that declares no smoke.

    Raises what `setting` does, and FactoryError, code "smoke_settings", naming the field that is wrong, and for data
    that is not public: a smoke runs on every cluster, and what it says is read by whoever looks after them.
    """
    path, table = project.root / FILE, setting(project, "smoke")
    if table is None:
        return None
    try:
        found = SmokeSettings.model_validate(table)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(["tool.aifactory.smoke", *map(str, first["loc"])])
        raise _wrong(f"{path}: {name} is wrong", first["msg"]) from error
    for key in (found.data, *found.suites):
        if Key.parse(key).access != "public":
            raise _wrong(f"{path}: tool.aifactory.smoke names data that is not public", key)
    return found


def when(project: Project) -> str:
    """When the schedule looks; a project that declares no smoke is looked at too, and says so."""
    found = load_smoke(project)
    return found.cron if found is not None else NIGHTLY


def require_smoke(project: Project) -> SmokeSettings:
    """The settings, which have to be there; FactoryError, code "smoke_settings", else."""
    found = load_smoke(project)
    if found is None:
        raise _wrong(f"{project.root / FILE} declares no smoke", "no table [tool.aifactory.smoke]")
    return found


def _wrong(what: str, found: str) -> FactoryError:
    return FactoryError(
        what, found=found, expected=EXAMPLE, fix="write the table [tool.aifactory.smoke]", code="smoke_settings"
    )
