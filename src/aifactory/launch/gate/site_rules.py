"""The gate's reasons that lie in a site: nobody can look, or what a run reads is not there, whole."""

from __future__ import annotations

from aifactory.launch.clusters.registry import close_matches
from aifactory.launch.gate.facts import Facts
from aifactory.launch.refusal import Refusal

DATA = frozenset({"data_absent", "data_stale"})
"""Refusals that may end by waiting."""


def of_site(facts: Facts) -> list[Refusal]:
    """Every reason not to launch that lies in the site of the cluster."""
    if facts.site and facts.site not in facts.sites:
        return [
            Refusal(
                "unknown_site",
                f"the cluster {facts.cluster} mounts the tree of a site that sites.toml doesn't have",
                found=facts.site,
                expected=close_matches(facts.site, list(facts.sites)),
                fix=f"describe [{facts.site}] in sites.toml, or leave `site` out of [{facts.cluster}] in clusters.toml "
                "if it mounts the very tree that you launch from",
            )
        ]
    found: list[Refusal] = []
    for one in facts.inputs:
        seen = one.presence
        if seen is None or seen.whole:
            continue
        if seen.state == "unseen":
            if not any(refusal.code == "site_unseen" for refusal in found):
                what = f"nobody here can tell what is at the site {seen.site}"
                found.append(Refusal("site_unseen", what, seen.found, seen.expected, seen.fix))
            continue
        what = f"{one.name} is not whole at the site {seen.site}"
        if seen.state == "stale":
            what = f"what stands for {one.name} at the site {seen.site} is not what its marker says"
        found.append(Refusal(f"data_{seen.state}", what, seen.found, seen.expected, seen.fix))
    return found
