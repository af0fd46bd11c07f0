"""Three daemons over three members of etcd: leaders are killed, stopped and deposed."""

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

from actors import Actor, Follower, Ledger, Reader, Syncer, amount
from daemon import REACTORS, Daemon
from etcd import Etcd
from judge import Evidence, History, Judge, prove
from timings import Timings
from wire import *
from worker import Violation

NAMES = ["a", "b", "c"]


class SmallDisk:
    """A file system in memory for one data directory, which another program can fill."""

    def __init__(self, path, mebibytes):
        self.path, self.filler = path, os.path.join(path, "filler")
        os.makedirs(path, exist_ok=True)
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", path], check=True)

    @staticmethod
    def can_be_made():
        return os.geteuid() == 0 and shutil.which("mount") and subprocess.run(
            ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
            capture_output=True).returncode == 0

    def fill(self):
        with open(self.filler, "ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(1 << 16))

    def free(self):
        os.unlink(self.filler)

    def close(self):
        subprocess.run(["umount", "--lazy", self.path], check=False)


class Cluster:
    """The daemons, the members of etcd, and their faults; on a network's machines, if any.

    `places` are directories for the data of each node, if these are on file systems of their own.
    """

    # Each node keeps a part of its history.
    DATA = {"snapshotBytes": "1MiB", "keepBytes": "256MiB"}
    # The node whose disk is filled. What it removes then must not be enough to go on.
    FILLED, FILLED_DATA = 2, {"snapshotBytes": "1MiB", "keepBytes": "8MiB"}

    def __init__(self, binary, home, seed, takeover="1500ms", network=None,
                 reactors=REACTORS, has_disk=False, places=None):
        self.random, self.binary = Random(seed), binary
        self.etcd = Etcd(home, network, places)
        self.ledger = Ledger()
        self.judges = True  # whether a duration beyond the promised one is a violation
        self.daemons = []
        disk = os.path.join(home, NAMES[self.FILLED], "disk")
        self.disk = SmallDisk(disk, 256) if has_disk else None
        self.ended = set()  # daemons that were ended on purpose
        self.fault_count = 1
        self.filled = 0  # actions that made the log longer
        # Unix sockets would pass the cuts of a network, so that its nodes have no links.
        nodes = "".join(
            f"    {name}: {{ index: {n + 1}"
            + ("" if network else f", peer: {os.path.join(home, name, 'peer')}") + " }\n"
            for n, name in enumerate(NAMES))
        data = [os.path.join(place, "data") for place in places] if places else [None] * 3
        if has_disk:
            data[self.FILLED] = os.path.join(disk, "data")
        for number, name in enumerate(NAMES):
            is_filled = has_disk and number == self.FILLED
            # A node that is cut off serves administrators alone.
            extra = (
                f"admin: {{ socket: {os.path.join(home, name, 'admin')} }}\n"
                f"cluster:\n  name: torture\n  node: {name}\n"
                f"  engine: {self.etcd.socket(number)}\n  takeover: {takeover}\n"
                f"  logBytes: 4MiB\n  nodes:\n{nodes}")
            self.daemons.append(
                Daemon(binary, os.path.join(home, name),
                       self.FILLED_DATA if is_filled else self.DATA, extra=extra,
                       data=data[number], reactors=reactors,
                       wrapper=network.enter(number) if network else ()))

    def begin_daemons(self):
        for member in range(3):
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
        self.actors = [
            Actor(daemon, name, self.ledger) for daemon, name in zip(self.daemons, NAMES)]
        self.followers = [
            Follower(daemon, f"follower {name}") for daemon, name in zip(self.daemons, NAMES)]
        self.readers = [
            Reader(daemon, f"reader {name}", self.ledger)
            for daemon, name in zip(self.daemons, NAMES)]
        self.syncers = [
            Syncer(daemon, f"syncer {name}", self.ledger)
            for daemon, name in zip(self.daemons, NAMES)]
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

    def leader(self, other_than=None):
        for number in range(3):
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
            statuses = [self.status(number) for number in range(3)]
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
                raise Violation(
                    f"{NAMES[number]} has ended by itself, with {daemon.process.returncode}: "
                    f"{daemon.tail()}")
        for thread in self.threads:
            if thread.error:
                raise thread.error

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

    # Faults; each returns after the cluster has repaired itself as far as it can.

    def kill(self, number):
        """kill -9 of a daemon."""
        self.check()
        self.ended.add(number)
        self.daemons[number].kill()

    def kill_daemon(self, number):
        self.kill(number)
        self.await_progress(time.monotonic())
        self.restart(number)

    def kill_machine(self, number):
        self.etcd.kill(number)
        self.kill(number)
        self.await_progress(time.monotonic())
        self.etcd.start(number)
        self.restart(number)

    def kill_etcd(self, number):
        self.etcd.kill(number)
        self.await_progress(time.monotonic())
        self.etcd.start(number)

    def stop_daemon(self, number):
        self.daemons[number].process.send_signal(signal.SIGSTOP)
        self.await_progress(time.monotonic())
        self.daemons[number].process.send_signal(signal.SIGCONT)

    def stop_etcd(self, number):
        self.etcd.signal(number, signal.SIGSTOP)
        self.await_progress(time.monotonic())
        self.etcd.signal(number, signal.SIGCONT)

    def kill_all(self, _):
        for number in range(3):
            self.kill(number)
        for number in range(3):
            self.etcd.kill(number)
        for number in range(3):
            self.etcd.start(number)
        for number in range(3):
            self.restart(number)
        self.await_progress(time.monotonic())

    def step_down(self, number):
        successor = self.random.choice([other for other in range(3) if other != number])
        run = self.tool("step-down", "--to", NAMES[successor], number=number)
        # Another node may have been faster than the named one.
        if run.returncode not in (0, 75):
            raise Violation(f"cluster step-down: {run.returncode}: {run.stdout}{run.stderr}")
        self.await_progress(time.monotonic())

    def end_daemon(self, number):
        """SIGTERM: the leader hands over."""
        self.ended.add(number)
        if self.daemons[number].kill(signal.SIGTERM) != 0:
            raise Violation(f"SIGTERM: {self.daemons[number].tail()}")
        self.await_progress(time.monotonic())
        self.restart(number)

    def lose_data(self, number):
        """A machine is replaced: its daemon takes the history from another node."""
        # While all is well, so that another node sends its copy.
        self.await_serving()
        self.kill(number)
        self.await_progress(time.monotonic())
        shutil.rmtree(self.daemons[number].data)
        size = self.daemons[number].log_size
        self.restart(number)
        if "copied the history of cluster torture" not in self.daemons[number].said(size):
            raise Violation(f"{NAMES[number]} took no copy: {self.daemons[number].tail()}")

    def fall_behind(self, number):
        """A machine was away until the log no longer had what it lacks."""
        self.await_serving()
        if number == self.leader():
            number = (number + 1) % 3
        self.kill(number)
        self.fill_log(self.await_leader())
        size = self.daemons[number].log_size
        self.restart(number)
        deadline = time.monotonic() + 60
        while "copied the history of cluster torture" not in self.daemons[number].said(size):
            if time.monotonic() > deadline:
                raise Violation(f"{NAMES[number]} took no copy: {self.daemons[number].tail()}")
            self.check()
            time.sleep(0.05)
        self.await_serving()
        self.await_progress(time.monotonic())

    def fill_disk(self, _):
        """Another program fills a node's disk: the node goes on, and stores the rows when it may.

        It is always the same node: it removes its older history, which is evidence.
        """
        if not self.disk:
            print("skipped: fill_disk: no file system can be mounted here", flush=True)
            return
        number = self.FILLED
        self.await_serving()
        if self.random.random() < 0.5 and self.leader() != number:
            self.tool("step-down", "--to", NAMES[number], number=self.leader())
            self.await_serving()
        size = self.daemons[number].log_size
        self.disk.fill()
        self.fill_until(lambda _: "the disk is full" in self.daemons[number].said(size))
        # Longer than a node without news of the log serves its clients.
        end = time.monotonic() + 2.5
        while time.monotonic() < end:
            self.check()
            time.sleep(0.05)
        self.await_serving()
        self.await_progress(time.monotonic())
        status = self.status(number)
        if not status or status["unstored"] == 0 or status["stored"] >= status["applied"]:
            raise Violation(f"{NAMES[number]} stores rows on a full disk: {status}")
        if self.snapshot(number).returncode == 0:
            raise Violation(f"{NAMES[number]} takes a snapshot of rows that it has not stored")
        if self.leader() == number:
            # Its next server continues from rows that are in no file.
            self.step_down(number)
            self.await_serving()
        # With half of logBytes in memory it reads no further rows, and closes its clients.
        last = self.filled + 45
        self.fill_until(lambda _: self.filled >= last)
        deadline = time.monotonic() + 30
        while not (status := self.status(number)) or not status["isCut"]:
            if time.monotonic() > deadline:
                raise Violation(f"{NAMES[number]} reads on with a full disk: {status}")
            self.check()
            time.sleep(0.05)
        goal = status["applied"]
        self.disk.free()
        deadline = time.monotonic() + 60
        while True:
            status = self.status(number)
            if status and status["unstored"] == 0 and status["stored"] >= goal:
                break
            if time.monotonic() > deadline:
                raise Violation(f"{NAMES[number]} stores nothing again: {status}")
            self.check()
            time.sleep(0.05)
        self.await_progress(time.monotonic())
        self.await_serving()
        taken = self.snapshot(number)
        if taken.returncode != 0:
            raise Violation(f"{NAMES[number]} takes no snapshot: {taken.stdout}{taken.stderr}")
        # What it has stored continues in the next start.
        self.end_daemon(number)

    def snapshot(self, number):
        return subprocess.run(
            [os.path.join(os.path.dirname(self.binary), "reactorctl"), "snapshot", "--socket",
             self.daemons[number].socket], capture_output=True, text=True, timeout=60)

    def fill_log(self, leader):
        """Appends more than the log keeps for a node that is away, until the leader compacts it."""
        client = Client(self.daemons[leader].socket, "filler")
        before = client.ask({"stats": {}})["clusterCompactions"]
        client.connection.close()
        self.fill_until(
            lambda client: client.ask({"stats": {}})["clusterCompactions"] >= before + 2, leader)

    def fill_until(self, is_done, leader=None):
        """Appends large rows at the leader until `is_done`, called with a client of it."""
        leader, deadline = self.await_leader() if leader is None else leader, time.monotonic() + 60
        client = Client(self.daemons[leader].socket, "filler")
        try:
            while not is_done(client):
                if time.monotonic() > deadline:
                    raise Violation(f"large rows have no effect: {self.daemons[leader].tail()}")
                self.filled += 1
                key = f"filler-{self.filled}"
                # It cannot be packed, and replaces the former value. As with every action here, one
                # transaction changes what the followers mirror.
                value = self.random.randbytes(30_000).hex()
                ordinal = client.send_batch([
                    ("/visits", {"increment": {"by": amount(key)}}),
                    ("/kv", {"set": {"key": key, "value": 1}}),
                    ("/ballast", {"set": {"key": "a", "value": value}})])
                self.ledger.apply(key, client.outcome(ordinal)["applied"]["sequence"])
        finally:
            client.connection.close()

    def restart(self, number):
        if not self.daemons[number].start():
            raise Violation(f"a daemon does not start again: {self.daemons[number].tail()}")
        self.ended.discard(number)

    # The operator's program

    def tool(self, command, *options, number):
        """Runs `reactorctl cluster` at a node."""
        return subprocess.run(
            [os.path.join(os.path.dirname(self.binary), "reactorctl"), "cluster", command,
             *options, "--socket", self.daemons[number].socket],
            capture_output=True, text=True, timeout=60)

    def shown_status(self, number):
        """What `reactorctl cluster status` prints; asks again while a busy machine cuts the node."""
        deadline = time.monotonic() + 20
        while True:
            shown = self.tool("status", number=number)
            if " CUT " not in shown.stderr or time.monotonic() > deadline:
                return shown
            self.await_serving()

    def check_status(self):
        """What `reactorctl cluster status` prints at each node, for people and for programs."""
        leader = self.await_leader()
        self.await_serving()
        for number, name in enumerate(NAMES):
            shown = self.shown_status(number)
            told = json.loads(self.tool("status", "--json", number=number).stdout)
            lines = shown.stdout.splitlines()
            expected = f"node {name} of cluster torture: {told['role']}, leader {NAMES[leader]}, "
            rows = [line.split()[:2] for line in lines[-3:]]
            if (shown.returncode != 0 or not lines[0].startswith(expected)
                    or rows != [["a", "1"], ["b", "2"], ["c", "3"]]
                    or told["node"] != name or (told["role"] == "leading") != (number == leader)):
                raise Violation(f"cluster status at {name}: {shown.stdout}{shown.stderr} {told}")
        follower = (leader + 1) % 3
        run = self.tool("step-down", number=follower)
        if run.returncode != 75 or f"ask {NAMES[leader]}" not in run.stderr:
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
        deadline = time.monotonic() + 30
        while True:
            states = [self.state(number) for number in range(3)]
            if all(states) and states[0] == states[1] == states[2]:
                break
            if time.monotonic() > deadline:
                shown = [state and (state[0], len(state[1])) for state in states]
                raise Violation(f"the nodes do not agree within 30 s: {shown}")
            time.sleep(0.1)
        watchers = [*self.followers, *self.readers, *self.syncers]
        for thread in watchers:
            thread.end.set()
        for thread in watchers:
            thread.join(10)
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

    def histories(self):
        """What `reactorctl log` prints at each node."""
        with contextlib.ExitStack() as stack:
            runs = [
                stack.enter_context(subprocess.Popen(
                    [os.path.join(os.path.dirname(self.binary), "reactorctl"), "log", "/", "--json",
                     "--socket", daemon.socket], stdout=subprocess.PIPE, text=True))
                for daemon in self.daemons]
            # The output of each is read while all run.
            with ThreadPoolExecutor(3) as pool:
                texts = list(pool.map(lambda run: run.stdout.read(), runs))
        if any(run.returncode != 0 for run in runs):
            raise Violation(f"reactorctl log: {[run.returncode for run in runs]}")
        return [History(text) for text in texts]

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
        if self.disk:
            self.disk.close()


FAULTS = ["kill_daemon", "stop_daemon", "kill_machine", "kill_etcd", "stop_etcd", "step_down",
          "end_daemon", "lose_data", "fall_behind", "fill_disk", "kill_all"]


def chosen(names, faults):
    """The faults of these names, or all."""
    unknown = set(names or []) - set(faults)
    if unknown:
        raise Violation(f"no such faults: {unknown}")
    return names or faults


def inject(cluster, names, timings):
    """Injects each fault once, in random order, mostly at the leader."""
    for name in cluster.random.sample(names, len(names)):
        time.sleep(0.3 + cluster.random.random())
        leader = cluster.await_leader()
        at_leader = name in ("step_down",) or cluster.random.random() < 0.8
        target = leader if at_leader else cluster.random.randrange(3)
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


def run(binary, home, seed, count, names=None, judges=True):
    """Injects each fault `count` times, mostly at the leader; returns numbers for the report.

    Unless it `judges`, an answer may be older than a node promises.
    """
    names = chosen(names, FAULTS)
    has_disk = "fill_disk" in names and bool(SmallDisk.can_be_made())
    timings, waits = Timings(names), Timings(["barriers for the current state"])

    def begin(place, first):
        cluster = Cluster(binary, place, seed + first, has_disk=has_disk)
        cluster.judges = judges
        return cluster

    def work(cluster, rounds):
        cluster.begin()
        cluster.check_status()
        for _ in range(rounds):
            inject(cluster, names, timings)
        totals = cluster.judge(cluster.settle())
        for syncer in cluster.syncers:
            for seconds in syncer.times:
                waits.add("barriers for the current state", 1_000 * seconds)
        return totals

    totals = in_clusters(count, 10, home, begin, work)
    timings.show()
    waits.show("milliseconds until an answer")
    return totals
