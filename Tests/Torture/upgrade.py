"""Programs of different versions in a cluster of three daemons over etcd."""

import os
import shutil
import threading
import time

from cluster import Cluster, NAMES
from sessions import Session, ask
from wire import *
from worker import Violation


class Adder(threading.Thread):
    """Adds numbers at one node, one after the other, and knows their sum."""

    PACE = 0.004

    def __init__(self, daemon, name):
        super().__init__(name=name, daemon=True)
        self.session = Session(daemon, name)
        self.sum, self.count, self.error = 0, 0, None
        self.end = threading.Event()

    def run(self):
        try:
            while not self.end.wait(self.PACE):
                amount = self.count % 97 + 1
                (outcome,) = self.session.outcomes("/", [{"add": {"by": amount}}])
                if "applied" not in outcome:
                    raise Violation(f"{self.name}: {outcome}")
                self.sum += amount
                self.count += 1
        except BaseException as error:  # noqa: BLE001
            self.error = error


class Upgrade:
    """The daemons, a client at each of two nodes, and the versions of the programs."""

    # Turns between two checksums of a state in the log.
    PROBE_TURNS = 256

    def __init__(self, binary, home, seed):
        # No stall of the leader makes a node lead that runs the wrong program.
        self.cluster = Cluster(binary, home, seed, takeover="10s", reactors="")
        self.adders = []

    def begin(self):
        self.cluster.begin_daemons()
        self.cluster.await_serving()
        self.leader = self.cluster.await_leader()
        self.victim = (self.leader + 1) % 3
        others = [number for number in range(3) if number != self.victim]
        self.adders = [
            Adder(self.cluster.daemons[number], f"adder {NAMES[number]}") for number in others]
        for adder in self.adders:
            adder.start()

    def check(self):
        for adder in self.adders:
            if adder.error:
                raise adder.error

    @property
    def added(self):
        return sum(adder.count for adder in self.adders)

    def await_added(self, count, seconds=60):
        goal, deadline = self.added + count, time.monotonic() + seconds
        while self.added < goal:
            self.check()
            if time.monotonic() > deadline:
                raise Violation(f"{self.added} of {goal} actions within {seconds} s")
            time.sleep(0.01)

    def stop(self, number):
        """SIGTERM of a node that follows."""
        self.cluster.ended.add(number)
        # A former program may have stopped by itself, as it cannot read a newer leader's rows.
        if self.cluster.daemons[number].kill(15) not in (0, 78):
            raise Violation(f"SIGTERM: {self.cluster.daemons[number].tail()}")

    def start(self, number, **variables):
        """Starts a node's daemon as the version that the variables name."""
        self.cluster.daemons[number].environment = variables
        return self.cluster.daemons[number].start()

    def await_end(self, number, seconds=60):
        """Waits until a daemon stops by itself, as it cannot follow; returns what it said."""
        daemon, deadline = self.cluster.daemons[number], time.monotonic() + seconds
        while daemon.is_running():
            self.check()
            if time.monotonic() > deadline:
                raise Violation(f"{NAMES[number]} does not stop: {daemon.tail()}")
            time.sleep(0.05)
        if daemon.process.returncode != 78:
            raise Violation(f"{NAMES[number]} ends with {daemon.process.returncode}: {daemon.tail()}")
        return daemon.tail(600)

    def rejoin(self, number):
        """Starts the right program again; a node whose own history is wrong takes a copy."""
        if not self.start(number):
            shutil.rmtree(self.cluster.daemons[number].data)
            if not self.start(number):
                raise Violation(f"{NAMES[number]} cannot rejoin: {self.cluster.daemons[number].tail()}")
        self.cluster.ended.discard(number)
        self.cluster.await_serving()

    # What happens

    def other_reduce(self):
        """A follower whose `reduce` comes to something else stops, and names the row."""
        self.stop(self.victim)
        self.start(self.victim, FICKLE_SURCHARGE="1")
        self.await_added(2 * self.PROBE_TURNS + 50, seconds=300)
        said = self.await_end(self.victim)
        if "row " not in said:
            raise Violation(f"the row is not named: {said}")
        self.rejoin(self.victim)

    def other_mutation(self):
        """A follower that cannot read a mutation stops, and catches up with the right program."""
        self.stop(self.victim)
        self.start(self.victim, FICKLE_TYPES="retyped")
        self.await_added(20)
        said = self.await_end(self.victim)
        if "added" not in said and "row " not in said:
            raise Violation(f"the mutation is not named: {said}")
        self.await_added(20)
        self.rejoin(self.victim)

    def rolling(self):
        """All nodes get a program whose state has another name for the count: followers first."""
        order = [number for number in range(3) if number != self.leader] + [self.leader]
        for number in order:
            self.cluster.ended = {0, 1, 2}
            if number == self.cluster.await_leader():
                run = self.cluster.tool("step-down", number=number)
                if run.returncode not in (0, 75):
                    raise Violation(f"step-down: {run.stdout}{run.stderr}")
            self.stop(number)
            if not self.start(number, FICKLE_TYPES="aliased"):
                raise Violation(f"{NAMES[number]}: {self.cluster.daemons[number].tail()}")
            wait = self.cluster.tool("wait", "--timeout", "120s", number=number)
            if wait.returncode != 0:
                raise Violation(f"cluster wait: {wait.returncode}: {wait.stderr}")
            self.await_added(30)

    def finish(self):
        """Ends the work, and compares what each node shows with the sum."""
        for adder in self.adders:
            adder.end.set()
        for adder in self.adders:
            adder.join(Session.PATIENCE + 5)
        self.check()
        expected = sum(adder.sum for adder in self.adders)
        for name, daemon in zip(NAMES, self.cluster.daemons):
            def total(client):
                client.sync(is_current=True)
                return client.get("/")["total"]

            if (shown := ask(daemon, total)) != expected:
                raise Violation(f"{name} shows {shown}, and {expected} was added")

    def close(self):
        for adder in self.adders:
            adder.end.set()
        self.cluster.close()


def run(binary, home, seed):
    """Lets the programs differ in each way; returns numbers for the report."""
    upgrade = Upgrade(binary, home, seed)
    try:
        upgrade.begin()
        for step in (upgrade.other_mutation, upgrade.other_reduce, upgrade.rolling):
            since = time.monotonic()
            step()
            print(f"{step.__name__}: {time.monotonic() - since:.1f} s")
        upgrade.finish()
    finally:
        upgrade.close()
    shutil.rmtree(home)
    os.mkdir(home)
    return {"acknowledged": upgrade.added, "lost": 0, "doubled": 0}
