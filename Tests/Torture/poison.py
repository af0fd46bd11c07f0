"""An action that ends each daemon that carries it out, in a cluster of three daemons over etcd."""

import os
import shutil
import threading
import time

from cluster import Cluster, NAMES
from sessions import Session, ask
from timings import Timings
from wire import *
from worker import Violation


class Supervisor(threading.Thread):
    """Starts each daemon again that has ended by itself, and counts the ends."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster, self.ends, self.error = cluster, [], None
        self.end = threading.Event()

    def check(self):
        if self.error:
            raise self.error

    def run(self):
        try:
            while not self.end.wait(0.05):
                for name, daemon in zip(NAMES, self.cluster.daemons):
                    if not daemon.is_running():
                        self.ends.append(name)
                        if not daemon.start():
                            raise Violation(f"{name} does not start again: {daemon.tail()}")
        except BaseException as error:  # noqa: BLE001
            self.error = error


def run(binary, home, seed, count):
    """Sends `count` poisoned actions, each at another node; returns numbers for the report."""
    cluster = Cluster(binary, home, seed, reactors="")
    timings = Timings(["until the refusal"])
    supervisor = Supervisor(cluster)
    refused = 0
    try:
        for daemon in cluster.daemons:
            # A trace of each end would take seconds.
            daemon.environment = {"SWIFT_BACKTRACE": "enable=no"}
        cluster.begin_daemons()
        # The supervisor knows of their ends.
        cluster.ended = {0, 1, 2}
        supervisor.start()
        for round in range(count):
            supervisor.check()
            before, since = len(supervisor.ends), time.monotonic()
            former = [cluster.await_status(number)["depositions"] for number in cluster.numbers]
            session = Session(cluster.daemons[round % 3], "poisoner", supervisor.check)
            poisoned, next = session.outcomes(
                "/", [{"trap": {}}, {"tell": {"name": f"round {round}", "text": "on"}}])
            if poisoned.get("rejected", {}).get("code") != "POISONED" or "applied" not in next:
                raise Violation(f"a poisoned action and the next have {poisoned} and {next}")
            refused += 1
            timings.add("until the refusal", time.monotonic() - since)
            cluster.await_serving()
            ends = len(supervisor.ends) - before
            # A leader that was deposed meanwhile, on a busy machine, counts like an ended daemon.
            deposed = sum(
                cluster.await_status(number)["depositions"] > former[number]
                for number in cluster.numbers)
            if not ends <= 2 <= ends + deposed:
                raise Violation(f"{ends} daemons have ended: {supervisor.ends[before:]}")
        cluster.await_serving()
        notes = {NAMES[number]: told(cluster.daemons[number]) for number in range(3)}
        expected = [f"round {round}" for round in range(count)]
        if any(names != expected for names in notes.values()):
            raise Violation(f"expected {expected} on each node, got {notes}")
        supervisor.check()
    finally:
        supervisor.end.set()
        if supervisor.is_alive():
            supervisor.join(70)
        cluster.close()
    shutil.rmtree(home)
    os.mkdir(home)
    timings.show("seconds")
    return {"refused": refused, "ended daemons": len(supervisor.ends)}


def told(daemon):
    """The names in the notes that a node shows, as of the last acknowledged action."""
    def names(client):
        client.sync(is_current=True)
        return [note["name"] for note in client.get("/")["notes"]]

    return ask(daemon, names)
