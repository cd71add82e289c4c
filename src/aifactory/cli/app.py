"""The commands, in the order that help shows them."""

from __future__ import annotations

import typer

from aifactory.cli import (
    diff,
    doctor,
    drop_fork,
    image,
    launch,
    lineage,
    path,
    plan,
    prefetch,
    promote,
    rollback,
    runs,
    sites,
    smoke,
    versions,
)

app = typer.Typer(
    name="aifactory",
    help="Datasets, training runs and evaluations that can be traced to what made them.",
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused by the gate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("plan")(plan.plan_command)
app.command("launch")(launch.launch_command)
app.command("smoke")(smoke.smoke_command)
app.command("diff")(diff.diff_command)
app.command("runs")(runs.runs_command)
app.command("path")(path.path_command)
app.command("versions")(versions.versions_command)
app.command("lineage")(lineage.lineage_command)
app.command("promote")(promote.promote_command)
app.command("rollback")(rollback.rollback_command)
app.command("drop-fork")(drop_fork.drop_fork_command)
app.command("sites")(sites.sites_command)
app.command("mark-present")(sites.mark_present_command)
app.command("prefetch")(prefetch.prefetch_command)
app.add_typer(image.app, name="image")
app.command("doctor")(doctor.doctor_command)
