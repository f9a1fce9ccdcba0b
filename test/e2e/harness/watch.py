"""Following a kind of object through the API, from the test's side."""
import json
import threading
import time

import kubernetes.client
import kubernetes.config


class Watch:
    """Tells each taker of every object of its path, as ("ADDED", object), one at a time, until it is stopped; `after` is called after
    each event.

    Where the connection breaks it lists again: what is still there is then told as ADDED once more.
    """

    def __init__(self, cluster, takers, after=lambda: None):
        self._client = kubernetes.config.new_client_from_config(str(cluster.kubeconfig))
        self.lock = threading.Lock()
        self._stopping = False
        self._after = after
        # One after the other, so that what later objects refer to is known before them.
        for path, take in takers:
            listed = threading.Event()
            threading.Thread(target=self._follow, args=(path, take, listed), daemon=True).start()
            assert listed.wait(30), f"{path} could not be listed"

    def stop(self):
        self._stopping = True
        self._client.rest_client.pool_manager.clear()
        self._client.close()

    def _follow(self, path, take, is_listed):
        while not self._stopping:
            try:
                listed = self._get(path)
                with self.lock:
                    for item in listed["items"]:
                        take("ADDED", item)
                is_listed.set()
                self._watch(path, take, listed["metadata"]["resourceVersion"])
            except Exception as error:  # whoever watches must not die of what is watched; it says so and begins again
                if not self._stopping and not _not_served(error):
                    print(f"watch of {path}: {error}")
                time.sleep(0.2)

    def _get(self, path):
        answer = self._client.call_api(path, "GET", auth_settings=["BearerToken"], _preload_content=False, _return_http_data_only=True)
        return json.loads(answer.data)

    def _watch(self, path, take, version):
        query = [("watch", "1"), ("resourceVersion", version), ("allowWatchBookmarks", "true"), ("timeoutSeconds", "300")]
        answer = self._client.call_api(path, "GET", query_params=query, auth_settings=["BearerToken"], _preload_content=False,
                                       _return_http_data_only=True)
        buffered = b""
        for piece in answer.stream(65536, decode_content=False):
            *lines, buffered = (buffered + piece).split(b"\n")
            for line in filter(None, lines):
                event = json.loads(line)
                if event["type"] == "ERROR":
                    return
                if event["type"] != "BOOKMARK":
                    with self.lock:
                        take(event["type"], event["object"])
                        self._after()
            if self._stopping:
                return


def _not_served(error):
    return isinstance(error, kubernetes.client.ApiException) and error.status == 404
