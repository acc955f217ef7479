"""A worker of recurring jobs: claims shards of a queue, one at a time, and works on them while it extends their leases.

python3 worker.py NAME [ZONE]; FOLIOT_URL names the server, and FOLIOT_QUEUE the queue. SIGTERM stops the worker: the
shard under way is given back with its checkpoint, and begins elsewhere at once.
"""
import json
import os
import secrets
import signal
import sys
import threading
import time
import urllib.error
import urllib.request
from datetime import datetime

SERVER = os.environ.get("FOLIOT_URL", "http://127.0.0.1:7400")
QUEUE = os.environ.get("FOLIOT_QUEUE", "fleet")
LEASE = 10  # seconds after which the shard of a worker that died begins elsewhere
POLL = 5  # seconds that a claim waits for work; a stop may take as long
LOST = (404, 409)  # the lease is over: the shard was claimed again, or its run was stopped
CANCELLED = "urn:foliot:problem:cancelled"  # the run was stopped; the server waits for the end of the attempt

NAME = sys.argv[1] if len(sys.argv) > 1 else "python"
ZONE = {"zone": sys.argv[2]} if len(sys.argv) > 2 else {}
WORKER = f"{NAME}-{secrets.token_hex(4)}"  # unique: a restarted process gets another name

stopping = threading.Event()


class Stopped(Exception):
    """The lease is lost, or the worker stops."""


def say(line):
    print(time.strftime("%H:%M:%S"), line, flush=True)


def call(path, body):
    request = urllib.request.Request(SERVER + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=POLL + 30) as answer:
        return json.load(answer)


class Shard:
    """One attempt of one shard of a run."""

    def __init__(self, task, lease_end):
        headers = task.get("headers", {})
        self.task = task
        self.job = headers.get("foliot-job", "(none)")  # a task that is not a shard has no such headers
        self.scheduled_at = headers.get("foliot-scheduled-at")
        self.number = int(headers.get("foliot-shard", 0))
        self.of = int(headers.get("foliot-shards", 1))
        self.phase = headers.get("foliot-phase")  # "before" or "after" in a task of a listener; None in a shard
        self.result = headers.get("foliot-run-result")  # the result of the run; None except in the phase "after"
        self.parameter = headers.get("foliot-shard-parameter")
        self.fence = (task["generation"], task["attempt"])  # grows with each attempt and each run of this shard
        self.checkpoint = task.get("checkpoint")  # the checkpoint of an earlier attempt, or None
        self.note = {}  # checkpoint and progress, sent with each extension and with the end
        self.lost = threading.Event()
        self.stale = False
        self.ended = threading.Event()
        self.lease_end = lease_end  # a reading of the monotonic clock

    def __str__(self):
        return f"{self.job} {self.number + 1}/{self.of}" if self.phase is None else f"{self.job}, {self.phase} its run"

    def save(self, checkpoint, progress):
        self.checkpoint = checkpoint
        self.note = {"checkpoint": checkpoint, "progress": progress}  # one assignment: the thread of the heartbeat reads it

    def ensure_runs(self):
        if self.lost.is_set() or time.monotonic() >= self.lease_end:
            raise Stopped("the lease is lost")
        if stopping.is_set():
            raise Stopped("the worker stops")

    def report(self, what, **fields):
        """Sends ack, nack or extend for this attempt. Returns the type of problem if the lease is lost, else None."""
        try:
            call(f"/v1/tasks/{self.task['id']}/{what}", {"token": self.task["token"], **self.note, **fields})
            return None
        except urllib.error.HTTPError as e:
            if e.code in LOST:
                return json.load(e).get("type", "unknown")
            raise

    def heartbeat(self):
        """Extends the lease after each third of it, until the work has ended or the lease is lost."""
        while not self.ended.wait(LEASE / 3):
            sent = time.monotonic()
            try:
                reason = self.report("extend", lease=f"{LEASE}s")
                if reason:
                    self.stale = reason != CANCELLED
                    return self.lost.set()
                self.lease_end = sent + LEASE
            except OSError as e:
                print(f"the lease of {self} could not be extended yet: {e}", flush=True)
                if time.monotonic() >= self.lease_end:
                    return self.lost.set()


class Sink:
    """A store that remembers the greatest fence of each shard, and refuses writes with a smaller fence."""

    def __init__(self):
        self.fences = {}
        self.rows = []

    def store(self, shard, row):
        key = (shard.job, shard.number)
        if shard.fence < self.fences.get(key, (0, 0)):
            raise Stopped("the sink has a newer writer")
        self.fences[key] = shard.fence
        self.rows.append((key, row))


sink = Sink()


def report(shard):
    """Writes as many pages as the parameter of the job says. A repeated attempt continues after the saved page."""
    last = shard.task.get("payload") or 10
    for page in range(int(shard.checkpoint or 0) + 1, last + 1):
        shard.ensure_runs()
        time.sleep(0.2)  # the work
        sink.store(shard, f"{shard.scheduled_at} {shard.parameter} page {page}")
        shard.save(str(page), page / last)
    return f"{last} pages for {shard.parameter}"


def orders(shard):
    """Packs the orders of the ten seconds before a run. One order comes per second, and the shards take turns."""
    end = int(datetime.fromisoformat(shard.scheduled_at.replace("Z", "+00:00")).timestamp())
    packed = 0
    for order in range(int(shard.checkpoint or end - 10), end):
        if order % shard.of == shard.number:
            shard.ensure_runs()
            time.sleep(0.2)  # the work
            sink.store(shard, f"order {order}")
            shard.save(str(order + 1), (order + 11 - end) / 10)
            packed += 1
    return f"{packed} items"


HANDLERS = {
    "report": report,
    "orders": orders,
    "rates": lambda shard: f"rates are in zone {ZONE.get('zone', '')}",
    "warm-cache": lambda shard: "the cache is filled",
}


def run(shard):
    if time.monotonic() >= shard.lease_end:
        return f"was paused past the lease of {shard}"  # another worker may run it
    handler = HANDLERS.get(shard.job)
    if handler is None:
        # Another worker may have a handler. The pause grows, so that the shard keeps an attempt
        # until a rolling deployment has ended.
        pause = min(600, 2 * 5 ** min(shard.fence[1] - 1, 6))
        shard.report("nack", reason=f"no handler for the job {shard.job} on the worker {NAME}", delay=f"{pause}s")
        return f"gives back {shard}: no handler"
    if shard.phase is not None:
        # This task is not a shard. A worker can prepare the run here, or send mail about its result.
        end = f"has ended: {shard.result}" if shard.phase == "after" else "begins"
        say(f"the run of {shard.job} for {shard.scheduled_at} {end}")
        return f"has lost {shard}" if shard.report("ack") else f"ends {shard}"
    attempt = f", attempt {shard.fence[1]}" if shard.fence[1] > 1 else ""
    say(f"begins {shard}{attempt}" + (f", after {shard.checkpoint}" if shard.checkpoint else ""))
    heart = threading.Thread(target=shard.heartbeat, daemon=True)
    heart.start()
    try:
        what, fields = "ack", {"message": handler(shard)}
    except Stopped as e:
        what, fields = "nack", {"reason": str(e), "delay": "0s"}
    except Exception as e:
        what, fields = "nack", {"reason": repr(e)[:1000]}
    # No extension may arrive after the end.
    shard.ended.set()
    heart.join()
    if shard.stale or shard.report(what, **fields):
        return f"has lost {shard}"
    return f"ends {shard}: {fields['message']}" if what == "ack" else f"ends {shard}, not done: {fields['reason']}"


def main():
    signal.signal(signal.SIGTERM, lambda *unused: stopping.set())
    signal.signal(signal.SIGINT, lambda *unused: stopping.set())
    print(f"worker {NAME} in zone {ZONE.get('zone', '')}, process {os.getpid()}", flush=True)
    pause = 0.1
    while not stopping.is_set():
        try:
            claim = {"max": 1, "wait": f"{POLL}s", "lease": f"{LEASE}s", "worker": WORKER, **ZONE}
            # A claim under way is never aborted: its tasks would wait until their leases end.
            sent = time.monotonic()
            answer = call(f"/v1/queues/{QUEUE}/claims", claim)
            for task in answer["tasks"]:
                say(run(Shard(task, sent + answer["leaseMillis"] / 1000)))
            pause = 0.1
        except OSError as e:
            print("the server cannot be reached:", e, flush=True)
            stopping.wait(pause)
            pause = min(5, pause * 2)
    print("stopped", flush=True)


if __name__ == "__main__":
    main()
