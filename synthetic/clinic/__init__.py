"""A clinic that does not exist: its patients, their notes, and where the identifiers in the notes stand."""
