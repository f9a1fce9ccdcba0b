"""An admission webhook that says what its path tells it to, and remembers what it was asked.

    /allow                 allows
    /deny                  refuses, with code 418 and a reason
    /label/KEY/VALUE       adds a label
    /take/KEY              takes a label away, which must be there
    /move/NAMESPACE        names another namespace
    /warn                  allows, with a warning
    /break                 answers with 500
    /nonsense              answers with what is no review
"""
import base64
import http.server
import json
import ssl
import threading


class Reviewer:
    """One for each cluster that is compared, so that each has a memory of its own."""

    def __init__(self, authority):
        self.asked = []
        certificate = authority.server("reviewer")
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.address = f"https://127.0.0.1:{self._server.server_address[1]}"
        self.bundle = base64.b64encode(authority.certificate.read_bytes()).decode()
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        self._server.shutdown()
        self._server.server_close()

    def _handler(self):
        reviewer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                path = self.path.split("?")[0]
                reviewer.asked.append({"path": path, "review": review})
                code, answer = _answer(path.strip("/").split("/"), review)
                body = json.dumps(answer).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        return Handler


def _answer(words, review):
    request = review["request"]
    response = {"uid": request["uid"], "allowed": words[0] != "deny"}
    if words[0] == "break":
        return 500, {}
    if words[0] == "nonsense":
        return 200, {"response": {"uid": "other"}}
    if words[0] == "deny":
        response["status"] = {"code": 418, "reason": "Teapot", "message": "no coffee"}
    if words[0] == "warn":
        response["warnings"] = ["this is discouraged"]
    if words[0] in ("label", "take", "move"):
        response |= {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(_operations(words, request)).encode()).decode()}
    return 200, {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


def _operations(words, request):
    if words[0] == "take":
        return [{"op": "remove", "path": f"/metadata/labels/{words[1]}"}]
    if words[0] == "move":
        return [{"op": "replace", "path": "/metadata/namespace", "value": words[1]}]
    labels = (request.get("object") or {}).get("metadata", {}).get("labels")
    start = [] if labels is not None else [{"op": "add", "path": "/metadata/labels", "value": {}}]
    return [*start, {"op": "add", "path": f"/metadata/labels/{words[1]}", "value": words[2]}]
