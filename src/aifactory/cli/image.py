"""`aifactory image`: the code and environments that runs are made of."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from aifactory.cli.output import JsonOption, age, print_json, print_table, size

if TYPE_CHECKING:
    from aifactory.launch import ImageSummary

ImageName = Literal["data", "crossing", "train"]

app = typer.Typer(help="Images: the code and dependencies that runs are made of.")


@app.callback(invoke_without_command=True)
def image_command(context: typer.Context, as_json: Annotated[bool, JsonOption] = False) -> None:
    """List the images on this machine: `aifactory image` is `aifactory image list`."""
    if context.invoked_subcommand is None:
        list_command(as_json)


@app.command("list")
def list_command(as_json: Annotated[bool, JsonOption] = False) -> None:
    """List the images on this machine, the newest first; `*` marks what the checkout makes now.

    With the environment of its lock, the specs and runs that name it, and what verified it on a cluster.
    """
    from aifactory.launch import list_images
    from aifactory.project import Project
    from aifactory.spec import image_digest

    project = Project.current()
    present = {image_digest(project, name) for name in get_args(ImageName)}
    images = list_images(project)
    if as_json:
        print_json([_document(image) | {"present": image.digest in present} for image in images])
        return
    rows = [
        (
            image.name,
            image.digest[:16] + (" *" if image.digest in present else ""),
            image.environment,
            size(image.size),
            age(image.made),
            (image.commit or "-")[:12] + ("+" if image.dirty else ""),
            len(image.specs),
            len(image.runs),
            ", ".join(f"{one.where} ({one.run})" for one in image.verified),
        )
        for image in images
    ]
    columns = ("name", "digest", "environment", "size", "age", "commit", "specs", "runs", "verified on")
    print_table(columns, rows, right=("size", "age", "specs", "runs"))


def _document(image: ImageSummary) -> dict[str, object]:
    return vars(image) | {"path": str(image.path), "verified": [vars(one) for one in image.verified]}


@app.command("digest")
def digest_command(
    name: Annotated[ImageName | None, typer.Argument(help="data or train; both else.", metavar="NAME")] = None,
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """Print the digest of what the checkout makes an image of now; makes nothing.

    It follows the image's lock, its Dockerfile and the folders that it holds. Docs, recipes and images.toml move none.
    """
    from aifactory.project import Project
    from aifactory.spec import image_digest

    project = Project.current()
    names: tuple[ImageName, ...] = ("data", "train") if name is None else (name,)
    found = {one: image_digest(project, one) for one in names}
    if as_json:
        print_json(found)
    elif name is not None:
        print(found[name])
    else:
        print_table(("name", "digest"), list(found.items()))


@app.command("build")
def build_command(
    name: Annotated[ImageName, typer.Argument(help="data or train.", metavar="NAME")],
    commit: Annotated[str, typer.Option(help="A commit that git here knows.")],
    expect: Annotated[str, typer.Option(help="What its digest begins with.", metavar="DIGEST")] = "",
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """Make the image of a commit from git, by the code of that commit, and keep it on this machine.

    Old specs run with their old image; this brings one back. Prints its digest.
    """
    from aifactory.launch.images.rebuild import build_at
    from aifactory.project import Project

    digest = build_at(Project.current(), name, commit, expect=expect)
    if as_json:
        print_json({"name": name, "digest": digest})
    else:
        print(digest)


@app.command("path")
def path_command(
    name: Annotated[ImageName, typer.Argument(help="data or train.", metavar="NAME")],
    digest: Annotated[str | None, typer.Option(help="An older one, by its whole digest.")] = None,
    as_json: Annotated[bool, JsonOption] = False,
) -> None:
    """Print where the image's copy of its build inputs stands, making it and its environment if need be."""
    from aifactory.launch.images.copies import ensure_image
    from aifactory.project import Project

    image = ensure_image(Project.current(), name, digest, say=lambda text: print(text, file=sys.stderr))
    if as_json:
        print_json({"name": name, "digest": image.digest, "path": str(image.path), "python": str(image.python)})
    else:
        print(image.path)
