"""What a person sees in the UI: a red dataset, a training that runs, its plots."""

import re
import time

import pytest
from playwright.sync_api import expect

from aifactory.channel import Process
from aifactory.laptop import processes
from aifactory.laptop.graphql import ENDED, Client, wait
from tests.browser.conftest import DATASET, Browser, Lab, ended

LINE = "public/models/tiny"
CHECKPOINTS = 6
OVERRIDES = {"steps": 90, "schedule.warmup": 5, "batch.sequences": 8, "checkpointing.count": CHECKPOINTS}
CANCEL_SECONDS = 10


def test_a_dataset_whose_blocking_check_is_red_says_which_and_why(lab: Lab, client: Client, browser: Browser):
    lab.edit("            yield Code(", '            if code != "A00":\n                yield Code(')
    client.reload()
    assert ended(client, client.materialize([f"{DATASET}/clean"])) == "FAILURE"
    page = browser.open(f"/assets/{DATASET}/clean?view=checks&checkDetail=rows")
    expect(page.get_by_text("98504 rows, expected 98505").first).to_be_visible()
    expect(page.get_by_text("This is a blocking asset check").first).to_be_visible()
    # Once in the list of checks, once as the result of the one that is shown.
    expect(page.get_by_text("Failed", exact=True)).to_have_count(2)
    browser.picture("dataset-red-check")
    page = browser.open(f"/assets/{DATASET}/clean")
    for text in ("Every chapter, block, category and code", "description", "Columns"):
        expect(page.get_by_text(text).first).to_be_visible()
    browser.picture("dataset")
    lab.edit('            if code != "A00":\n                yield Code(', "            yield Code(")
    client.reload()
    assert ended(client, client.materialize([f"{DATASET}/clean"])) == "SUCCESS"


@pytest.fixture(scope="module")
def training(client: Client) -> str:
    """A training that has a checkpoint, and runs."""
    config = {"recipe": "tiny_one", "overrides": OVERRIDES}
    run = client.launch_job("train", {"ops": {"train": {"config": config}}})

    def has_one() -> bool:
        assert client.run(run)["status"] not in ENDED, "it ended before its first checkpoint could be seen"
        return bool(client.materializations(f"{LINE}/checkpoints"))

    wait("the first checkpoint", 300, has_one)
    return run


def test_a_training_shows_its_log_while_it_runs(client: Client, browser: Browser, training: str):
    page = browser.open(f"/runs/{training}")
    expect(page.get_by_text(re.compile(r"step \d+: loss|step \d+ of")).first).to_be_visible()
    assert client.run(training)["status"] == "STARTED"
    browser.picture("training-run")


def test_plots_draw_the_loss_of_the_checkpoints(client: Client, browser: Browser, training: str):
    assert ended(client, training) == "SUCCESS"
    saved = client.materializations(f"{LINE}/checkpoints")
    assert len(saved) == CHECKPOINTS
    losses = [one["metadata"]["loss"] for one in reversed(saved)]
    assert losses[-1] < losses[0]
    page = browser.open(f"/assets/{LINE}/checkpoints")
    page.get_by_role("button", name="Plots").first.click()
    expect(page.get_by_text("loss", exact=True).first).to_be_visible()
    page.get_by_text("loss", exact=True).first.scroll_into_view_if_needed()
    expect(page.locator("canvas").first).to_be_visible()
    browser.picture("plots-loss")


def test_terminate_ends_every_process_of_the_training(lab: Lab, client: Client, browser: Browser):
    config = {"recipe": "tiny_one", "overrides": OVERRIDES | {"steps": 5000, "seed": 1}}
    run = client.launch_job("train", {"ops": {"train": {"config": config}}})
    namespace = lab.root / "namespace"
    known = set(namespace.glob("public/runs/train-*/attempts/*/process.json"))
    wait("its start", 60, lambda: set(namespace.glob("public/runs/train-*/attempts/*/process.json")) > known)
    time.sleep(5)
    page = browser.open(f"/runs/{run}")
    page.get_by_role("button", name="Terminate").click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("Terminate|Cancel run")).last.click()
    began = time.monotonic()
    (file,) = set(namespace.glob("public/runs/train-*/attempts/*/process.json")) - known
    session = Process.load(file.parent)
    assert session is not None
    wait("the end of its processes", CANCEL_SECONDS + 5, lambda: not processes.of_session(session.session))
    assert time.monotonic() - began < CANCEL_SECONDS
    assert ended(client, run) == "CANCELED"
