"""Where this checkout keeps its code and its state."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import aifactory
from aifactory import roots


@dataclass(frozen=True)
class Project:
    """A checkout: `root` holds assets/, recipes/, locks/ and the like; everything that it makes stands under `state`.

    `package` is the directory of the machinery (`aifactory` itself). Environment variables, for tests and for odd
    machines: AIFACTORY_PROJECT (root), AIFACTORY_STATE (state), AIFACTORY_ENVS (environments per lock),
    AIFACTORY_ROOT (the namespace; a list as in PATH names read-only ones after it, `lower`).
    """

    root: Path
    state: Path
    envs: Path
    namespace: Path
    package: Path
    lower: tuple[Path, ...] = ()

    @classmethod
    def current(cls) -> Project:
        """The project named by AIFACTORY_PROJECT, else the checkout that this package was imported from."""
        package = Path(aifactory.__file__).resolve().parent
        root = Path(os.environ.get("AIFACTORY_PROJECT") or package.parents[1]).resolve()
        state = Path(os.environ.get("AIFACTORY_STATE") or root / ".aifactory").resolve()
        namespace, *lower = roots.parse(os.environ.get(roots.VARIABLE, "")) or [(state / "namespace").resolve()]
        return cls(
            root=root,
            state=state,
            envs=Path(os.environ.get("AIFACTORY_ENVS") or state / "envs").resolve(),
            namespace=namespace,
            package=package,
            lower=tuple(lower),
        )
