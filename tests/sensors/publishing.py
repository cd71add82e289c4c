"""Publications without a build: what a journal says, whoever wrote it."""

from __future__ import annotations

from collections.abc import Mapping

from aifactory.namespace import Audit, Audits, Namespace, Publication, Publications, Staging


def publish(
    ns: Namespace, key: str, text: str, *, inputs: Mapping[str, str] | None = None, run: str = "", red: str = ""
) -> Publication:
    """Publish a snapshot of one file; `red` names a check that is reported, but did not block."""
    publications = Publications(ns, key)
    with Staging.start(ns, key, run or "elsewhere") as staging:
        (staging.path / "data.txt").write_text(text)
        snapshot, _ = staging.seal(kind="files", rows={"data.txt": (len(text), None)})
    audits = Audits(ns, key, snapshot.version)
    audits.add(Audit(check="files", passed=True, counts={"files": 1}, run=run or "elsewhere"))
    if red:
        audits.add(Audit(check=red, passed=False, blocking=False, reason="too few", run=run or "elsewhere"))
    return publications.publish(
        snapshot.version,
        publications.number(),
        run=run,
        writer="elsewhere",
        build_key=f"{text:0<64.64}",
        inputs=dict(inputs or {}),
        code_version="1",
        checks=["files"],
    ).publication
