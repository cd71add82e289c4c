"""Turning keys into pinned inputs; whatever is not built is collected, so that all of it is said at once."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from aifactory.errors import FactoryError
from aifactory.launch.checkpoints.checkpoint import Trained, trained
from aifactory.launch.plans.pins import NONE, Pins
from aifactory.launch.refusal import GateRefused, Refusal
from aifactory.namespace import Key, Namespace, Publications, Snapshot
from aifactory.spec import InputRef, Part
from aifactory.spec.input_ref import InputKind

TOKENIZER_FILE = "tokenizer.json"


@dataclass
class Resolver:
    """Resolves against the publications of `ns`, pinned ones apart. `reader` names what reads the inputs."""

    ns: Namespace
    reader: str
    pins: Pins = NONE
    missing: list[Refusal] = field(default_factory=list)

    def current(self, role: str, kind: InputKind, key: str, part: Part | None = None) -> InputRef | None:
        """The key's pinned or current version as an input; None, and a refusal to come, where there is none."""
        if (pinned := self.pins.version(key)) is not None:
            return InputRef(role=role, kind=kind, key=key, version=pinned, part=part)
        publication = Publications(self.ns, key).current()
        if publication is None:
            self.missing.append(not_built(key, self.reader))
            return None
        return InputRef(role=role, kind=kind, key=key, version=publication.version, part=part)

    def start(self, line: str) -> Trained | None:
        """The pinned checkpoint of the line, else its pinned or current version; None, and a refusal to come, where
        nothing was promoted."""
        found = self.pins.checkpoints.get(line)
        if found is None:
            ref = self.current("start", "model", line)
            if ref is None:
                return None
            found = trained(f"{line}@{ref.version}", self.ns)
        return replace(found, ref=found.ref.evolve({"role": "start"}))

    def suite(self, key: str) -> InputRef | None:
        """A suite reads its test part where it has parts, and the whole else."""
        ref = self.current("suite", "suite", key)
        if ref is None:
            return None
        parts = self.snapshot(ref).manifest.parts
        return InputRef(role="suite", kind="suite", key=key, version=ref.version, part="test" if parts else None)

    def tokenizer_of(self, data: InputRef) -> InputRef | None:
        """The tokenizer that made a tokens stage: its publication names it among its inputs.

        Raises FactoryError, code "not_tokens", for data that no tokenizer has made.
        """
        # The newest publication of this very version counts.
        made_from = [one.inputs for one in Publications(self.ns, data.key).of(data.version)]
        inputs = made_from[-1].items() if made_from else ()
        found = [(key, version) for key, version in inputs if self._is_tokenizer(key, version)]
        if len(found) != 1:
            raise FactoryError(
                f"{data.name} can't be trained on: its publication names {len(found)} tokenizers",
                found=", ".join(key for key, _ in found) or "none",
                expected="a stage made by tokenize(..., tokenizer=...)",
                fix="put the tokenized stage into the mix (such as public/icd10cm/ready)",
                code="not_tokens",
            )
        key, version = found[0]
        return InputRef(role="tokenizer", kind="tokenizer", key=key, version=version)

    def agrees(self, tokenizer: InputRef) -> None:
        """Raises FactoryError, code "pin", when another version of the tokenizer is pinned than the one that made the
        data."""
        pinned = self.pins.by_hand.get(tokenizer.key, tokenizer.version)
        if pinned != tokenizer.version:
            raise FactoryError(
                f"{self.reader} would read data of another tokenizer than the pinned one",
                found=f"{tokenizer.key}@{pinned[:16]}",
                expected=tokenizer.name,
                fix="pin the tokens that this tokenizer made: a tokenizer goes with its data",
                code="pin",
            )

    def vocabulary(self, tokenizer: InputRef) -> int:
        """How many ids the tokenizer has."""
        snapshot = self.snapshot(tokenizer)
        for path in snapshot.paths():
            if path.name == TOKENIZER_FILE:
                document = json.loads(path.read_bytes())
                return len({*document["model"]["vocab"], *(token["content"] for token in document["added_tokens"])})
        raise FactoryError(
            f"{tokenizer.name} holds no {TOKENIZER_FILE}",
            found=", ".join(path.name for path in snapshot.paths()),
            fix=f"materialize {tokenizer.key} again",
            code="tokenizer",
        )

    def snapshot(self, ref: InputRef) -> Snapshot:
        return self.ns.resolve(ref.key, ref.version)

    def check(self) -> None:
        """Raises GateRefused with every input that is not built."""
        if self.missing:
            once = {refusal.what: refusal for refusal in self.missing}
            raise GateRefused(list(once.values()), what=f"{self.reader} can't be planned")

    def _is_tokenizer(self, key: str, version: str) -> bool:
        try:
            return self.ns.resolve(key, version).manifest.kind == "tokenizer"
        except FactoryError:
            return False


def not_built(key: str, reader: str) -> Refusal:
    """The refusal of an input without a current version."""
    build = f"run `aifactory launch {key}`, or materialize {key} in the UI"
    return Refusal(
        code="input_not_built",
        what=f"{reader} reads {key}, which is not built",
        found="no published version",
        expected="a current version",
        fix="promote a checkpoint of it: `aifactory promote <checkpoint>`" if Key(key).is_line else build,
    )
