"""HTTP to one API server: TLS against its own CA, its own token, timeouts on every call."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aifactory.errors import FactoryError
from aifactory.launch.clusters.kube import KubeCluster
from aifactory.launch.kuberay.wire.tokens import ACCOUNT, Tokens

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

CONNECT_SECONDS, READ_SECONDS = 5.0, 30.0
CONNECTIONS = 32


def make_client(cluster: KubeCluster, tokens: Tokens, timeouts: tuple[float, float]) -> ApiClient:
    """A client with a configuration of its own. A call that is answered by 401 is made once more with a token that is
    read anew. Raises FactoryError, code "ca_file" or "server"."""
    from kubernetes.client import ApiClient, ApiException, Configuration
    from kubernetes.client.exceptions import UnauthorizedException

    configuration = Configuration()
    configuration.host = server_of(cluster)
    configuration.ssl_ca_cert = ca_of(cluster)
    configuration.connection_pool_maxsize = CONNECTIONS
    configuration.retries = False  # patience is ours: a second one below it would hide failures and multiply waits
    configuration.api_key_prefix = {"BearerToken": "Bearer"}
    configuration.api_key = {"BearerToken": "read at each call"}

    def refresh(asking: Any) -> None:
        asking.api_key = {"BearerToken": tokens.current()}

    configuration.refresh_api_key_hook = refresh

    class Client(ApiClient):  # type: ignore[misc]
        def call_api(self, *args: Any, **more: Any) -> Any:
            more["_request_timeout"] = more.get("_request_timeout") or timeouts
            used = tokens.current()
            try:
                return super().call_api(*args, **more)
            except UnauthorizedException:
                tokens.renew(used)
                if tokens.current() == used:
                    raise
                return super().call_api(*args, **more)

        def request(self, *args: Any, **more: Any) -> Any:
            try:
                return super().request(*args, **more)
            except ApiException as error:
                # The library decodes the body of every error, and an error of TLS has none.
                error.body = b"" if error.body is None else error.body
                raise

    return Client(configuration)


def server_of(cluster: KubeCluster) -> str:
    """The address; in a pod of the cluster, what Kubernetes tells every pod."""
    if cluster.server:
        return cluster.server.rstrip("/")
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise FactoryError(
            f"the cluster {cluster.name} has no server, and this is no pod of a cluster",
            found="KUBERNETES_SERVICE_HOST is not set",
            fix=f'write server = "https://<address>" into [{cluster.name}] of clusters.toml',
            code="server",
        )
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"


def ca_of(cluster: KubeCluster) -> str | None:
    """The file of the CA; None: this system's."""
    if cluster.ca_file is None and (cluster.token.source != "in-cluster" or cluster.server):
        return None
    path = ACCOUNT / "ca.crt" if cluster.ca_file is None else Path(cluster.ca_file).expanduser()
    try:
        ssl.create_default_context(cafile=str(path))
    except (OSError, ssl.SSLError) as error:
        raise FactoryError(
            f"the CA of cluster {cluster.name} can't be read from {path}",
            found=error.strerror or error,
            expected="certificates in PEM",
            fix=f"correct ca_file of [{cluster.name}] in clusters.toml",
            code="ca_file",
        ) from None
    return str(path)
