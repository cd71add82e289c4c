"""Lineage: what something was made from and what it went into, from the records alone."""
