"""What a person sees of the nights: why an image was not smoked, and the proof."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from aifactory.laptop.graphql import Client, wait
from aifactory.laptop.services import Services
from aifactory.launch.images.verifications import Verification, record
from aifactory.launch.runs.attempts import Attempts
from aifactory.namespace import Namespace
from aifactory.project import Project
from aifactory.spec import Context, image_digest
from tests.browser.conftest import CHECKOUT, Browser, chromium, environment
from tests.spec.factories import train_spec

SETTINGS = """
[tool.aifactory.smoke]
data = "public/words/ready"
suites = ["public/words/quiz"]
clusters = ["local", "east"]
cron = "* * * * *"
"""
EAST = """
[east]
backend = "kuberay"
server = "https://127.0.0.1:{port}"
token = {{ source = "env", variable = "TOKEN" }}
namespace = "training"
site = "lab"
ray_version = "2.60.0"
scheduler = "none"
volumes.public = {{ kind = "pvc", claim = "factory" }}
accounts.public = "factory"
shapes.small = {{ workers = 2, cpus = 1, memory = "4Gi" }}
"""
TICKS = """query Ticks($repository: InstigationSelector!) { instigationStateOrError(instigationSelector: $repository) {
  __typename ... on InstigationState { ticks(limit: 5) { status skipReason } } } }"""
TICK_SECONDS = 150
RUN, DAGSTER = "smoke-local-0123456789ab", "0f8fad5b-d9cb-469f-a165-70867728950e"
LINK = f"/runs/{DAGSTER}"


def smoked(ns: Namespace, digest: str) -> None:
    """A smoke that Dagster asked for, and that was green here."""
    directory = ns.root / "public" / "runs" / RUN
    directory.mkdir(parents=True)
    spec = train_spec().evolve({"kind": "smoke", "image.digest": digest})
    (directory / "spec.json").write_bytes(spec.to_bytes())
    (directory / "context.json").write_bytes(Context(origin=f"{DAGSTER}/smoke").to_bytes())
    attempts = Attempts(directory)
    attempts.start(backend="local", spec=spec.hash, writer="test", after=None)
    attempts.end(1, "succeeded", writer="test")
    record(ns, "public", "train", Verification(digest, "", RUN, "local", smoke=1))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A Dagster with its daemon over a project without datasets: its image is proved here, and its cluster is away."""
    chromium()
    root = tmp_path_factory.mktemp("nights")
    project = root / "project"
    project.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    (project / "clusters.toml").write_text('[local]\nbackend = "local"\n' + EAST.format(port=port))
    (project / "images.toml").write_text(
        f'[train]\ndigest = "{"a" * 64}"\nreference = "registry.example/train@sha256:{"b" * 64}"\n'
    )
    (project / "pyproject.toml").write_text(SETTINGS)
    values = {
        "AIFACTORY_PROJECT": str(project),
        "AIFACTORY_STATE": str(root / "state"),
        "AIFACTORY_ENVS": os.environ.get("AIFACTORY_ENVS") or str(CHECKOUT / ".aifactory" / "envs"),
        "AIFACTORY_ROOT": str(root / "namespace"),
        "TOKEN": "secret",
    }
    with environment(values):
        found, ns = Project.current(), Namespace.open()
        smoked(ns, image_digest(found, "train"))
        services = Services(found)
        try:
            yield services.start()[0]
        finally:
            services.stop()


def test_the_tick_history_says_why_an_image_was_skipped_with_its_proof_and_which_cluster_is_down(
    client: Client, browser: Browser
) -> None:
    selector = {**client.repository(), "name": "nightly_smoke"}

    def skipped() -> bool:
        state = client.ask(TICKS, repository=selector)["instigationStateOrError"]
        return any(tick["skipReason"] for tick in state.get("ticks", []))

    wait("a tick of the schedule", TICK_SECONDS, skipped)
    page = browser.open("/locations/aifactory/schedules/nightly_smoke")
    expect(page.get_by_role("tab", name="Tick history")).to_be_visible()
    page.get_by_role("button", name="0 runs requested").first.click()
    said = page.get_by_role("dialog").get_by_text("Skip reason")
    expect(said).to_be_visible()
    browser.picture("nightly-smoke")
    text = page.get_by_role("dialog").inner_text()
    assert re.search(rf"local, image [0-9a-f]{{16}}: green: verified by {RUN} on .* \({LINK}\)", text), text
    assert re.search(r"east, image a{16}: DOWN: unreachable: .*Connection refused", text), text
