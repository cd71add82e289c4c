"""`python -m aifactory.cli`, where the console script is not on PATH."""

from aifactory.cli import main

main()
