"""Daemons over as many members of etcd, with clients at each, for drills."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from random import Random

from actors import Actor, Follower, Ledger, Reader, Syncer
from daemon import REACTORS, Daemon
from etcd import Etcd
from judge import Evidence, History, Judge, prove
from wire import *
from worker import Violation

# The nodes that a cluster may have, by index, and those of the drills with three.
NODES = ["a", "b", "c", "d", "e"]
NAMES = NODES[:3]
# With this, `reactorctl` ends where a daemon cannot answer yet.
UNAVAILABLE = 75


class Unanswered(Exception):
    """A node could not answer yet."""


class Cluster:
    """The daemons and the members of etcd of `count` nodes; on a network's machines, if any.

    `places` are directories for the data of each node, if these are on file systems of their own.
    """

    # Each node keeps a part of its history.
    DATA = {"snapshotBytes": "1MiB", "keepBytes": "256MiB"}
    # Bytes that etcd keeps for a node that is away.
    LOG = 4 << 20

    def __init__(self, binary, home, seed, takeover="1500ms", network=None,
                 reactors=REACTORS, places=None, count=3):
        self.random, self.binary = Random(seed), binary
        self.names, self.numbers = NODES[:count], range(count)
        self.etcd = Etcd(home, network, places, count)
        self.ledger = Ledger()
        self.judges = True  # whether a duration beyond the promised one is a violation
        self.daemons = []
        self.ended = set()  # daemons that were ended on purpose
        self.began = {}  # when each was last started again
        self.fault_count = 1
        for number, name in enumerate(self.names):
            # A node that is cut off serves administrators alone.
            extra = (
                f"admin: {{ socket: {os.path.join(home, name, 'admin')} }}\n"
                f"cluster:\n  name: torture\n  node: {name}\n"
                f"  engine: {self.etcd.socket(number)}\n  takeover: {takeover}\n"
                f"  logBytes: {self.LOG >> 20}MiB\n  nodes:\n{self.nodes(home, number)}")
            self.daemons.append(
                Daemon(binary, os.path.join(home, name), self.DATA, extra=extra,
                       data=os.path.join(places[number], "data") if places else None,
                       reactors=reactors, wrapper=network.enter(number) if network else ()))

    def nodes(self, home, number):
        """The nodes, as the configuration of one of them names them."""
        return "".join(
            f"    {name}: {{ index: {n + 1}, peer: {self.peer(home, number, n)} }}\n"
            for n, name in enumerate(self.names))

    def peer(self, home, number, other):
        """Where a node reaches the daemon of another one, or where its own daemon accepts."""
        return os.path.join(home, self.names[other], "peer")

    def begin_daemons(self):
        for member in self.numbers:
            self.etcd.start(member)
        # The first node founds the cluster once a majority of the members has a leader.
        founding = subprocess.run(
            [self.binary, "--config", self.daemons[0].config, "cluster", "init"],
            capture_output=True, text=True, timeout=60)
        if founding.returncode != 0:
            raise Violation(f"cluster init: {founding.stdout}{founding.stderr}")
        for daemon in self.daemons:
            if not daemon.start():
                raise Violation(f"a daemon does not start: {daemon.tail()}")
        self.await_leader()

    def begin(self):
        self.begin_daemons()
        nodes = list(zip(self.daemons, self.names))
        self.actors = [
            Actor(daemon, name, self.ledger, len(nodes)) for daemon, name in nodes]
        self.followers = [Follower(daemon, f"follower {name}") for daemon, name in nodes]
        self.readers = [Reader(daemon, f"reader {name}", self.ledger) for daemon, name in nodes]
        self.syncers = [Syncer(daemon, f"syncer {name}", self.ledger) for daemon, name in nodes]
        for reader in self.readers:
            reader.judges = self.judges
        for thread in self.threads:
            thread.start()

    @property
    def threads(self):
        kinds = ["actors", "followers", "readers", "syncers"]
        return [thread for kind in kinds for thread in getattr(self, kind, [])]

    def status(self, number):
        """What a node says of the cluster to an administrator; None if it does not answer."""
        try:
            connection = Connection(os.path.join(self.daemons[number].home, "admin"))
        except LOST:
            return None
        try:
            connection.socket.settimeout(1)
            hello = {"versionMin": 1, "versionMax": 1, "program": "operator"}
            connection.send(HELLO, hello, number=MAGIC)
            connection.send(ASK, {"cluster": {}}, number=1)
            while (frame := connection.receive()).kind != ANSWER:
                if frame.kind == REFUSED:
                    return None
            return frame.item()
        except LOST:
            return None
        finally:
            connection.close()

    def await_status(self, number, seconds=120):
        """What a node says of itself; waits where it is too busy to answer."""
        deadline = time.monotonic() + seconds
        while (status := self.status(number)) is None:
            if time.monotonic() > deadline:
                raise Violation(
                    f"{self.names[number]} shows no status: {self.daemons[number].tail()}")
            self.check()
            time.sleep(0.02)
        return status

    def leader(self, other_than=None):
        for number in self.numbers:
            if number == other_than:
                continue
            status = self.status(number)
            if status and status["role"] == "leading" and not status["isCut"]:
                return number
        return None

    def await_leader(self, seconds=60, other_than=None):
        deadline = time.monotonic() + seconds
        while (number := self.leader(other_than)) is None:
            if time.monotonic() > deadline:
                raise Violation(f"no node leads within {seconds} s:\n{self.tails()}")
            self.check()
            time.sleep(0.01)
        return number

    def await_serving(self, goal=0, seconds=60):
        """Waits until each node serves clients and has applied row `goal`."""
        deadline = time.monotonic() + seconds
        while True:
            statuses = [self.status(number) for number in self.numbers]
            if all(status and not status["isCut"] and status["applied"] >= goal
                   for status in statuses):
                return
            if time.monotonic() > deadline:
                raise Violation(
                    f"not all nodes serve row {goal} within {seconds} s: {statuses}\n"
                    f"{self.tails()}")
            self.check()
            time.sleep(0.02)

    def check(self):
        for number, daemon in enumerate(self.daemons):
            if number not in self.ended and not daemon.is_running():
                if self.waits_for_etcd(number):
                    daemon.start(wait=False)
                    continue
                raise Violation(
                    f"{self.names[number]} has ended by itself, with {daemon.process.returncode}: "
                    f"{daemon.tail()}")
        for thread in self.threads:
            if thread.error:
                raise thread.error

    def waits_for_etcd(self, number, seconds=90):
        """Whether a daemon has ended in its start without an answer of etcd: see `start_all`."""
        since, size = self.began.get(number, (0, 0))
        said = self.daemons[number].said(size)
        return (self.daemons[number].process.returncode == 69
                and time.monotonic() < since + seconds
                and "start the etcd member" in said and "] ready" not in said)

    def hold(self, seconds):
        """Lets time pass, and watches the clients."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.check()
            time.sleep(0.02)

    def await_progress(self, since, seconds=60):
        """Waits for some acknowledgements of actions after `since`."""
        deadline = time.monotonic() + seconds
        while True:
            with self.ledger.lock:
                fresh = sum(moment > since for moment in self.ledger.times[-200:])
            if fresh >= 20:
                return
            self.check()
            if time.monotonic() > deadline:
                raise Violation(f"no action is applied within {seconds} s:\n{self.tails()}")
            time.sleep(0.01)

    def tails(self):
        """The ends of the daemons' logs."""
        return "\n".join(daemon.tail(1_500) for daemon in self.daemons)

    def kill(self, number):
        """kill -9 of a daemon."""
        self.check()
        self.ended.add(number)
        self.daemons[number].kill()

    def restart(self, number):
        daemon = self.daemons[number]
        self.began[number] = time.monotonic(), daemon.log_size
        if not daemon.start():
            raise Violation(f"a daemon does not start again: {daemon.tail()}")
        self.ended.discard(number)

    def start_all(self, numbers=None, seconds=90):
        """Starts these daemons, by default all, and waits until they serve.

        Before a member of etcd serves, it asks the others for a checksum of their data, one after
        the other. While these do the same it waits for 6 s for each, and a daemon waits for 15 s in
        all: then it ends with 69, and is started again, as by systemd.
        """
        deadline, waiting = time.monotonic() + seconds, set(numbers or self.numbers)
        for number in sorted(waiting):
            self.daemons[number].start(wait=False)
        while waiting:
            for number in sorted(waiting):
                daemon = self.daemons[number]
                if not daemon.is_running():
                    if daemon.process.returncode != 69 or time.monotonic() > deadline:
                        raise Violation(f"a daemon does not start again: {daemon.tail()}")
                    daemon.start(wait=False)
                elif (status := self.status(number)) and not status["isCut"]:
                    waiting.discard(number)
                    self.ended.discard(number)
            if time.monotonic() > deadline:
                raise Violation(f"not all nodes serve within {seconds} s:\n{self.tails()}")
            self.check()
            time.sleep(0.05)

    # The operator's program

    def reactorctl(self, *words, number, seconds=60):
        """Runs `reactorctl` at a node; for so long again where the node is cut off."""
        deadline = time.monotonic() + seconds
        while True:
            run = subprocess.run(
                [os.path.join(os.path.dirname(self.binary), "reactorctl"), *words,
                 "--socket", self.daemons[number].socket],
                capture_output=True, text=True, timeout=120)
            if run.returncode != UNAVAILABLE or time.monotonic() >= deadline:
                return run
            self.await_serving()

    def tool(self, command, *options, number):
        """Runs `reactorctl cluster` at a node once."""
        return self.reactorctl("cluster", command, *options, number=number, seconds=0)

    def step_down(self, number):
        """The leader hands over to another node, as an operator asks."""
        successor = self.random.choice([other for other in self.numbers if other != number])
        run = self.tool("step-down", "--to", self.names[successor], number=number)
        # Another node may have been faster than the named one.
        if run.returncode not in (0, 75):
            raise Violation(f"cluster step-down: {run.returncode}: {run.stdout}{run.stderr}")
        self.await_progress(time.monotonic())

    def check_status(self, seconds=120):
        """What `reactorctl cluster status` prints at each node, for people and for programs.

        Asks again where a busy node did not answer, and once in each term, as a node learns of its
        leader a moment later than others.
        """
        deadline, failed = time.monotonic() + seconds, None
        while True:
            leader = self.await_leader()
            self.await_serving()
            term = self.await_status(leader)["term"]
            try:
                return self.compare_status(leader)
            except (Unanswered, subprocess.TimeoutExpired) as error:
                if time.monotonic() > deadline:
                    raise Violation(f"cluster status: {error}")
            except Violation:
                if failed == term or time.monotonic() > deadline:
                    raise
                failed = term
            self.hold(1)

    def compare_status(self, leader):
        rows = [[name, str(index)] for index, name in enumerate(self.names, 1)]
        for number, name in enumerate(self.names):
            shown = self.tool("status", number=number)
            as_json = self.tool("status", "--json", number=number)
            if UNAVAILABLE in (shown.returncode, as_json.returncode):
                raise Unanswered(shown.stderr + as_json.stderr)
            if shown.returncode != 0 or as_json.returncode != 0:
                raise Violation(f"cluster status at {name}: {shown.stderr}{as_json.stderr}")
            told = json.loads(as_json.stdout)
            lines = shown.stdout.splitlines()
            expected = (f"node {name} of cluster torture: {told['role']}, "
                        f"leader {self.names[leader]}, ")
            if (not shown.stdout.startswith(expected)
                    or rows != [line.split()[:2] for line in lines[-len(rows):]]
                    or told["node"] != name or (told["role"] == "leading") != (number == leader)):
                raise Violation(f"cluster status at {name}: {shown.stdout}{shown.stderr} {told}")
        follower = (leader + 1) % len(self.names)
        run = self.tool("step-down", number=follower)
        if run.returncode == UNAVAILABLE and "ask " not in run.stderr:
            raise Unanswered(run.stderr)
        if run.returncode != 75 or f"ask {self.names[leader]}" not in run.stderr:
            raise Violation(f"step-down at a follower: {run.returncode}: {run.stderr}")

    # The end

    def settle(self):
        """Ends the work, and returns the state that all nodes have."""
        for actor in self.actors:
            actor.end.set()
        for actor in self.actors:
            actor.join(60)
            if actor.is_alive():
                raise Violation(f"{actor.name} has no outcome of {len(actor.pending)} actions")
        self.check()
        deadline = time.monotonic() + 120
        while True:
            states = [self.state(number) for number in self.numbers]
            if all(states) and all(state == states[0] for state in states):
                break
            if time.monotonic() > deadline:
                shown = [state and (state[0], len(state[1])) for state in states]
                raise Violation(f"the nodes do not agree within 120 s: {shown}")
            time.sleep(0.1)
        watchers = [*self.followers, *self.readers, *self.syncers]
        for thread in watchers:
            thread.end.set()
        for thread in watchers:
            thread.join(60)
        self.check()
        return states[0]

    def state(self, number):
        try:
            client = Client(self.daemons[number].socket, "reader")
            client.connection.socket.settimeout(10)
            try:
                return client.get("/visits")["count"], set(client.get("/kv")["entries"])
            finally:
                client.connection.close()
        except (*LOST, Refused, TimeoutError):
            return None

    def histories(self, seconds=60):
        """What `reactorctl log` prints at each node; asks again where a node was cut off."""
        deadline = time.monotonic() + seconds
        while True:
            codes, texts = self.logs()
            if not any(codes):
                return [History(text) for text in texts]
            if set(codes) - {0, UNAVAILABLE} or time.monotonic() > deadline:
                raise Violation(f"reactorctl log: {codes}")
            self.await_serving()

    def logs(self):
        """The statuses and the outputs of `reactorctl log` at each node."""
        with contextlib.ExitStack() as stack:
            runs = [
                stack.enter_context(subprocess.Popen(
                    [os.path.join(os.path.dirname(self.binary), "reactorctl"), "log", "/", "--json",
                     "--socket", daemon.socket], stdout=subprocess.PIPE, text=True))
                for daemon in self.daemons]
            # The output of each is read while all run.
            with ThreadPoolExecutor(len(runs)) as pool:
                texts = list(pool.map(lambda run: run.stdout.read(), runs))
        return [run.returncode for run in runs], texts

    def judge(self, state):
        """Compares all that clients were told; returns numbers for the report."""
        # A leader that ends takes sessions with it that no row has.
        unknown, unknown_max = len(self.ledger.unknown), Actor.WINDOW * self.fault_count
        if unknown > unknown_max:
            raise Violation(f"{unknown} outcomes are unknown, at most {unknown_max} are")
        idle = [follower.name for follower in self.followers if follower.updates == 0]
        if idle:
            raise Violation(f"no update came to {idle}")
        silent = [syncer.name for syncer in self.syncers if not syncer.times]
        if silent:
            raise Violation(f"no barrier was answered for {silent}")
        received = [
            thread.received for thread in [*self.followers, *self.readers, *self.syncers]]
        evidence = Evidence(self.ledger, received, state, self.histories())
        judge = Judge(evidence)
        judge.judge()
        return {
            "acknowledged": len(self.ledger.applied), "lost": 0, "doubled": 0,
            "unknown": unknown, "refused": len(self.ledger.refused), "compared": judge.compared,
            "linearizable reads": sum(len(syncer.times) for syncer in self.syncers),
            "planted and found": prove(evidence, self.random.random())}

    def close(self):
        for daemon in self.daemons:
            if daemon.is_running():
                daemon.process.send_signal(signal.SIGCONT)
                daemon.kill()
        self.etcd.close()


def chosen(names, faults):
    """The faults of these names, or all."""
    unknown = set(names or []) - set(faults)
    if unknown:
        raise Violation(f"no such faults: {unknown}")
    return names or faults


# Faults that are always injected at the leader.
AT_LEADER = {"step_down", "kill_two_machines", "kill_next_leader"}


def inject(cluster, names, timings):
    """Injects each fault once, in random order, mostly at the leader."""
    for name in cluster.random.sample(names, len(names)):
        time.sleep(0.3 + cluster.random.random())
        leader = cluster.await_leader()
        at_leader = name in AT_LEADER or cluster.random.random() < 0.8
        target = leader if at_leader else cluster.random.choice(cluster.numbers)
        since = time.monotonic()
        cluster.fault_count += 1
        getattr(cluster, name)(target)
        if target == leader:
            timings.add(name, cluster.ledger.gap(since))
        cluster.check()


def in_clusters(count, rounds, home, begin, work):
    """Works for `count` rounds in clusters of at most so many rounds; returns the sums of numbers.

    The map grows with each action, and an unoptimised daemon is slow with a large one.
    """
    totals = Counter()
    for first in range(0, count, rounds):
        place = os.path.join(home, str(first))
        os.mkdir(place, mode=0o700)
        cluster = begin(place, first)
        try:
            totals.update(work(cluster, min(rounds, count - first)))
        finally:
            cluster.close()
        shutil.rmtree(place)
        if count > rounds:
            print(f"{min(first + rounds, count)} rounds: {dict(totals)}", flush=True)
    return dict(totals)
