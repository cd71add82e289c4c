"""A proxy that we control in front of an API server: it breaks connections (`TcpProxy`), or answers (`HttpProxy`)."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

PIECE = 1 << 16
Reader, Writer = asyncio.StreamReader, asyncio.StreamWriter


@dataclass(eq=False)
class Link:
    """A client's connection, and the one to the server that belongs to it. `about` is what was asked over it, where
    the proxy can read that."""

    client: Writer
    server: Writer | None = None
    about: Any = None


class TcpProxy:
    """Passes bytes on, TLS untouched: the client sees the server's own certificate. Use it as a context manager; its
    faults are context managers too, for as long as they last, except `cut`, which is a moment. Safe from any thread."""

    def __init__(self, server: str) -> None:
        url = urlsplit(server)
        assert url.hostname is not None
        self.host, self.port = url.hostname, url.port or 443
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._links: set[Link] = set()
        self._listening: asyncio.Server | None = None
        self._own_port = 0
        self._flow = asyncio.Event()
        self._flow.set()
        self._delay = 0.0
        self._resetting = False
        self.connections = 0

    @property
    def address(self) -> str:
        """`https://127.0.0.1:<port>`, the same for as long as it lives."""
        return f"https://127.0.0.1:{self._own_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._listen())
        return self

    def __exit__(self, *exc: object) -> None:
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    # Faults

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Nobody listens, and open connections are reset: a server that is gone."""
        self._run(self._close())
        self.cut()
        try:
            yield
        finally:
            self._run(self._listen())

    @contextmanager
    def resetting(self) -> Iterator[None]:
        """Every connection is reset: those that are open now, and each new one at once."""
        self._resetting = True
        self.cut()
        try:
            yield
        finally:
            self._resetting = False

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Connections are taken and stay open, and no byte moves."""
        self._run(self._thaw(False))
        try:
            yield
        finally:
            self._run(self._thaw(True))

    @contextmanager
    def delayed(self, seconds: float) -> Iterator[None]:
        """Each piece of data, in both directions, comes so much later."""
        self._delay = seconds
        try:
            yield
        finally:
            self._delay = 0.0

    def cut(self, which: Callable[[Any], bool] = lambda about: True) -> int:
        """Reset the open connections whose `about` is one of these; how many there were."""
        return self._run(self._cut(which))

    # The loop's own

    def _run[T](self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)

    async def _listen(self) -> None:
        self._listening = await asyncio.start_server(
            self._accept, "127.0.0.1", self._own_port, ssl=self._tls(), reuse_address=True
        )
        self._own_port = self._listening.sockets[0].getsockname()[1]

    def _tls(self) -> ssl.SSLContext | None:
        return None

    async def _close(self) -> None:
        if self._listening is not None:
            self._listening.close()
            self._listening = None

    async def _end(self) -> None:
        await self._close()
        self._flow.set()
        await self._cut(lambda about: True)
        others = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
        for one in others:
            one.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _thaw(self, flows: bool) -> None:
        (self._flow.set if flows else self._flow.clear)()

    async def _cut(self, which: Callable[[Any], bool]) -> int:
        chosen = [one for one in self._links if which(one.about)]
        for one in chosen:
            self._links.discard(one)  # now, and not when its task notices: nobody counts it twice
            reset(one.client)
            if one.server is not None:
                one.server.transport.abort()
        return len(chosen)

    async def _accept(self, reader: Reader, writer: Writer) -> None:
        self.connections += 1
        if self._resetting:
            reset(writer)
            return
        link = Link(writer)
        self._links.add(link)
        try:
            await self._pause()
            await self._serve(reader, link)
        except (OSError, EOFError, asyncio.LimitOverrunError):
            pass  # either side went away, which is what both of them see
        finally:
            self._links.discard(link)
            for one in (link.client, link.server):
                if one is not None:
                    one.close()

    async def _serve(self, reader: Reader, link: Link) -> None:
        answers, link.server = await asyncio.open_connection(self.host, self.port)
        await self._both(self._pump(reader, link.server), self._pump(answers, link.client))

    async def _both(self, *pumps: Coroutine[Any, Any, None]) -> None:
        """Until one side ends, which ends the other."""
        tasks = [asyncio.ensure_future(one) for one in pumps]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in tasks:
                one.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _pump(self, source: Reader, target: Writer) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(PIECE):
                await self._pause()
                target.write(data)
                await target.drain()

    async def _pause(self) -> None:
        if self._delay:
            await asyncio.sleep(self._delay)
        await self._flow.wait()


def reset(writer: Writer) -> None:
    """End a connection by RST, as a machine that crashed does."""
    plain = writer.get_extra_info("socket")
    if plain is not None:  # else it has ended meanwhile
        with contextlib.suppress(OSError):
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
