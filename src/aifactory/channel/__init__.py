"""How a run outside this process reports back (messages) and is spoken to (commands)."""

from aifactory.channel.cancel import Cancelled
from aifactory.channel.commands import Command, Commands
from aifactory.channel.job import Job
from aifactory.channel.message import PIPES_VERSION, Message
from aifactory.channel.payloads import (
    PAYLOAD,
    Audited,
    CheckpointSaved,
    Closed,
    ClosedOutcome,
    Failure,
    Level,
    Note,
    Payload,
    Progress,
    PublishOutcome,
    Scored,
    StageBuilt,
    Started,
)
from aifactory.channel.process import Process, boot_id, read_stat
from aifactory.channel.reader import Reader
from aifactory.channel.redact import redacted
from aifactory.channel.writer import Writer

__all__ = [
    "PAYLOAD",
    "PIPES_VERSION",
    "Audited",
    "Cancelled",
    "CheckpointSaved",
    "Closed",
    "ClosedOutcome",
    "Command",
    "Commands",
    "Failure",
    "Job",
    "Level",
    "Message",
    "Note",
    "Payload",
    "Process",
    "Progress",
    "PublishOutcome",
    "Reader",
    "Scored",
    "StageBuilt",
    "Started",
    "Writer",
    "boot_id",
    "read_stat",
    "redacted",
]
