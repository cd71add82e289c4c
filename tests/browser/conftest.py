"""A factory with a red dataset and a training that runs, and a browser that looks at it.

`AIFACTORY_PICTURES` names a folder for the screenshots (`make pictures` sets it to docs/images).
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Error, Page, sync_playwright

from aifactory.laptop.graphql import ENDED, Client, wait
from aifactory.laptop.services import Services
from aifactory.project import Project

CHECKOUT = Path(__file__).resolve().parents[2]
COPIED = ("checks", "locks")
RECIPES = "recipes/tiny.py"
DATASET = "public/icd10cm"
BUILD_SECONDS = 240


def chromium() -> str:
    """Any Chromium of this machine; the test is skipped without one."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        found = shutil.which(name)
        if found:
            return found
    pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")


@contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class Lab:
    """A copy of the checkout's ICD-10-CM dataset and recipes, served by a Dagster of its own.

    Without the daemon: what happens is what a test asked for.
    """

    def __init__(self, root: Path):
        self.root = root
        self.project = root / "project"
        self.file = self.project / "assets" / f"{DATASET}.py"
        self.file.parent.mkdir(parents=True)
        shutil.copy(CHECKOUT / "assets" / f"{DATASET}.py", self.file)
        for folder in COPIED:
            shutil.copytree(CHECKOUT / folder, self.project / folder, ignore=shutil.ignore_patterns("__pycache__"))
        (self.project / RECIPES).parent.mkdir()
        shutil.copy(CHECKOUT / RECIPES, self.project / RECIPES)
        shutil.copy(CHECKOUT / "clusters.toml", self.project)
        self.environment = {
            "AIFACTORY_PROJECT": str(self.project),
            "AIFACTORY_STATE": str(root / "state"),
            "AIFACTORY_ENVS": os.environ.get("AIFACTORY_ENVS") or str(CHECKOUT / ".aifactory" / "envs"),
            "AIFACTORY_ROOT": str(root / "namespace"),
        }

    @contextmanager
    def serve(self) -> Iterator[Client]:
        with environment(self.environment):
            services = Services(Project.current())
            try:
                yield services.start(daemon=False)[0]
            finally:
                services.stop()

    def edit(self, before: str, after: str) -> None:
        text = self.file.read_text()
        assert before in text
        self.file.write_text(text.replace(before, after))


def ended(client: Client, run: str, seconds: float = BUILD_SECONDS) -> str:
    """How the Dagster run ended."""
    wait(f"the end of {run}", seconds, lambda: client.run(run)["status"] in ENDED)
    return str(client.run(run)["status"])


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    chromium()
    return Lab(tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def client(lab: Lab) -> Iterator[Client]:
    with lab.serve() as client:
        stages = ("raw", "clean", "parts", "bpe8k", "ready", "chapters", "heldout")
        assert ended(client, client.materialize([f"{DATASET}/{stage}" for stage in stages])) == "SUCCESS"
        yield client


class Browser:
    """One page of the UI at a time."""

    def __init__(self, page: Page, address: str):
        self.page, self.address = page, address

    def open(self, path: str) -> Page:
        """Go there, and send the welcome of a new installation away."""
        self.page.goto(self.address + path)
        skip = self.page.get_by_role("button", name="Skip")
        try:
            skip.click(timeout=3000)
        except Error:
            assert not skip.is_visible()
        return self.page

    def picture(self, name: str) -> None:
        """A screenshot for the docs, when they are asked for."""
        folder = os.environ.get("AIFACTORY_PICTURES")
        if folder:
            place = CHECKOUT / folder
            place.mkdir(parents=True, exist_ok=True)
            self.page.wait_for_timeout(1500)
            self.page.screenshot(path=place / f"{name}.png")


# Not for the session: Playwright's event loop would be running under every test that comes after.
@pytest.fixture(scope="module")
def browser(client: Client) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = started.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(30_000)
        yield Browser(page, client.address)
        started.close()
