"""Without the token the embedded cluster answers 401, to everybody and whatever is asked."""
import json
import socket
import ssl

import pytest

from harness.up import UpProcess

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "LOCK", "FROBNICATE"]
NONSENSE = ["/nothing", "//", "/..", "/../api/v1/secrets", "/api/v1/%2e%2e/secrets", "/API/V1/PODS", "/api/v1/pods?watch=true&token={token}",
            "/api/v1/pods?access_token={token}", "/%00", "/api/v1/namespaces/default/pods/x/log", "/metrics", "/debug/pprof/", "/logs/",
            "/healthz/etcd", "/livez?verbose", "/readyz/ping", "*", "https://elsewhere/api", "/" + "x" * 9000]


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    up = UpProcess(tmp_path_factory.mktemp("up"), ("--in-memory", "--no-scheduler"))
    up.start()
    yield up
    up.process.stop()


def wrong_headers(token):
    """Headers that do not prove anything, by what is wrong with them."""
    return {
        "none": "", "an empty one": "Authorization:\r\n", "no token": "Authorization: Bearer\r\n", "an empty token": "Authorization: Bearer \r\n",
        "a part of it": f"Authorization: Bearer {token[:-1]}\r\n", "the end of it": f"Authorization: Bearer {token[1:]}\r\n",
        "more than it": f"Authorization: Bearer {token}x\r\n", "it twice": f"Authorization: Bearer {token}{token}\r\n",
        "it and a comma": f"Authorization: Bearer {token},\r\n", "two in one": f"Authorization: Bearer x, Bearer {token}\r\n",
        "another of its length": f"Authorization: Bearer {'0' * len(token)}\r\n", "capitals": f"Authorization: Bearer {token.upper()}Z\r\n",
        "a zero byte": f"Authorization: Bearer {token}\0\r\n", "another scheme": f"Authorization: Basic {token}\r\n",
        "no scheme": f"Authorization: {token}\r\n", "the wrong one first": f"Authorization: Bearer wrong\r\nAuthorization: Bearer {token}\r\n",
        "another header": f"X-Authorization: Bearer {token}\r\nCookie: token={token}\r\n", "a proxy's": f"Proxy-Authorization: Bearer {token}\r\n",
        "somebody's word": "X-Remote-User: system:admin\r\nX-Remote-Group: system:masters\r\nImpersonate-User: system:admin\r\n",
        "a folded line": f"Authorization: Bearer\r\n {token}x\r\n"}


class Raw:
    """Bytes out, the answer's header and body in."""

    def __init__(self, up, alpn=None):
        context = ssl._create_unverified_context()
        if alpn:
            context.set_alpn_protocols(alpn)
        self._socket = context.wrap_socket(socket.create_connection((up.server.hostname, up.server.port), timeout=10))
        self.protocol = self._socket.selected_alpn_protocol()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def ask(self, text):
        self._socket.sendall(text.encode("latin-1"))
        return self._answer(not text.startswith("HEAD "))

    def _answer(self, has_body):
        """All that comes until the server has said it all."""
        received = b""
        try:
            while part := self._socket.recv(65536):
                received += part
                head, gap, body = received.partition(b"\r\n\r\n")
                if gap and b"Connection: close" not in head and len(body) >= (length_of(head) if has_body else 0):
                    break
        except OSError:
            pass
        return received


def length_of(head):
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            return int(line.split(b":")[1])
    return 0


def assert_refused(received, what, has_body=True):
    head, _, body = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 401 "), f"{what}: {received[:300]}"
    assert received.count(b"HTTP/1.1 ") == 1, f"{what}: {received[:600]}"
    if has_body:
        status = json.loads(body)
        assert (status["kind"], status["code"], status["reason"]) == ("Status", 401, "Unauthorized"), what


def every_path(up):
    """All that discovery and the schemas name, and the objects and the parts of objects below."""
    client = up.client()
    paths = {"/", "/api", "/apis", "/version", "/healthz", "/livez", "/readyz", "/openapi/v2", "/openapi/v3"}
    paths |= set(client.list("/openapi/v3")["paths"])
    paths |= {path for path in client.list("/")["paths"]}
    groups = ["/api/v1"]
    for group in client.list("/apis")["groups"]:
        paths.add(f"/apis/{group['name']}")
        groups += [f"/apis/{version['groupVersion']}" for version in group["versions"]]
    for group in groups:
        paths.add(group)
        for resource in client.list(group)["resources"]:
            name, _, part = resource["name"].partition("/")
            collection = f"{group}/namespaces/default/{name}" if resource["namespaced"] else f"{group}/{name}"
            paths |= {f"{collection}/some/{part}"} if part else {collection, f"{collection}/some", f"{group}/{name}", f"{collection}?watch=true",
                                                                 f"{collection}?limit=1&resourceVersion=0"}
    client.close()
    return sorted(path if path.startswith("/") else f"/{path}" for path in paths)


def test_every_path_by_every_method_is_refused(up):
    paths = every_path(up)
    assert len(paths) > 200
    with Raw(up) as connection:
        for number, path in enumerate(paths):
            for method in ["GET", METHODS[number % len(METHODS)]]:
                received = connection.ask(f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
                assert_refused(received, f"{method} {path}", method != "HEAD")


def test_every_wrong_proof_is_refused(up):
    for what, headers in wrong_headers(up.token).items():
        for method, path in [("GET", "/api/v1/namespaces"), ("GET", "/version"), ("GET", "/api/v1/pods?watch=true"), ("POST", "/api/v1/namespaces")]:
            body = '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"stolen"}}' if method == "POST" else ""
            with Raw(up) as connection:
                assert_refused(connection.ask(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{headers}Content-Length: {len(body)}\r\n\r\n{body}"), f"{what}: {path}")
    client = up.client()
    assert client.call("GET", "/api/v1/namespaces/stolen")[0] == 404
    client.close()


def test_nonsense_is_refused(up):
    for path in NONSENSE:
        for method in METHODS:
            with Raw(up) as connection:
                received = connection.ask(f"{method} {path.format(token=up.token)} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
                assert_refused(received, f"{method} {path[:60]}", method != "HEAD")


def test_what_is_no_request_is_refused(up):
    for what, text in {"another protocol": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "an old one": "GET /api HTTP/1.0\r\n\r\n", "no version": "GET /api\r\n\r\n",
                       "noise": "\x16\x03\x01\r\n\r\n", "no host": "GET /api/v1/secrets HTTP/1.1\r\n\r\n",
                       "two lengths": "POST /api HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
                       "a coding": "POST /api HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", "a long header": f"GET / HTTP/1.1\r\nX: {'x' * 70000}\r\n\r\n",
                       "a bad header": "GET / HTTP/1.1\r\nno colon\r\n\r\n", "an upgrade": "GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"}.items():
        with Raw(up) as connection:
            assert_refused(connection.ask(text), what)


def test_nobody_is_asked_for_a_body_who_has_no_token(up):
    with Raw(up) as connection:
        assert_refused(connection.ask("POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 99\r\n\r\n"), "an expectation")
    for headers in ["Content-Length: 3000000", "Content-Length: 999999999999", "Transfer-Encoding: chunked"]:
        with Raw(up) as connection:
            assert_refused(connection.ask(f"POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\n{headers}\r\n\r\n"), headers)


def test_no_other_protocol_gets_around_it(up):
    with Raw(up, ["h2", "http/1.1"]) as connection:
        assert connection.protocol in (None, "http/1.1"), "HTTP/2 is served: it needs tests like these"
    with socket.create_connection((up.server.hostname, up.server.port), timeout=10) as plain:
        plain.sendall(b"GET /api HTTP/1.1\r\nHost: x\r\n\r\n")
        plain.settimeout(12)
        assert b"HTTP/1.1 200" not in plain.recv(4096)


def test_a_refusal_does_not_spoil_what_follows_on_the_connection(up):
    with Raw(up) as connection:
        assert_refused(connection.ask("GET /api HTTP/1.1\r\nHost: x\r\n\r\n"), "the first")
        received = connection.ask(f"GET /version HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {up.token}\r\n\r\n")
        assert received.startswith(b"HTTP/1.1 200 ")
        assert_refused(connection.ask("GET /version HTTP/1.1\r\nHost: x\r\n\r\n"), "the third")
