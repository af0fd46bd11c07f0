"""A cluster that lost its etcd is founded again: from a backup, and from what one node has."""

import os
import shutil
import subprocess
import time

from cluster import NAMES, UNAVAILABLE, Cluster
from sessions import Session, ask
from timings import Timings
from wire import *
from worker import Violation


class Recovery:
    """A cluster, what its clients have added, and the steps of its operator."""

    # The node that the cluster is founded with.
    FOUNDER = 0

    def __init__(self, binary, home, seed):
        self.cluster = Cluster(binary, home, seed)
        self.founder = self.cluster.daemons[self.FOUNDER]
        self.backup = os.path.join(home, "backup")
        self.sum = 0

    def begin(self):
        self.cluster.begin_daemons()
        self.cluster.await_serving()

    def add(self, count=20):
        """Clients act at each node."""
        for name, daemon in zip(NAMES, self.cluster.daemons):
            session = Session(daemon, f"adder {name}", self.cluster.check)
            outcomes = session.outcomes("/visits", count * [{"increment": {"by": 1}}])
            if not all("applied" in outcome for outcome in outcomes):
                raise Violation(f"at {name}: {outcomes}")
            session.client.connection.close()
            self.sum += count

    def hold(self, seconds=30):
        """A client takes the lock and keeps it; returns the client."""
        deadline = time.monotonic() + seconds
        while True:
            session = Session(self.founder, "holder", self.cluster.check)
            (outcome,) = session.outcomes("/lock", [{"acquire": {}}])
            if "applied" not in outcome:
                raise Violation(f"the lock is not free: {outcome}")
            shown = self.shown()
            if all(state == (self.sum, True) for state in shown):
                return session.client
            # A busy node may have closed its clients, which ends what they own.
            session.client.connection.close()
            if any(sum != self.sum for sum, _ in shown) or time.monotonic() > deadline:
                raise Violation(f"expected {self.sum} at each node, and a held lock, got {shown}")

    def shown(self):
        """The sum that each node shows, and whether the lock is held."""
        def read(client):
            client.sync(is_current=True)
            return client.get("/visits")["count"], client.get("/lock")["holder"] is not None

        return [ask(daemon, read) for daemon in self.cluster.daemons]

    def expect(self):
        """Each node shows what the clients were told, and that the lock is free."""
        shown = self.shown()
        if any(state != (self.sum, False) for state in shown):
            raise Violation(f"expected {self.sum} at each node, and a free lock, got {shown}")

    def epochs(self):
        """The epoch that each node tells its clients."""
        return {ask(daemon, lambda client: client.epoch) for daemon in self.cluster.daemons}

    def run(self, words):
        run = subprocess.run(words, capture_output=True, text=True, timeout=120)
        if run.returncode != 0:
            raise Violation(f"{words}: {run.returncode}: {run.stdout}{run.stderr}")
        return run.stdout

    def await_stored(self, seconds=120):
        """Waits until the founder has stored all that it has applied, and that is all."""
        deadline = time.monotonic() + seconds
        while True:
            statuses = [self.cluster.status(number) for number in self.cluster.numbers]
            if all(statuses) and statuses[self.FOUNDER]["stored"] >= max(
                    status["applied"] for status in statuses):
                return
            if time.monotonic() > deadline:
                raise Violation(f"{NAMES[self.FOUNDER]} does not store everything: {statuses}")
            time.sleep(0.05)

    def end(self):
        """All machines end at once, and etcd's data are lost."""
        for number in self.cluster.numbers:
            self.cluster.kill(number)
        for member in self.cluster.numbers:
            self.cluster.etcd.kill(member)
            shutil.rmtree(os.path.join(self.cluster.etcd.home, self.cluster.etcd.data[member]))

    def found(self):
        """Founds the cluster with the founder's data; the other nodes take copies over links."""
        for daemon in self.cluster.daemons:
            if daemon is not self.founder:
                shutil.rmtree(daemon.data)
        for member in self.cluster.numbers:
            self.cluster.etcd.start(member)
        said = self.run([self.cluster.binary, "--config", self.founder.config, "cluster", "init"])
        if "in a new epoch, as the directory is a restored copy" not in said:
            raise Violation(f"cluster init: {said}")
        for number in self.cluster.numbers:
            self.cluster.restart(number)
        self.cluster.await_leader()
        self.cluster.await_serving()

    # The ways back

    def from_backup(self):
        """All machines are new: what clients did after the backup is lost."""
        self.take_backup()
        sum = self.sum
        self.add()
        self.end()
        shutil.rmtree(self.founder.data)
        shutil.move(self.backup, self.founder.data)
        self.sum = sum

    def take_backup(self, seconds=60):
        self.await_stored()
        deadline = time.monotonic() + seconds
        while True:
            run = self.cluster.reactorctl(
                "backup", self.backup, number=self.FOUNDER, seconds=0)
            if run.returncode == 0:
                return
            # A node that was cut off may have made a part of it.
            shutil.rmtree(self.backup, ignore_errors=True)
            if run.returncode != UNAVAILABLE or time.monotonic() > deadline:
                raise Violation(f"backup: {run.returncode}: {run.stdout}{run.stderr}")
            self.cluster.await_serving()

    def from_node(self):
        """The machines are there: nothing is lost that the founder has stored."""
        self.await_stored()
        self.end()
        self.run([self.cluster.binary, "restore", self.founder.data, self.backup])
        shutil.rmtree(self.founder.data)
        shutil.move(self.backup, self.founder.data)


WAYS = ["from_backup", "from_node"]


def run(binary, home, seed):
    """Takes each way back once; returns numbers for the report."""
    recovery, timings = Recovery(binary, home, seed), Timings(WAYS)
    try:
        recovery.begin()
        for name in WAYS:
            recovery.add()
            former, holder = recovery.epochs(), recovery.hold()
            getattr(recovery, name)()
            holder.connection.close()
            since = time.monotonic()
            recovery.found()
            timings.add(name, time.monotonic() - since)
            recovery.expect()
            epochs = recovery.epochs()
            if len(epochs) != 1 or epochs == former:
                raise Violation(f"epoch {epochs}, after {former}")
            recovery.add()
            recovery.expect()
    finally:
        recovery.cluster.close()
    shutil.rmtree(home)
    os.mkdir(home)
    timings.show("seconds from nothing until all nodes serve")
    return {"ways": len(WAYS), "sum": recovery.sum}
