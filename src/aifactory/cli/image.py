"""`aifactory image`: the code and environments that runs are made of."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from aifactory.cli.output import JsonOption, print_json, print_table

ImageName = Literal["data", "train"]

app = typer.Typer(help="Images: the code and dependencies that runs are made of.", no_args_is_help=True)


@app.command("list")
def list_command(as_json: Annotated[bool, JsonOption] = False) -> None:
    """List the images on this machine, the newest first; `*` marks what the checkout makes now."""
    from aifactory.launch.images import list_images
    from aifactory.project import Project
    from aifactory.spec import image_digest

    project = Project.current()
    present = {image_digest(project, "data"), image_digest(project, "train")}
    images = list_images(project)
    if as_json:
        print_json([vars(image) | {"path": str(image.path), "present": image.digest in present} for image in images])
        return
    rows = [
        (
            image.name,
            image.digest[:16] + (" *" if image.digest in present else ""),
            image.made[:19].replace("T", " "),
            (image.commit or "-")[:12] + ("+" if image.dirty else ""),
            image.path,
        )
        for image in images
    ]
    print_table(("name", "digest", "made (UTC)", "commit", "path"), rows)


@app.command("path")
def path_command(
    name: Annotated[ImageName, typer.Argument(help="data or train.", metavar="NAME")],
    digest: Annotated[str | None, typer.Option(help="An older one, by its whole digest.")] = None,
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """Print where the image's copy of its build inputs stands, making it and its environment if need be."""
    from aifactory.launch.images import ensure_image
    from aifactory.project import Project

    image = ensure_image(Project.current(), name, digest, say=lambda text: print(text, file=sys.stderr))
    if as_json:
        print_json({"name": name, "digest": image.digest, "path": str(image.path), "python": str(image.python)})
    else:
        print(image.path)
