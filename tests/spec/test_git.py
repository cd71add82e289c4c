"""Git facts: what a run can say about where its code came from."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from aifactory.spec import Context, git_facts


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    root.mkdir()
    git(root, "init", "-q")
    (root / "a.py").write_text("a = 1\n")
    (root / ".gitignore").write_text("ignored\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    return root


def test_a_clean_checkout_has_a_commit_and_no_diff(checkout: Path) -> None:
    facts = git_facts(checkout)
    assert facts.commit == git(checkout, "rev-parse", "HEAD")
    assert (facts.dirty, facts.digest, facts.note) == (False, None, "")


def test_ignored_files_and_touched_files_do_not_make_it_dirty(checkout: Path) -> None:
    (checkout / "ignored").write_text("x")
    os.utime(checkout / "a.py", (1, 1))
    assert not git_facts(checkout).dirty


def test_edits_staged_edits_deletions_and_new_files_each_have_a_digest_of_their_own(checkout: Path) -> None:
    seen = []
    for edit in ("a = 2\n", "a = 3\n"):
        (checkout / "a.py").write_text(edit)
        seen.append(git_facts(checkout))
    git(checkout, "add", "a.py")
    staged = git_facts(checkout)
    assert staged == seen[-1]
    (checkout / "new.py").write_text("b = 1\n")
    seen.append(git_facts(checkout))
    (checkout / "new.py").write_text("b = 2\n")
    seen.append(git_facts(checkout))
    (checkout / "a.py").unlink()
    seen.append(git_facts(checkout))
    assert all(one.dirty and one.commit for one in seen)
    assert len({one.digest for one in seen}) == len(seen)


def test_the_same_edit_in_another_checkout_has_the_same_digest(checkout: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(checkout), str(other))
    for root in (checkout, other):
        (root / "a.py").write_text("a = 5\n")
        (root / "new.py").write_text("b = 1\n")
    assert git_facts(checkout) == git_facts(other)


def test_outside_a_checkout_there_is_no_commit_and_the_context_says_so(tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "missing"):
        facts = git_facts(root)
        assert (facts.commit, facts.dirty) == (None, False)
        context = Context(commit=facts.commit, commit_note=facts.note)
        assert "NO COMMIT IS KNOWN" in context.commit_note
        assert str(root) in context.commit_note


def test_a_checkout_without_a_commit_says_so(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert "NO COMMIT IS KNOWN" in git_facts(tmp_path).note


def test_variables_of_a_git_hook_point_nowhere_else(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = git_facts(checkout)
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert git_facts(checkout) == before


def test_a_missing_git_says_so(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "git is not installed" in git_facts(checkout).note
