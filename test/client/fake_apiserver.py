"""A small API server for the client's tests: real sockets, real TLS, and faults on demand.

  fake_apiserver.py [--cert FILE --key FILE [--client-ca FILE]]

Prints "PORT" once it listens, and serves until its standard input ends. Any resource is served; /_control takes
{"op": ...} (see Control), /_requests returns what was asked so far.
"""
import argparse
import base64
import gzip
import http.server
import json
import re
import socket
import ssl
import sys
import threading
import time
import urllib.parse
import uuid


class Store:
    """Objects by path of their collection and key, with a history for watches."""

    def __init__(self):
        self.lock = threading.Condition()
        self.version = 1000
        self.oldest = 0          # watches from before this get 410
        self.objects = {}        # (resource, namespace, name) -> object
        self.history = []        # (version, resource, type, object)
        self.snapshots = {}      # continue token -> (version, rest)
        self.faults = []
        self.requests = []
        self.served = {}         # group/version -> [resource entries]
        self.bookmark_seconds = 3600.0
        self.duplicate = False
        self.frozen = False
        self.tokens = None       # accepted bearer tokens; None: all
        self.aggregated = True

    def put(self, resource, obj, kind):
        meta = obj["metadata"]
        key = (resource, meta.get("namespace", ""), meta["name"])
        self.version += 1
        meta["resourceVersion"] = str(self.version)
        meta.setdefault("uid", str(uuid.uuid4()))
        self.objects[key] = obj
        self.history.append((self.version, resource, kind, json.loads(json.dumps(obj))))
        self.lock.notify_all()
        return obj

    def remove(self, key):
        obj = json.loads(json.dumps(self.objects.pop(key)))
        self.version += 1
        obj["metadata"]["resourceVersion"] = str(self.version)
        self.history.append((self.version, key[0], "DELETED", obj))
        self.lock.notify_all()
        return obj

    def of(self, resource, namespace):
        return [o for (r, ns, _), o in sorted(self.objects.items()) if r == resource and namespace in ("", ns)]


STORE = Store()
PATH = re.compile(r"^/(?:api/(?P<core>[^/]+)|apis/(?P<group>[^/]+/[^/]+))(?:/namespaces/(?P<ns>[^/]+))?"
                  r"/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<sub>[^/]+))?$")


def status(code, reason, message, **details):
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
            "message": message, "details": details}


def merge(target, patch):
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict) and isinstance(target.get(key), dict):
            merge(target[key], value)
        else:
            target[key] = value


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    # -- replies

    def reply(self, code, obj, headers=()):
        body = obj if isinstance(obj, bytes) else json.dumps(obj).encode()
        zipped = len(body) > 128 * 1024 and "gzip" in self.headers.get("Accept-Encoding", "")
        if zipped:
            body = gzip.compress(body, 1)
        cut = self.fault.get("cut_after") if self.fault else None
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if zipped:
            self.send_header("Content-Encoding", "gzip")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.cut()

    def cut(self):
        self.close_connection = True
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.connection.shutdown(socket.SHUT_RDWR)

    def take_fault(self):
        with STORE.lock:
            for fault in STORE.faults:
                if fault.get("method", self.command) == self.command and fault.get("path", "") in self.path:
                    fault["times"] = fault.get("times", 1) - 1
                    if fault["times"] <= 0:
                        STORE.faults.remove(fault)
                    return dict(fault)
        return None

    # -- requests

    def do(self):
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length) if length else b""
        url = urllib.parse.urlsplit(self.path)
        self.query = {k: v[0] for k, v in urllib.parse.parse_qs(url.query).items()}
        self.fault = None
        if url.path == "/_control":
            return self.reply(200, control(json.loads(raw)))
        if url.path == "/_requests":
            return self.reply(200, STORE.requests)
        certificate = self.connection.getpeercert() if isinstance(self.connection, ssl.SSLSocket) else None
        subject = {k: v for part in (certificate or {}).get("subject", ()) for k, v in part}
        STORE.requests.append({"method": self.command, "path": self.path, "headers": dict(self.headers),
                               "body": raw.decode(), "peer": subject.get("commonName"),
                               "port": self.client_address[1], "time": time.monotonic()})
        self.fault = self.take_fault()
        if self.fault:
            time.sleep(self.fault.get("delay", 0))
            if self.fault.get("hang"):
                time.sleep(3600)
            if self.fault.get("cut"):
                return self.cut()
            if "status" in self.fault:
                body = self.fault.get("body", status(self.fault["status"], "Injected", "injected fault"))
                return self.reply(self.fault["status"], body, self.fault.get("headers", {}).items())
        if STORE.tokens is not None:
            if self.headers.get("Authorization", "") not in ["Bearer " + t for t in STORE.tokens]:
                return self.reply(401, status(401, "Unauthorized", "Unauthorized"))
        if self.fault and self.fault.get("execute_and_cut"):
            self.wfile, real = NoWrite(), self.wfile
            self.serve(url.path, raw)
            self.wfile = real
            return self.cut()
        self.serve(url.path, raw)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do

    def serve(self, path, raw):
        if path in ("/api", "/apis") or (self.command == "GET" and path.count("/") == (2 if path.startswith("/api/") else 3)):
            return self.discovery(path)
        match = PATH.match(path)
        if not match:
            return self.reply(404, status(404, "NotFound", "the server could not find the requested resource"))
        prefix = match["core"] or match["group"]
        resource = prefix + "/" + match["plural"]
        namespace, name = match["ns"] or "", match["name"] or ""
        with STORE.lock:
            gone = STORE.served and match["plural"] not in [r["name"] for r in STORE.served.get(prefix, [])]
        if gone:
            return self.reply(404, status(404, "NotFound", "the server could not find the requested resource"))
        body = json.loads(raw) if raw else {}
        if self.command == "GET" and not name:
            if self.query.get("watch") == "true":
                return self.watch(resource, namespace)
            return self.list(resource, namespace)
        with STORE.lock:
            code, answer = self.single(resource, namespace, name, match["sub"], body)
        self.reply(code, answer)

    def single(self, resource, namespace, name, sub, body):
        key = (resource, namespace, name or body.get("metadata", {}).get("name", ""))
        old = STORE.objects.get(key)
        conflict = status(409, "Conflict", f'Operation cannot be fulfilled on "{key[2]}"')
        if self.command == "POST" and not name:
            if old is not None:
                return 409, status(409, "AlreadyExists", f'"{key[2]}" already exists')
            if namespace:
                body["metadata"]["namespace"] = namespace
            return 201, STORE.put(resource, body, "ADDED")
        if old is None:
            return 404, status(404, "NotFound", f'"{name}" not found')
        if self.command == "GET":
            return 200, old
        meta = body.get("metadata", {})
        if sub == "binding":
            if meta.get("uid", old["metadata"]["uid"]) != old["metadata"]["uid"] or old.get("spec", {}).get("nodeName"):
                return 409, conflict
            old.setdefault("spec", {})["nodeName"] = body["target"]["name"]
            STORE.put(resource, old, "MODIFIED")
            return 201, {"kind": "Status", "apiVersion": "v1", "status": "Success", "code": 201}
        if sub == "eviction" or self.command == "DELETE":
            wanted = (body.get("deleteOptions") or body).get("preconditions", {})
            for field in ("uid", "resourceVersion"):
                if wanted.get(field, old["metadata"][field]) != old["metadata"][field]:
                    return 409, conflict
            STORE.remove(key)
            return (201 if sub else 200), {"kind": "Status", "apiVersion": "v1", "status": "Success"}
        for field in ("uid", "resourceVersion"):
            if meta.get(field, old["metadata"][field]) != old["metadata"][field]:
                return 409, conflict
        if self.command == "PUT":
            body["metadata"].setdefault("uid", old["metadata"]["uid"])
            return 200, STORE.put(resource, body, "MODIFIED")
        merge(old, body)
        return 200, STORE.put(resource, old, "MODIFIED")

    def list(self, resource, namespace):
        with STORE.lock:
            token = self.query.get("continue", "")
            if token:
                if token not in STORE.snapshots:
                    return self.reply(410, status(410, "Expired", "The provided continue parameter is too old"))
                version, items = STORE.snapshots[token]
            else:
                version, items = STORE.version, json.loads(json.dumps(STORE.of(resource, namespace)))
            limit = int(self.query.get("limit", "0")) or len(items)
            page, rest = items[:limit], items[limit:]
            meta = {"resourceVersion": str(version)}
            if rest:
                meta["continue"] = base64.b64encode(uuid.uuid4().bytes).decode()
                STORE.snapshots[meta["continue"]] = (version, rest)
        self.reply(200, {"kind": "List", "apiVersion": "v1", "metadata": meta, "items": page})

    def watch(self, resource, namespace):
        version = int(self.query["resourceVersion"])
        if version < STORE.oldest:
            return self.reply(410, status(410, "Expired", "too old resource version"))
        end = time.monotonic() + float(self.query.get("timeoutSeconds", "3600"))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        bookmark = time.monotonic() + STORE.bookmark_seconds
        sent = 0
        while time.monotonic() < end:
            with STORE.lock:
                news = [h for h in STORE.history if h[0] > version and h[1] == resource and
                        namespace in ("", h[3]["metadata"].get("namespace", ""))]
                expired = version < STORE.oldest
                if STORE.frozen or (not news and not expired):
                    STORE.lock.wait(0.02)
                current = STORE.version
            if STORE.frozen:
                continue
            try:
                if expired:
                    self.chunk({"type": "ERROR", "object": status(410, "Expired", "too old resource version")})
                    break
                for number, _, kind, obj in news:
                    version = number
                    for _ in range(2 if STORE.duplicate else 1):
                        sent += 1
                        if self.fault and self.fault.get("cut_event") == sent:
                            data = json.dumps({"type": kind, "object": obj}).encode()
                            self.wfile.write(b"%x\r\n" % (len(data) + 1) + data[:len(data) // 2])
                            return self.cut()
                        self.chunk({"type": kind, "object": obj})
                if time.monotonic() > bookmark and "allowWatchBookmarks" in self.query:
                    bookmark = time.monotonic() + STORE.bookmark_seconds
                    version = current
                    self.chunk({"type": "BOOKMARK", "object": {"kind": "X", "metadata": {"resourceVersion": str(current)}}})
            except OSError:
                self.close_connection = True
                return None
        self.wfile.write(b"0\r\n\r\n")
        return None

    def chunk(self, obj):
        data = json.dumps(obj).encode() + b"\n"
        # In two pieces, so that readers have to put events together.
        middle = len(data) // 2
        for part in (data[:middle], data[middle:]):
            self.wfile.write(b"%x\r\n" % len(part) + part + b"\r\n")
            self.wfile.flush()

    def discovery(self, path):
        with STORE.lock:
            served = json.loads(json.dumps(STORE.served))
        if STORE.aggregated and path in ("/api", "/apis"):
            groups = {}
            for version, resources in served.items():
                group, _, number = version.rpartition("/")
                if (path == "/api") == (group == ""):
                    groups.setdefault(group, []).append({"version": number, "freshness": "Current", "resources": [
                        {"resource": r["name"], "responseKind": {"kind": r["kind"]}, "verbs": r["verbs"],
                         "scope": "Namespaced" if r["namespaced"] else "Cluster"} for r in resources]})
            body = {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
                    "items": [{"metadata": {"name": g} if g else {}, "versions": v} for g, v in groups.items()]}
            etag = '"%x"' % (hash(json.dumps(body)) & 0xffffffffffff)
            if self.headers.get("If-None-Match") == etag:
                return self.reply(304, b"", [("ETag", etag)])
            return self.reply(200, body, [("ETag", etag)])
        if path == "/api":
            return self.reply(200, {"kind": "APIVersions", "versions": [v for v in served if "/" not in v]})
        if path == "/apis":
            groups = {}
            for version in served:
                if "/" in version:
                    groups.setdefault(version.split("/")[0], []).append(
                        {"groupVersion": version, "version": version.split("/")[1]})
            return self.reply(200, {"kind": "APIGroupList", "groups": [{"name": g, "versions": v}
                                                                      for g, v in groups.items()]})
        version = path.split("/", 2)[2]
        if version not in served:
            return self.reply(404, status(404, "NotFound", "the server could not find the requested resource"))
        return self.reply(200, {"kind": "APIResourceList", "groupVersion": version, "resources": served[version]})


class NoWrite:
    def write(self, data):
        return len(data)

    def flush(self):
        pass


def control(request):
    """put, delete, compact, expire_pages, fault, set, count: what a test asks of the server from outside."""
    operation = request.pop("op")
    with STORE.lock:
        if operation == "put":
            obj = request["object"]
            key = (request["resource"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
            if key in STORE.objects and "uid" not in obj["metadata"]:
                obj["metadata"]["uid"] = STORE.objects[key]["metadata"]["uid"]
            return STORE.put(request["resource"], obj, "MODIFIED" if key in STORE.objects else "ADDED")
        if operation == "fill":
            for i in range(request["count"]):
                STORE.put(request["resource"], {"metadata": {"namespace": "default", "name": f"{request['name']}-{i:06}"},
                                                "spec": {"filler": "x" * request.get("size", 0)}}, "ADDED")
        if operation == "delete":
            STORE.remove((request["resource"], request["namespace"], request["name"]))
        if operation == "delete_unseen":  # as if the watch had missed it
            STORE.objects.pop((request["resource"], request["namespace"], request["name"]))
            STORE.version += 1
        if operation == "compact":
            STORE.oldest = STORE.version
            STORE.lock.notify_all()
        if operation == "expire_pages":
            STORE.snapshots.clear()
        if operation == "fault":
            STORE.faults.append(request)
        if operation == "set":
            for name, value in request.items():
                setattr(STORE, name, value)
            STORE.lock.notify_all()
        if operation == "forget_requests":
            STORE.requests.clear()
        return {"version": STORE.version, "objects": len(STORE.objects)}


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        pass  # clients that go away are what the tests are about


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--client-ca")
    args = parser.parse_args()
    server = Server(("127.0.0.1", 0), Handler)
    if args.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(args.cert, args.key)
        context.set_alpn_protocols(["http/1.1"])
        if args.client_ca:
            context.load_verify_locations(args.client_ca)
            context.verify_mode = ssl.CERT_OPTIONAL
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


main()
