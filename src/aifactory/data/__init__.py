"""Transforms of data: pure functions over text, Arrow batches, archives and token files. Knows no stage and no key.

Import from the modules (`aifactory.data.split` and so on); importing this package loads nothing.
"""
