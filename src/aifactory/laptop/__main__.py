"""What `make demo`, `make ui`, `make down` and `make status` run."""

from __future__ import annotations

import argparse
import signal
import sys
from types import FrameType

from rich.console import Console

from aifactory.errors import FactoryError
from aifactory.laptop.services import Services
from aifactory.project import Project


def main(arguments: list[str] | None = None) -> int:
    """0 done, 1 failed, 130 interrupted."""
    parser = argparse.ArgumentParser(prog="python -m aifactory.laptop", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("ui", help="start Dagster and keep it on")
    commands.add_parser("down", help="end every run and every service")
    commands.add_parser("status", help="which services run, and where")
    demo = commands.add_parser("demo", help="datasets, checks, training, evaluations, results")
    demo.add_argument("--recipe", default="tiny", help="the recipe to train (default: tiny)")
    demo.add_argument("--keep", action="store_true", help="leave Dagster on at the end")
    given = parser.parse_args(arguments)
    console = Console(stderr=False, highlight=False, soft_wrap=True)
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    services = Services(Project.current())
    try:
        if given.command == "ui":
            return _ui(services, console)
        if given.command == "down":
            services.stop(lambda text: console.print(text))
            console.print("nothing of this checkout runs now")
            return 0
        if given.command == "status":
            return _status(services, console)
        from aifactory.laptop.demo import Demo

        return Demo(Project.current(), services, console, recipe=given.recipe, keep=given.keep).run()
    except FactoryError as error:
        console.print(f"[bold red]error:[/] {_plain(str(error))}")
        return 1
    except KeyboardInterrupt:
        console.print("interrupted")
        return 130


def _ui(services: Services, console: Console) -> int:
    with console.status("starting Dagster") as status:
        client, found = services.start(lambda text: status.update(text))
    state = "was already on" if found else "is on"
    console.print(f"Dagster {state}: [bold]{client.address}[/]   (make down ends it)")
    return 0


def _status(services: Services, console: Console) -> int:
    running = services.running()
    for service in running:
        console.print(f"{service.name:12} pid {service.process.pid:<8} log {service.log}")
    console.print(f"UI: {services.address}" if services.address else "Dagster is not running here (make ui starts it)")
    return 0


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _plain(text: str) -> str:
    return text.replace("[", r"\[")


if __name__ == "__main__":
    sys.exit(main())
