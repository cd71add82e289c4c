"""Keys and paths, classes and their algebra, snapshots: stage, audit, publish, pin, roll back."""

from aifactory.namespace import access
from aifactory.namespace.access import Grant
from aifactory.namespace.audits import Audit, Audited, Audits
from aifactory.namespace.grants import load_grants
from aifactory.namespace.keys import Key
from aifactory.namespace.manifest import Column, FileEntry, Kind, Manifest
from aifactory.namespace.namespace import Namespace
from aifactory.namespace.publication import Promoted, Publication, Published
from aifactory.namespace.publications import Publications
from aifactory.namespace.snapshot import Snapshot
from aifactory.namespace.staging import Staging
from aifactory.namespace.sweep import sweep

__all__ = [
    "Audit",
    "Audited",
    "Audits",
    "Column",
    "FileEntry",
    "Grant",
    "Key",
    "Kind",
    "Manifest",
    "Namespace",
    "Promoted",
    "Publication",
    "Publications",
    "Published",
    "Snapshot",
    "Staging",
    "access",
    "load_grants",
    "sweep",
]
