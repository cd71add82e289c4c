"""Checkpoints as a person names them, what they were trained from, and promoting one to its line."""
