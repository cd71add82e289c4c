"""What our account may do, and what the accounts of the runs may do, which is nothing."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from aifactory.launch.doctor.line import Line, broken, unseen
from aifactory.launch.kuberay.api import Api
from aifactory.launch.kuberay.rights import ROLE, Right, rights_for
from aifactory.launch.kuberay.wire.errors import ApiError
from aifactory.launch.kuberay.wire.kinds import ACCOUNTS, CONFIG_MAPS

AT_ONCE = 8
REVIEWS = "/apis/authorization.k8s.io/v1"
EXCESS = (
    ("*", "*", "*"),
    ("get", "", "secrets"),
    ("list", "", "secrets"),
    ("list", "", "configmaps"),
    ("create", "", "pods"),
    ("delete", "", "pods"),
    ("create", "", "pods/exec"),
    ("create", "ray.io", "rayjobs"),
    ("delete", "ray.io", "rayjobs"),
    ("create", "", "serviceaccounts/token"),
    ("impersonate", "", "serviceaccounts"),
    ("create", "rbac.authorization.k8s.io", "rolebindings"),
)
"""What a run could do harm with; its pods have no token, but whoever makes pods in the namespace could mount one."""


def namespace(api: Api) -> Line:
    """Asked by a ConfigMap that isn't made: no right to read namespaces is needed for that."""
    name = api.namespace
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "aifactory-doctor-"}}
    try:
        api.create(CONFIG_MAPS, body, dry_run=True)
    except ApiError as error:
        if error.code == "not_found":
            return Line("namespace", "broken", f"there is no namespace {name}", f"kubectl create namespace {name}")
        if error.code == "forbidden":
            text = (
                f"our account may make nothing in {name}: the namespace is missing, or our role in it ({error.found})"
            )
            return Line("namespace", "broken", text, f"create {name}, and bind the Role of {ROLE} in it to our account")
        return broken("namespace", error)
    return Line("namespace", "ok", name)


def rights(api: Api) -> Iterator[Line]:
    """One line if every verb is given, else one for each resource that lacks some."""
    asked = rights_for(api.cluster.scheduler)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            lacking = list(pool.map(lambda one: _lacking(api, one), asked))
            everything = _may(api, "*", Right("*", "*", (), "", namespaced=False))
        except ApiError as error:
            yield broken("rights", error)
            return
    count = sum(len(one.verbs) for one in asked)
    for right, verbs in zip(asked, lacking, strict=True):
        if verbs:
            where = f"in {api.namespace}" if right.namespaced else "in the whole cluster"
            role = "Role" if right.namespaced else "ClusterRole"
            yield Line(
                "rights",
                "broken" if right.needed else "warning",
                f"our account may not {', '.join(verbs)} {right.name} {where}: {right.why}",
                f"bind the {role} of {ROLE} to our account",
            )
    if everything:
        text = "our account may do everything in this cluster: a leaked token is the cluster"
        yield Line("rights", "warning", text, f"use an account of its own, with the roles of {ROLE}")
    if not any(lacking):
        yield Line("rights", "ok", f"all {count} verbs on {len(asked)} resources")


def accounts(api: Api) -> Iterator[Line]:
    """Each class's account is there, is the class's own, and may do nothing."""
    cluster = api.cluster
    if not cluster.accounts:
        yield Line("accounts", "broken", "no class has one", f"write [{cluster.name}.accounts] in clusters.toml")
    for of, name in sorted(cluster.accounts.items()):
        line = f"account {name}"
        try:
            if api.get(ACCOUNTS, name) is None:
                yield Line(
                    line,
                    "broken",
                    f"the account of {of} is missing in {api.namespace}",
                    f"kubectl -n {api.namespace} create serviceaccount {name}",
                )
                continue
        except ApiError as error:
            yield unseen(line, error, f"whether the account of {of} is there")
            continue
        if shared := sorted(other for other, one in cluster.accounts.items() if one == name and other != of):
            yield Line(
                line, "warning", f"{of} shares it with {', '.join(shared)}", "give each class an account of its own"
            )
        try:
            excess = [what for what in EXCESS if _account_may(api, name, *what)]
        except ApiError as error:
            yield unseen(line, error, f"what the account of {of} may do")
            continue
        if excess:
            said = ", ".join(f"{verb} {resource}" + (f".{group}" if group else "") for verb, group, resource in excess)
            yield Line(
                line,
                "broken",
                f"runs of {of} could {said if excess[0][0] != '*' else 'do everything'}, and need nothing of it",
                f"remove the bindings of system:serviceaccount:{api.namespace}:{name}",
            )
        else:
            yield Line(line, "ok", f"for {of}; it may do nothing here")


def _lacking(api: Api, right: Right) -> list[str]:
    return [verb for verb in right.verbs if not _may(api, verb, right)]


def _may(api: Api, verb: str, right: Right) -> bool:
    attributes = _attributes(verb, right.group, right.resource)
    if right.namespaced:
        attributes["namespace"] = api.namespace
    spec = {"resourceAttributes": attributes}
    return _allowed(api, f"{REVIEWS}/selfsubjectaccessreviews", "SelfSubjectAccessReview", {}, spec)


def _account_may(api: Api, name: str, verb: str, group: str, resource: str) -> bool:
    spec = {
        "user": f"system:serviceaccount:{api.namespace}:{name}",
        "groups": ["system:serviceaccounts", f"system:serviceaccounts:{api.namespace}", "system:authenticated"],
        "resourceAttributes": {"namespace": api.namespace, **_attributes(verb, group, resource)},
    }
    path = f"{REVIEWS}/namespaces/{api.namespace}/localsubjectaccessreviews"
    return _allowed(api, path, "LocalSubjectAccessReview", {"namespace": api.namespace}, spec)


def _attributes(verb: str, group: str, resource: str) -> dict[str, str]:
    base, _, sub = resource.partition("/")
    return {"verb": verb, "group": group, "resource": base, **({"subresource": sub} if sub else {})}


def _allowed(api: Api, path: str, kind: str, metadata: dict[str, Any], spec: dict[str, Any]) -> bool:
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}
    return bool(api.request("POST", path, body=body).json()["status"]["allowed"])
