"""The command `aifactory`: reads and writes the namespace, never Dagster's database. One small file per command."""

from __future__ import annotations

import sys

from aifactory.errors import FactoryError


def main() -> None:
    """Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused by the gate, 130 interrupted."""
    from aifactory.cli.app import app
    from aifactory.cli.checkout import same_checkout
    from aifactory.cli.failures import report, unreachable

    try:
        same_checkout()
        app()
    except FactoryError as error:
        sys.exit(report(error, as_json="--json" in sys.argv[1:]))
    except BrokenPipeError:
        # Who read our output has closed it (`| head`): there is nobody left to tell.
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        if error.filename is None:
            raise
        sys.exit(report(unreachable(error), as_json="--json" in sys.argv[1:]))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


__all__ = ["main"]
