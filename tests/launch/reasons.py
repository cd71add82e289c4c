"""Facts that the gate refuses, each for one reason: by the code of the refusal."""

from __future__ import annotations

from dataclasses import replace

from aifactory.launch import CheckFact, Facts, ImageFact, InputFact, KubeFact
from aifactory.launch.sites.presence import Presence

OCI = "sha256:" + "9" * 64
IMAGE = ImageFact(
    name="train",
    digest="c" * 64,
    rebuild=f"aifactory image build train --commit {'d' * 40} --expect {'c' * 16}",
    schema="e" * 64,
    reference=f"registry.example/aifactory/train@{OCI}",
    pinned="c" * 64,
    proofs=(OCI,),
    ray="2.60.0",
)
DATA = InputFact("mix", "dataset", "public/icd10cm/ready", "1" * 64, "public", published=True)
SHAPE = (("ffn", 256), ("heads", 4), ("hidden", 64), ("layers", 2), ("query_groups", 4), ("vocabulary", 8192))
FACTS = Facts(
    run="train-tiny-1",
    kind="train",
    spec="a" * 64,
    output="public/models/tiny",
    access="public",
    cluster="local",
    clusters=("gpu-east", "local"),
    inputs=(DATA, InputFact("tokenizer", "tokenizer", "public/icd10cm/bpe8k", "2" * 64, "public", published=True)),
    image=IMAGE,
    schema="e" * 64,
    commit="d" * 40,
    shape=SHAPE,
)
KUBE = KubeFact(
    shape="8xh200",
    gpus=16,
    cpus=192,
    hours=48,
    most_gpus=64,
    most_hours=96,
    volumes=("private/clinic", "public"),
    accounts=("private/clinic", "public"),
    ray="2.60.0",
)
AWAY = replace(
    FACTS,
    cluster="gpu-east",
    leaves=True,
    queues=("night", "research"),
    priorities=("train",),
    shapes=("1xh200", "8xh200", "cpu-pool"),
    pods="8xh200",
    kube=KUBE,
    place="public",
)
WIDER = tuple((name, 2 * size if name in ("ffn", "hidden") else size) for name, size in SHAPE)
CHECKPOINT = InputFact("from", "checkpoint", "public/models/tiny", "3" * 64, "public", published=True, shape=WIDER)


def on_data(**changes: object) -> Facts:
    """The facts with another first input."""
    return replace(FACTS, inputs=(replace(DATA, **changes),))  # type: ignore[arg-type]


def on_cluster(**changes: object) -> Facts:
    """The facts of a run on a Kubernetes cluster that has or is asked for something else."""
    return replace(AWAY, kube=replace(KUBE, **changes))  # type: ignore[arg-type]


def at_site(state: str, found: str, fix: str) -> Facts:
    """The facts of a run whose first input is like that at the site of the cluster."""
    presence = Presence("lab", state, found, "7 files of 4,242 bytes, and a marker", fix)  # type: ignore[arg-type]
    return replace(AWAY, site="lab", sites=("here", "lab"), inputs=(replace(DATA, presence=presence),))


MARK = "aifactory mark-present public/icd10cm/ready@1111111111111111 --site lab"
COPY = "copy public/icd10cm/ready/@1111111111111111 to the site lab"
REASONS: dict[str, Facts] = {
    "run_owned": replace(FACTS, owner="b" * 64),
    "image_gone": replace(FACTS, image=replace(IMAGE, available=False)),
    "config_schema": replace(FACTS, schema="f" * 64),
    "dirty": replace(AWAY, dirty="4" * 64),
    "image_not_pinned": replace(AWAY, image=replace(IMAGE, reference="registry.example/aifactory/train:latest")),
    "image_unverified": replace(AWAY, image=replace(IMAGE, proofs=())),
    "unknown_cluster": replace(FACTS, cluster="locl"),
    "no_queue": replace(FACTS, queue="team-a"),
    "no_priority": replace(FACTS, priority="high"),
    "no_shape": replace(AWAY, pods="9xh200"),
    "limits": on_cluster(most_gpus=8),
    "no_mount": on_cluster(volumes=("private/clinic",)),
    "no_account": on_cluster(accounts=("private/clinic",)),
    "ray_version": on_cluster(ray="2.59.0"),
    "unknown_site": replace(AWAY, site="lap", sites=("here", "lab")),
    "site_unseen": at_site("unseen", "no view", 'write view = "..." under [lab] in sites.toml'),
    "data_absent": at_site("absent", "3 of 7 files, no marker", f"{COPY}, then {MARK}"),
    "data_stale": at_site("stale", "a torn marker (17 bytes)", MARK),
    "class": on_data(key="private/oncology/ready", access="private/oncology"),
    "benchmark": on_data(benchmark=True),
    "input_not_published": on_data(published=False),
    "input_damaged": on_data(problem="train/00000.parquet is missing"),
    "shape": replace(FACTS, inputs=(DATA, CHECKPOINT)),
    "check_red": on_data(checks=(CheckFact("unique", False, "3 twice", "build-icd10cm-1"),)),
    "check_missing": on_data(checks=(CheckFact("unique", None),)),
    "check_elsewhere": on_data(checks=(CheckFact("unique", None, elsewhere="5" * 16),)),
}
