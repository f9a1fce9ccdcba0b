"""A proxy between Gantree and the API server that goes wrong on purpose.

TLS on both sides, HTTP/1.1 on both sides, one connection upstream for each one downstream. Who goes through it has to show a
token, since a client certificate ends here. Faults come by chance, from a seeded generator, or one at a time on command.

    proxy = FaultProxy(cluster.server, cluster.authority)
    proxy.chances(cut_after=0.05, conflict=0.05)
    proxy.once("too_many", verb="POST", path="/binding")

It runs in a thread of its own; all methods may be called from any thread.
"""
import asyncio
import collections
import dataclasses
import json
import random
import ssl
import threading
import time
import urllib.parse

from harness.processes import Port

# What may happen to any request ...
REQUEST_FAULTS = {
    "cut_before": "the connection closes before the request is passed on",
    "cut_after": "the request is carried out, and the connection closes instead of an answer",
    "delay": "the request waits up to a second",
    "conflict": "409, not carried out",
    "gone": "410, not carried out",
    "too_many": "429 with Retry-After: 1, not carried out",
    "error": "500, not carried out",
    "unavailable": "503, not carried out",
}
# ... and to any event of a watch.
WATCH_FAULTS = {
    "watch_cut": "the connection closes in the middle of an event",
    "watch_end": "the watch ends in order, early",
    "watch_gone": "an ERROR event says 410, and the watch ends",
    "watch_silent": "nothing comes any more, and the connection stays open",
    "watch_twice": "the event comes twice",
}
STATUS = {"conflict": (409, "Conflict"), "gone": (410, "Expired"), "too_many": (429, "TooManyRequests"),
          "error": (500, "InternalError"), "unavailable": (503, "ServiceUnavailable")}
HEAD_LIMIT = 1 << 20


@dataclasses.dataclass
class Request:
    """One request as the proxy saw it. `passed_on` is when it went to the API server, `status` is 0 where no answer came back."""
    begun: float
    verb: str
    path: str
    query: dict
    agent: str
    fault: str = ""
    status: int = 0
    passed_on: float = 0.0

    @property
    def is_watch(self):
        return self.query.get("watch") in ("1", "true")


class FaultProxy:
    def __init__(self, server, authority, seed=1):
        address = urllib.parse.urlsplit(server)
        self._upstream = address.hostname, address.port
        self._port = Port()
        self.server = f"https://127.0.0.1:{self._port}"
        self.requests = []
        self.injected = collections.Counter()
        self._chances, self._commands = {}, []
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._held = False
        self._downstream_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._downstream_tls.load_cert_chain(*authority.server(f"proxy-{self._port}"))
        self._downstream_tls.set_alpn_protocols(["http/1.1"])
        self._upstream_tls = ssl.create_default_context(cafile=authority.certificate)
        self._loop = asyncio.new_event_loop()
        self._connections = set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault proxy", daemon=True)
        self._thread.start()
        listening = asyncio.start_server(self._connection, "127.0.0.1", self._port.number, ssl=self._downstream_tls, limit=HEAD_LIMIT)
        self._listener = asyncio.run_coroutine_threadsafe(listening, self._loop).result(10)

    # --- commands ---

    def chances(self, **chances):
        """From now on, how likely each fault is for each request, or each event of a watch. Those not named do not happen."""
        unknown = set(chances) - set(REQUEST_FAULTS) - set(WATCH_FAULTS)
        assert not unknown, f"there is no fault {sorted(unknown)}"
        with self._lock:
            self._chances = chances

    def once(self, fault, verb=None, path=""):
        """The next request with this verb whose path holds this text suffers the fault; of a watch, its next event."""
        assert fault in REQUEST_FAULTS or fault in WATCH_FAULTS, f"there is no fault {fault}"
        with self._lock:
            self._commands.append((fault, verb, path))

    def hold(self):
        """Half-open from here on: connections stay, and not a byte passes, in either direction."""
        self._held = True

    def pass_on(self):
        self._held = False

    def cut_all(self):
        """Closes every connection that is open now."""
        self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in list(self._connections)])

    def writes(self, path=""):
        """The requests so far that change something and whose path holds this text."""
        return [request for request in list(self.requests) if request.verb != "GET" and path in request.path]

    def stop(self):
        async def close():
            self._listener.close()
            await asyncio.sleep(0.1)  # for handshakes under way
            while tasks := list(self._connections):
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        asyncio.run_coroutine_threadsafe(close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
        self._port.release()

    # --- connections ---

    async def _connection(self, reader, writer):
        task = asyncio.current_task()
        self._connections.add(task)
        upstream = None
        try:
            upstream = await asyncio.open_connection(*self._upstream, ssl=self._upstream_tls, limit=HEAD_LIMIT)
            while await self._exchange(reader, writer, *upstream):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # a connection that ends is what this is about; both sides are closed below
        finally:
            self._connections.discard(task)
            for side in (writer, upstream and upstream[1]):
                if side is not None:
                    side.transport.abort()

    async def _exchange(self, reader, writer, upstream_reader, upstream_writer):
        """One request and its answer; whether the connection may be used again."""
        head = await reader.readuntil(b"\r\n\r\n")
        request, headers = self._read_request(head)
        body = await self._read_body(reader, headers)
        await self._while_held(reader)
        self.requests.append(request)
        fault = self._choose(request, REQUEST_FAULTS)
        if fault == "cut_before":
            return False
        if fault == "delay":
            await asyncio.sleep(self._random.random())
        if fault in STATUS:
            await self._refuse(writer, request, fault)
            return True
        request.passed_on = time.monotonic()
        upstream_writer.write(head + body)
        await upstream_writer.drain()
        answer = await upstream_reader.readuntil(b"\r\n\r\n")
        status, answer_headers = self._read_answer(answer)
        if fault == "cut_after":
            if not request.is_watch:
                await self._read_body(upstream_reader, answer_headers)
            return False
        await self._while_held(reader)
        request.status = status
        if request.is_watch and status == 200:
            writer.write(answer)
            await self._pass_watch(request, reader, upstream_reader, writer)
            return False
        writer.write(answer + await self._read_body(upstream_reader, answer_headers))
        await writer.drain()
        return True

    async def _pass_watch(self, request, reader, upstream_reader, writer):
        async for event in _events(upstream_reader):
            await self._while_held(reader)
            fault = self._choose(request, WATCH_FAULTS)
            if fault == "watch_twice":
                event += event
            elif fault is not None:
                await self._end_watch(fault, event, writer)
                return
            writer.write(_chunk(event))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await self._say_goodbye(writer)

    async def _end_watch(self, fault, event, writer):
        """What a watch suffers at an event that is its last."""
        if fault == "watch_cut":
            # Under TLS the bytes have left when the transport's buffer is empty; then the connection is aborted.
            writer.write(_chunk(event)[:len(event) // 2])
            await asyncio.sleep(0.02)
        elif fault == "watch_end":
            writer.write(_chunk(event) + b"0\r\n\r\n")
            await self._say_goodbye(writer)
        elif fault == "watch_gone":
            gone = {"type": "ERROR", "object": _status_object(410, "Expired", "too old resource version: injected")}
            writer.write(_chunk(json.dumps(gone).encode() + b"\n") + b"0\r\n\r\n")
            await self._say_goodbye(writer)
        elif fault == "watch_silent":
            await asyncio.sleep(3600)

    async def _say_goodbye(self, writer):
        """Closes in order, so that what was written arrives."""
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    # --- details ---

    async def _while_held(self, client):
        """Waits until bytes may pass. Of a client that has hung up meanwhile, nothing passes any more."""
        if not self._held:
            return
        while self._held:
            await asyncio.sleep(0.02)
        if client.at_eof() or client.exception() is not None:
            raise ConnectionError("the client is gone")

    def _choose(self, request, among):
        with self._lock:
            for command in self._commands:
                fault, verb, path = command
                if fault in among and verb in (None, request.verb) and path in request.path:
                    self._commands.remove(command)
                    return self._note(request, fault)
            for fault, chance in self._chances.items():
                if fault in among and self._random.random() < chance:
                    return self._note(request, fault)
        return None

    def _note(self, request, fault):
        request.fault = fault
        self.injected[fault] += 1
        return fault

    async def _refuse(self, writer, request, fault):
        status, reason = STATUS[fault]
        request.status = status
        body = json.dumps(_status_object(status, reason, f"{reason}: injected")).encode()
        more = b"Retry-After: 1\r\n" if fault in ("too_many", "unavailable") else b""
        writer.write(b"HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s"
                     % (status, reason.encode(), more, len(body), body))
        await writer.drain()

    def _read_request(self, head):
        first, *lines = head.decode("latin-1").split("\r\n")
        verb, target, _ = first.split(" ", 2)
        headers = _headers(lines)
        address = urllib.parse.urlsplit(target)
        return Request(time.monotonic(), verb, address.path, dict(urllib.parse.parse_qsl(address.query)),
                       headers.get("user-agent", "")), headers

    def _read_answer(self, head):
        first, *lines = head.decode("latin-1").split("\r\n")
        return int(first.split(" ")[1]), _headers(lines)

    async def _read_body(self, reader, headers):
        """The body as it came, frames and all."""
        if "chunked" not in headers.get("transfer-encoding", ""):
            return await reader.readexactly(int(headers.get("content-length", 0)))
        body = b""
        while True:
            line = await reader.readline()
            size = int(line.split(b";")[0], 16)
            body += line + await reader.readexactly(size + 2)
            if size == 0:
                return body


async def _events(reader):
    """The events of a watch, one whole line at a time, however the API server cut them into chunks."""
    buffered = b""
    while size := int((await reader.readline()).split(b";")[0], 16):
        *whole, buffered = (buffered + await reader.readexactly(size)).split(b"\n")
        await reader.readexactly(2)
        for line in whole:
            yield line + b"\n"


def _chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def _headers(lines):
    return {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}


def _status_object(code, reason, message):
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "reason": reason, "code": code}
