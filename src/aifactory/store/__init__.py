"""Store, Journal, digests, canonical JSON: the only code that writes control records."""

from aifactory.store.canonical import canonical, digest, parse
from aifactory.store.files import fsync_directory, hash_file, make_directory, write_file, writing
from aifactory.store.journal import Journal, JournalConflict, Record
from aifactory.store.store import Store

__all__ = [
    "Journal",
    "JournalConflict",
    "Record",
    "Store",
    "canonical",
    "digest",
    "fsync_directory",
    "hash_file",
    "make_directory",
    "parse",
    "write_file",
    "writing",
]
