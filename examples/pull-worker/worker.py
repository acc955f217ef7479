"""Claims tasks from a server, one at a time, and extends the lease of a task until its work has ended."""
import json
import os
import threading
import time
import urllib.error
import urllib.request

SERVER = os.environ.get("FOLIOT_URL", "http://127.0.0.1:7400")
LEASE = 3  # seconds, after which another worker gets the task of a worker that died
LOST = (404, 409)  # the task was cancelled, or claimed again when its lease had ended


def call(path, body):
    request = urllib.request.Request(SERVER + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=70) as answer:
        return json.load(answer)


def report(task, what, **fields):
    """Sends ack, nack or extend for an attempt. Returns False if the lease is lost and the report has no effect."""
    try:
        call(f"/v1/tasks/{task['id']}/{what}", {"token": task["token"], **fields})
        return True
    except urllib.error.HTTPError as e:
        if e.code in LOST:
            return False
        raise


def keep_lease(task, lease_end, ended, lost):
    """Extends the lease after each third of it. An extension that cannot be sent is repeated until the lease has ended."""
    while not ended.wait(LEASE / 3):
        sent = time.monotonic()
        try:
            if not report(task, "extend", lease=f"{LEASE}s"):
                return lost.set()
            lease_end = sent + LEASE
        except OSError:
            if time.monotonic() >= lease_end:
                return lost.set()


def convert(task, lost):
    lost.wait(task["payload"])  # the work: it stops when the lease is lost


def run(task, lease_end):
    if time.monotonic() >= lease_end:
        return print("was paused past the lease of", task["key"], flush=True)  # another worker may run it
    ended, lost = threading.Event(), threading.Event()
    threading.Thread(target=keep_lease, args=(task, lease_end, ended, lost), daemon=True).start()
    print("converting", task["key"], flush=True)
    try:
        convert(task, lost)
        what, fields = "ack", {}
    except Exception as e:
        what, fields = "nack", {"reason": str(e)}
    ended.set()
    if lost.is_set() or not report(task, what, **fields):
        print("lost the lease of", task["key"], flush=True)
    else:
        print("converted" if what == "ack" else "could not convert", task["key"], flush=True)


while True:
    try:
        claim = {"max": 1, "wait": "30s", "lease": f"{LEASE}s", "worker": "python"}
        sent = time.monotonic()
        answer = call("/v1/queues/videos/claims", claim)
        for claimed in answer["tasks"]:
            run(claimed, sent + answer["leaseMillis"] / 1000)
    except OSError as e:
        # A task whose end could not be reported is repeated when its lease has ended.
        print("the server cannot be reached:", e, flush=True)
        time.sleep(1)
