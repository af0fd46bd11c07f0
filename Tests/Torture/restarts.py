"""Hot restarts under load: no client loses its connection, and no action is lost or doubled."""

import os
import select
import signal
import threading
import time

from daemon import Daemon
from wire import DELTA, LAG, MARK, SNAPSHOT, Client

WINDOW = 16


class Failed(Exception):
    """A promise was broken."""


class Peer(threading.Thread):
    """A client with one connection, which must last until `end` is set."""

    def __init__(self, path, name):
        super().__init__(name=name, daemon=True)
        self.client, self.end, self.error = Client(path, name), threading.Event(), None

    def run(self):
        try:
            self.act()
        except Exception as error:  # noqa: BLE001
            self.error = error

    def check(self):
        if self.error:
            raise Failed(f"{self.name}: {self.error!r}")


class Writer(Peer):
    """Increments the counter, with several actions on the way."""

    applied = 0

    def act(self):
        sent = []
        while not self.end.is_set() or sent:
            while len(sent) < WINDOW and not self.end.is_set():
                sent.append(self.client.send_action("/visits", {"increment": {"by": 1}}))
            outcome = self.client.outcome(sent.pop(0))
            if "applied" not in outcome:
                raise Failed(f"an increment was not applied: {outcome}")
            self.applied += 1


class Watcher(Peer):
    """Follows the counter, and counts its changes."""

    deltas = snapshots = sequence = 0

    def __init__(self, path):
        super().__init__(path, "watcher")
        self.client.subscribe("/visits", "replica")
        self.updates = list(self.client.updates)

    def act(self):
        for frame in self.updates:
            self.take(frame)
        while not self.end.is_set():
            # A frame is read to its end, as its beginning would be lost otherwise.
            if select.select([self.client.connection.socket], [], [], 0.5)[0]:
                self.take(self.client.connection.receive())

    def take(self, frame):
        if frame.kind == DELTA:
            if frame.number <= self.sequence:
                raise Failed(f"delta {frame.number} after {self.sequence}")
            self.sequence = frame.number
            self.deltas += 1
        elif frame.kind == SNAPSHOT:
            self.snapshots += 1
            if self.snapshots > 1:
                raise Failed("a second snapshot")
        elif frame.kind == LAG:
            raise Failed("updates were dropped")
        elif frame.kind != MARK:
            raise Failed(f"an unexpected {frame}")


def run(binary, home, count, seed):
    """Restarts a daemon `count` times; returns numbers for the report."""
    durability = ["strict", "relaxed"][seed % 2]
    daemon = Daemon(binary, os.path.join(home, "restarts"), {"durability": durability})
    if not daemon.start():
        raise Failed(f"does not start: {daemon.tail()}")
    pid = daemon.process.pid
    try:
        holder = Client(daemon.socket, "holder")
        token = holder.dispatch("/lock", {"acquire": {}})["applied"]
        waiter = Client(daemon.socket, "waiter")
        waiting = waiter.send_action("/lock", {"acquire": {"wait": True}})
        while len(holder.get("/lock")["waiters"]) != 1:
            time.sleep(0.01)
        before = holder.get("/lock")
        watcher = Watcher(daemon.socket)
        writers = [Writer(daemon.socket, f"writer {number}") for number in range(4)]
        peers = [watcher, *writers]
        for peer in peers:
            peer.start()
        longest = 0.0
        for number in range(count):
            began = time.monotonic()
            operator = Client(daemon.socket, "operator")
            report = operator.ask({"restart": {"pauseMax": 60_000}})
            longest = max(longest, time.monotonic() - began)
            operator.connection.close()
            if report["problem"] or report["closed"] or report["pid"] == pid:
                raise Failed(f"restart {number}: {report}")
            pid = report["pid"]
            for peer in peers:
                peer.check()
            if holder.get("/lock") != before:
                raise Failed(f"restart {number}: the lock is {holder.get('/lock')}")
        for writer in writers:
            writer.end.set()
            writer.join(60)
        total = sum(writer.applied for writer in writers)
        deadline = time.monotonic() + 60
        while watcher.deltas < total and time.monotonic() < deadline:
            time.sleep(0.05)
        watcher.end.set()
        watcher.join(60)
        for peer in peers:
            peer.check()
        if watcher.deltas != total or holder.get("/visits")["count"] != total:
            raise Failed(f"{total} were applied, {watcher.deltas} seen, {holder.get('/visits')}")
        held = before["holder"]["token"]
        holder.dispatch("/lock", {"release": {"token": held}})
        granted = waiter.outcome(waiting)
        if "applied" not in granted:
            raise Failed(f"the waiter got {granted} after {token}")
        return {"restarts": count, "actions": total, "longest": f"{longest:.2f} s"}
    finally:
        os.kill(pid, signal.SIGKILL)
