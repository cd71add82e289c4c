"""Ports of this machine."""

from __future__ import annotations

import socket
import time
from collections.abc import Container

import psutil

from aifactory.errors import FactoryError

HOST = "127.0.0.1"


def is_free(port: int) -> bool:
    """True when a server could listen there now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def answers(port: int) -> bool:
    """True when a server listens there."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def first_free(port: int, besides: Container[int] = (), tries: int = 100) -> int:
    """`port`, or the next one above it that is free and not in `besides`. FactoryError (code "port") without one."""
    for candidate in range(port, port + tries):
        if candidate not in besides and is_free(candidate):
            return candidate
    raise FactoryError(f"no free port between {port} and {port + tries - 1}", fix="end what listens there", code="port")


def await_free(port: int, seconds: float = 5.0) -> None:
    """Wait until nobody listens on the port: a killed server's threads hold it for a moment longer than it is seen."""
    until = time.monotonic() + seconds
    while not is_free(port) and time.monotonic() < until:
        time.sleep(0.1)


def insist(port: int, variable: str) -> int:
    """The port that a person asked for, or FactoryError (code "port") that names who has it."""
    if is_free(port):
        return port
    raise FactoryError(
        f"port {port}, which {variable} asks for, is in use",
        found=holder(port),
        fix=f"end that process, or set {variable} to another port (unset, the next free one is taken)",
        code="port",
    )


def holder(port: int) -> str:
    """Who listens on the port, as well as this user may know."""
    try:
        for connection in psutil.net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port:
                if connection.pid is None:
                    break
                return f"process {connection.pid} ({psutil.Process(connection.pid).name()})"
    except psutil.Error:
        pass
    return "another process"
