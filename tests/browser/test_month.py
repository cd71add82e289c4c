"""A month later, acted out: data, a recipe, code and packages have moved on, and an old run is run again.

Each fixture goes one step further in the life of one factory.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from playwright.sync_api import expect, sync_playwright

from aifactory.laptop.graphql import Client
from aifactory.namespace import Publications
from aifactory.orchestrate.sync import sync
from tests.browser.conftest import Browser, chromium
from tests.browser.factory import Answer, Factory, Trained, ended, failures, log, recipe, words

LETTERS = [f"public/letters/{stage}" for stage in ("raw", "parts", "bpe")]
WORDS = [f"public/words/{stage}" for stage in ("raw", "parts", "ready")]
RAW, PARTS, READY = WORDS
LOOP = "src/aifactory/train/loop.py"
NOT_NEEDED = ("ray", "pandas", "aiohttp", "google", "grpcio", "opencensus", "py-spy", "virtualenv")
"""Packages that a training on one worker does without begin so."""

# What the UI's button sends; the browser test below holds it to that.
REEXECUTE = """
mutation LaunchPipelineReexecution($executionParams: ExecutionParams, $reexecutionParams: ReexecutionParams) {
  launchPipelineReexecution(executionParams: $executionParams, reexecutionParams: $reexecutionParams) {
    __typename ... on LaunchRunSuccess { run { id } } ... on RunConfigValidationInvalid { errors { message } }
    ... on PythonError { message } } }
"""
STALE = """
query Stale($keys: [AssetKeyInput!]) { assetNodes(assetKeys: $keys) { assetKey { path } staleStatus
  staleCauses { category } } }
"""


def button(run: str) -> dict[str, Any]:
    """The variables of "Re-execute all"."""
    tags = [{"key": "dagster/from_ui", "value": "true"}]
    return {"reexecutionParams": {"parentRunId": run, "strategy": "ALL_STEPS", "extraTags": tags}}


def reexecute(client: Client, **variables: Any) -> str:
    answer = client.field(REEXECUTE, "launchPipelineReexecution", "LaunchRunSuccess", **variables)
    return str(answer["run"]["id"])


def config(**values: Any) -> dict[str, Any]:
    return {"ops": {"train": {"config": {"recipe": "small", **values}}}}


def built(client: Client, *keys: str) -> None:
    run = client.materialize(keys)
    assert ended(client, run) == "SUCCESS", failures(client, run)


def stale(client: Client) -> dict[str, list[str]]:
    """What Dagster calls stale of the words, and whether CODE or DATA has moved."""
    nodes = client.ask(STALE, keys=[{"path": key.split("/")} for key in WORDS])["assetNodes"]
    return {
        "/".join(node["assetKey"]["path"]): [cause["category"] for cause in node["staleCauses"]]
        for node in nodes
        if node["staleStatus"] == "STALE"
    }


@pytest.fixture(scope="module")
def factory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Factory]:
    made = Factory(tmp_path_factory.mktemp("month"))
    yield made
    shutil.rmtree(made.root / "envs")


@pytest.fixture(scope="module")
def client(factory: Factory) -> Iterator[Client]:
    with factory.serve() as client:
        built(client, *LETTERS, *WORDS)
        yield client


@pytest.fixture(scope="module")
def first(factory: Factory, client: Client) -> Trained:
    return factory.trained(client, client.launch_job("train", config()))


@dataclass(frozen=True)
class Moved:
    """Versions by key before and after the commit, and the packages that it took out of the lock."""

    before: dict[str, str]
    after: dict[str, str]
    removed: dict[str, str]


def versions(factory: Factory) -> dict[str, str]:
    return {key: factory.namespace.resolve(key).version for key in WORDS}


@pytest.fixture(scope="module")
def moved(factory: Factory, client: Client, first: Trained) -> Moved:
    """One commit changes a dataset, a recipe's default, the machinery and the packages; the data is built."""
    before = versions(factory)
    factory.write("assets/public/words.py", words(70))
    factory.write("recipes/small.py", recipe(steps=3))
    factory.edit(LOOP, "loads torch and megatron", "takes its tools")
    pins = (factory.project / "locks" / "train.lock").read_text().splitlines()
    kept = [pin for pin in pins if not pin.startswith(NOT_NEEDED)]
    factory.write("locks/train.lock", "\n".join(kept) + "\n")
    factory.commit("More words, more steps, fewer packages")
    client.reload()
    built(client, *WORDS)
    removed = dict(pin.split(" ;")[0].split("==") for pin in pins if pin not in kept)
    return Moved(before, versions(factory), removed)


@pytest.fixture(scope="module")
def rebuilt(factory: Factory, first: Trained, moved: Moved) -> Answer:
    """The first run's image is lost. What a launch then says, of which the command that it names is run."""
    image = factory.root / "state" / "images" / first.spec.image.digest
    shutil.rmtree(image)
    refused = factory("launch", "--spec", first.spec.hash[:16], "--json")
    (refusal,) = refused.json["error"]["refusals"]
    command, *arguments = shlex.split(refusal["fix"])
    assert command == "aifactory"
    made = factory(*arguments)
    assert made.code == 0, made.err
    assert made.out.split() == [first.spec.image.digest]
    return refused


@pytest.fixture(scope="module")
def again(factory: Factory, client: Client, first: Trained, rebuilt: Answer) -> Trained:
    """The first run, run again as the UI's button does it."""
    return factory.trained(client, reexecute(client, **button(first.dagster)))


@pytest.fixture(scope="module")
def new(factory: Factory, moved: Moved) -> Trained:
    """The recipe, trained as it is now, from a terminal."""
    answer = factory("launch", "small", "--json")
    assert answer.code == 0, answer.err
    return Trained(answer.json["run"], Path(answer.json["directory"]))


def test_everything_has_moved_on(factory: Factory, first: Trained, moved: Moved) -> None:
    assert moved.before.keys() == moved.after.keys()
    assert not set(moved.before.values()) & set(moved.after.values())
    planned = factory("plan", "small", "--json")
    assert planned.code == 0, planned.err
    assert planned.json["hash"] != first.spec.hash
    assert planned.json["spec"]["image"]["digest"] != first.spec.image.digest


def test_an_old_spec_whose_image_is_gone_is_refused_with_the_command_that_makes_it_again(rebuilt: Answer) -> None:
    assert rebuilt.code == 3
    assert [one["code"] for one in rebuilt.json["error"]["refusals"]] == ["image_gone"]


def test_a_run_that_is_executed_again_is_the_same_byte_for_byte(first: Trained, again: Trained, factory: Factory):
    assert again.run != first.run
    assert (again.directory / "spec.json").read_bytes() == (first.directory / "spec.json").read_bytes()
    assert (factory.root / "state" / "images" / first.spec.image.digest / LOOP).is_file()
    assert "loads torch and megatron" in again.said
    assert len(again.losses) == 2
    assert again.losses == first.losses
    assert again.checkpoints == first.checkpoints != []


def test_a_new_run_of_the_recipe_differs_in_exactly_the_four_changes(
    factory: Factory, first: Trained, moved: Moved, new: Trained
) -> None:
    assert "takes its tools" in new.said
    assert len(new.losses) == 3
    answer = factory("diff", first.run, new.run, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["identical_except"] == [
        "code source",
        f"data mix {READY}",
        "image packages",
        "config steps",
    ]
    fields = {f"{one['group']} {one['field']}": one for one in answer.json["fields"]}
    assert fields["code source"]["files"] == {"added": [], "removed": [], "changed": [LOOP]}
    assert [line.split(maxsplit=2)[2] for line in fields["code source"]["commits"]] == [
        "More words, more steps, fewer packages"
    ]
    data = fields[f"data mix {READY}"]
    assert (data["old"]["version"], data["new"]["version"]) == (moved.before[READY], moved.after[READY])
    assert data["rows"][0] < data["rows"][1]
    assert fields["image packages"]["packages"] == {name: [pin, None] for name, pin in moved.removed.items()}
    assert (fields["config steps"]["old"], fields["config steps"]["new"]) == (2, 3)
    assert set(fields) - set(answer.json["identical_except"]) == {"context origin", "context requester"}
    assert factory("diff", first.run, new.run).out.splitlines()[2] == (
        f"identical except: [code source, data mix {READY}, image packages, config steps]"
    )


def test_a_reexecution_with_an_edited_config_resolves_anew_and_shows_all_that_moved(
    factory: Factory, client: Client, first: Trained, moved: Moved
) -> None:
    """As a client of the API sends it (what the UI's Launchpad starts has no parent: tests/jobs has that). There is no
    such queue, so the gate ends it before it trains."""
    execution = {
        "selector": {"jobName": "train", **client.repository()},
        "runConfigData": config(overrides={"seed": 5}, queue="fast"),
        "mode": "default",
        "executionMetadata": {
            "parentRunId": first.dagster,
            "rootRunId": first.dagster,
            "tags": [
                {"key": "dagster/parent_run_id", "value": first.dagster},
                {"key": "dagster/root_run_id", "value": first.dagster},
            ],
        },
    }
    edited = reexecute(client, executionParams=execution)
    assert ended(client, edited) == "FAILURE"
    assert "no queue 'fast'" in str(failures(client, edited))
    assert (
        f"compared with {first.run}, the run that was executed again: identical except: "
        f"[code source, data mix {READY}, image packages, config seed, config steps]"
    ) in log(client, edited)


@pytest.fixture
def browser(client: Client) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = chrome.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(30_000)
        yield Browser(page, client.address)
        chrome.close()


def test_the_button_in_the_browser_gives_the_same_run_and_its_page_says_so(
    factory: Factory, first: Trained, rebuilt: Answer, browser: Browser
) -> None:
    page = browser.page
    page.goto(f"{browser.address}/runs/{first.dagster}")
    with page.expect_request(lambda one: "launchPipelineReexecution" in (one.post_data or "")) as asked:
        page.get_by_role("button", name=re.compile("Re-execute all")).click()
    assert json.loads(asked.value.post_data or "")["variables"] == button(first.dagster)
    page.wait_for_url(lambda url: "/runs/" in url and first.dagster not in url)
    run = page.url.rpartition("/runs/")[2].partition("?")[0]
    page.get_by_placeholder("Filter…").fill("identical except")
    said = f"compared with {first.run}, the run that was executed again: identical except: []"
    expect(page.get_by_text(said).first).to_be_visible()
    browser.picture("re-executed")
    assert factory.run_of(run).spec.hash == first.spec.hash


def test_a_dataset_that_is_rolled_back_takes_what_is_below_it_along_and_forward_again(
    factory: Factory, client: Client, moved: Moved
) -> None:
    assert stale(client) == {}
    # The code that stands here made the later version.
    for wanted, left in ((moved.before, {RAW: ["CODE"]}), (moved.after, {})):
        answer = factory("rollback", RAW, wanted[RAW][:16], "--why", "acted out")
        assert answer.code == 0, answer.err
        with dg.DagsterInstance.from_config(str(factory.root / "state" / "dagster")) as instance:
            sync(instance, factory.namespace, None)
        assert stale(client) == left | {PARTS: ["DATA"]}
        built(client, PARTS, READY)
        assert versions(factory) == wanted
        assert stale(client) == left


@pytest.mark.usefixtures("again", "new")
def test_a_commit_of_several_changes_is_rolled_back_by_reverting_it(
    factory: Factory, client: Client, first: Trained, moved: Moved
) -> None:
    factory.git("revert", "--no-edit", "HEAD")
    client.reload()
    built(client, *WORDS)
    assert versions(factory) == moved.before
    for key in WORDS:
        made_by = {one.run for one in Publications(factory.namespace, key).all() if one.version == moved.before[key]}
        assert client.materializations(key)[0]["metadata"]["built_by"] in made_by
    planned = factory("plan", "small", "--json")
    assert planned.code == 0, planned.err
    assert planned.json["hash"] == first.spec.hash
