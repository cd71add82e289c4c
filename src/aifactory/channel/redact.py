"""What an exception may say where private data is read: its type, where it was raised, and which row was at hand.

An exception's text, its notes, its causes and the values in a validation error quote data, so none of them leaves a
private run's directory; the whole of it stands in the attempt's `logs/driver.log`.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType

import aifactory
from aifactory.channel.payloads import Failure
from aifactory.errors import FactoryError

TRACE_CHARACTERS = 20_000
GIVEN = "@given"
"""Among the rows of a failure: the one of the output."""

SHOWN = frozenset(
    {"attempt", "class", "code_version", "crossing", "crossing_key", "damaged", "deadline", "digest", "edited", "kind"}
    | {"inputs", "learn", "lost", "nan", "no_stage", "not_started", "package", "parts", "red_checks", "restricted_row"}
    | {"restricted_zone", "rolled_back", "worker", "worker_lost", "workers_missing", "no_room"}
)
"""Codes of the machinery's own errors whose texts hold keys, versions, counts and names of the code alone. Whoever adds
one has read every line that raises it: file and column names may be values too."""

CLUSTER = frozenset(
    {"container_config", "crash_loop", "dashboard", "deactivated", "deadline_cluster", "deadline_queue"}
    | {"deadline_run", "deadline_stall", "deadline_start", "deleted", "drained", "entrypoint", "evicted", "failed"}
    | {"gang_stale", "gone", "head_lost", "image_missing", "init_fails", "invalid", "kai_no_queue", "killed"}
    | {"kueue_never_fits", "kueue_no_priority", "kueue_no_queue", "node_lost", "oom_kill", "oom_starts"}
    | {"pod_killed", "pod_lost", "pod_refused", "preempted", "stopped", "submitter"}
)
"""Codes of how a cluster ended an attempt: their texts hold names and numbers of Kubernetes' objects, and none of what
a container printed (`aifactory.launch.kuberay.observe`)."""

PACKAGE = str(Path(aifactory.__file__).parent) + "/"
CODE_FOLDERS = ("assets/", "checks/")

_TYPE = re.compile(r"[A-Za-z_]\w{0,79}(\.[A-Za-z_]\w{0,79}){0,5}", re.ASCII)
_CODE = re.compile(r"[a-z][a-z_]{0,39}")
_ROLE = re.compile(r"@given|[A-Za-z_]\w{0,79}", re.ASCII)
_PLACE = re.compile(r"[\w./+-]{1,200}\.py:\d{1,7} in [\w.<>]{1,200}")
_FRAME = re.compile(r'  File "[\w./+-]{1,200}\.py", line \d{1,7}, in [\w.<>]{1,200}|  File elsewhere')


def redacted(error: BaseException, *, private: bool, rows: Mapping[str, int] | None = None) -> Failure:
    """The exception for a message. Of public data: type, text and trace, unchanged.

    Of private data: the type by the name that its code has, the place (file, line, function) and the frames, and
    `rows`, the numbers of the rows that were at hand by the input that they were read from (from 1). The text only of
    an error that the machinery raised by itself, with one of the SHOWN codes.
    """
    if not private:
        trace = "".join(traceback.format_exception(error))[-TRACE_CHARACTERS:]
        return Failure(type=type(error).__qualname__, text=_text(error), trace=trace)
    frames = list(_frames(error.__traceback__))
    ours = bool(frames) and all(filename.startswith(PACKAGE) for filename, _, _ in frames)
    code = ""
    if isinstance(error, FactoryError) and frames and frames[-1][0].startswith(PACKAGE):
        code = str(error.code)  # whatever called it, its code is a word of the machinery
    return safe_failure(
        Failure(
            type=type_name(type(error)),
            text=FactoryError.__str__(error) if isinstance(error, FactoryError) and ours and code in SHOWN else "",
            trace="\n".join(_line(*frame) for frame in frames)[-TRACE_CHARACTERS:],
            code=code,
            where=_where(frames),
            rows=dict(rows or {}),
        )
    )


def safe_failure(failure: Failure) -> Failure:
    """The failure of a private run as it may be shown, whoever wrote it: what does not look like a type, a place or a
    number is left out. Twice is as once."""
    kept = Failure(
        type=failure.type if _TYPE.fullmatch(failure.type) else "Exception",
        text=failure.text,
        trace="\n".join(line for line in failure.trace.split("\n") if _FRAME.fullmatch(line)),
        code=failure.code if _CODE.fullmatch(failure.code) else "",
        where=failure.where if _PLACE.fullmatch(failure.where) else "",
        rows={name: number for name, number in failure.rows.items() if _ROLE.fullmatch(name)},
    )
    return kept if kept.text and kept.code in SHOWN | CLUSTER else kept.model_copy(update={"text": _sentence(kept)})


def type_name(kind: type[BaseException]) -> str:
    """The name by which the type stands in its module. Of one that was made while the code ran, whose name may be
    anything: that of the nearest type above it which has one."""
    for one in kind.__mro__:
        scope: object = sys.modules.get(str(type.__dict__["__module__"].__get__(one)))
        name = str(type.__dict__["__qualname__"].__get__(one))
        for part in name.split("."):
            scope = getattr(scope, "__dict__", {}).get(part)
        if scope is one and _TYPE.fullmatch(name):
            return name
    return "BaseException"


def _sentence(failure: Failure) -> str:
    said = [f"code {failure.code}"] if failure.code else []
    said += [f"at {failure.where}"] if failure.where else []
    said += [f"row {number:,} of {name}" for name, number in failure.rows.items() if name != GIVEN]
    if failure.rows.get(GIVEN) is not None:
        said.append(f"row {failure.rows[GIVEN]:,} of the output")
    return "; ".join([*said, "its text may quote private data: read it in the run's directory"])


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:
        return f"(its text can't be told: {type(broken).__name__})"


def _frames(trace: TracebackType | None) -> Iterator[tuple[str, int, str]]:
    for frame, line in traceback.walk_tb(trace):
        yield frame.f_code.co_filename, line, frame.f_code.co_qualname


def _line(filename: str, line: int, name: str) -> str:
    place = _place(filename)
    return f'  File "{place}", line {line}, in {name}' if place else "  File elsewhere"


def _where(frames: list[tuple[str, int, str]]) -> str:
    """The innermost place in this lab's own code, else the innermost that is code at all."""
    placed = [(place, line, name) for filename, line, name in frames if (place := _place(filename))]
    own = [one for one in placed if one[0].startswith(CODE_FOLDERS)]
    for place, line, name in [*own[-1:], *placed[-1:]]:
        return f"{place}:{line} in {name}"
    return ""


def _place(filename: str) -> str:
    """A file of code as it is imported (`assets/public/words.py`). Empty for what was made of text while the code ran,
    and for files that a run wrote."""
    if "/attempts/" in filename:
        return ""
    found = [entry for entry in sys.path if entry and filename.startswith(f"{entry.rstrip('/')}/")]
    return filename[len(max(found, key=len).rstrip("/")) + 1 :] if found else ""
