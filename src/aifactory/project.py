"""Where this checkout keeps its code and its state."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import aifactory
from aifactory.errors import FactoryError


@dataclass(frozen=True)
class Project:
    """A checkout: `root` holds assets/, recipes/, locks/ and the like; everything that it makes stands under `state`.

    `package` is the directory of the machinery (`aifactory` itself). Environment variables, for tests and for odd
    machines: AIFACTORY_PROJECT (root), AIFACTORY_STATE (state), AIFACTORY_ENVS (environments per lock),
    AIFACTORY_ROOT (the namespace).
    """

    root: Path
    state: Path
    envs: Path
    namespace: Path
    package: Path

    @classmethod
    def current(cls) -> Project:
        """The project named by AIFACTORY_PROJECT, else the checkout that this package was imported from."""
        if os.pathsep in os.environ.get("AIFACTORY_ROOT", ""):
            raise FactoryError(
                "AIFACTORY_ROOT names several namespaces",
                found=os.environ["AIFACTORY_ROOT"],
                expected="one folder",
                fix=f"name one of them (without {os.pathsep!r})",
                code="root",
            )
        package = Path(aifactory.__file__).resolve().parent
        root = Path(os.environ.get("AIFACTORY_PROJECT") or package.parents[1]).resolve()
        state = Path(os.environ.get("AIFACTORY_STATE") or root / ".aifactory").resolve()
        return cls(
            root=root,
            state=state,
            envs=Path(os.environ.get("AIFACTORY_ENVS") or state / "envs").resolve(),
            namespace=Path(os.environ.get("AIFACTORY_ROOT") or state / "namespace").resolve(),
            package=package,
        )
