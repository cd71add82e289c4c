"""Telling people what a night found: a line in the log, or a webhook."""
