"""Faults of a cluster's processes: leaders are killed, stopped and deposed, and disks are full."""

import contextlib
import os
import shutil
import signal
import subprocess
import time

from actors import amount, expect_orderly
from cluster import Cluster, chosen, in_clusters, inject
from etcd import ETCDCTL
from timings import Timings
from wire import *
from worker import Violation


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


class FaultyCluster(Cluster):
    """A cluster on one machine, and its faults.

    Each fault returns after the cluster has repaired itself as far as it can.
    """

    # The node whose disk is filled. What it removes then must not be enough to go on.
    FILLED, FILLED_DATA = 2, {"snapshotBytes": "1MiB", "keepBytes": "8MiB"}
    # Bytes of a large row, each of which is two of its text.
    FILLER = 30_000
    # What a daemon says after a copy.
    COPIED = "copied the history of cluster torture"
    # Bytes that fill etcd's members.
    FILLING = 32 << 20

    def __init__(self, binary, home, seed, has_disk=False, **options):
        super().__init__(binary, home, seed, **options)
        self.filled = 0  # actions that made the log longer
        self.losses = self.copies = 0  # of a node's data; and of another's history to it
        self.disk = None
        if has_disk:
            daemon = self.daemons[self.FILLED]
            # Room for its own history, and for a copy of all that the others keep.
            self.disk = SmallDisk(os.path.join(daemon.home, "disk"), 512)
            daemon.data, daemon.options = os.path.join(self.disk.path, "data"), self.FILLED_DATA
            daemon.write_config()

    def close(self):
        try:
            super().close()
        finally:
            if self.disk:
                self.disk.close()

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
        for number in self.numbers:
            self.kill(number)
        for number in self.numbers:
            self.etcd.kill(number)
        for number in self.numbers:
            self.etcd.start(number)
        self.start_all()
        self.await_progress(time.monotonic())

    def terminate(self, number):
        """SIGTERM of a daemon, which ends with 0."""
        self.ended.add(number)
        if self.daemons[number].kill(signal.SIGTERM) != 0:
            raise Violation(f"SIGTERM: {self.daemons[number].tail()}")

    def end_daemon(self, number):
        """SIGTERM: the leader hands over."""
        self.terminate(number)
        self.await_progress(time.monotonic())
        self.restart(number)

    def restore_copy(self, number):
        """An operator gives a node data that it had before; it reads what these lack."""
        self.await_serving()
        data, former = self.daemons[number].data, os.path.join(self.daemons[number].home, "former")
        self.terminate(number)
        shutil.copytree(data, former)
        self.restart(number)
        self.await_serving()
        self.await_progress(time.monotonic())
        # The log then lacks rows as well, and another node has them.
        needs_copy = self.random.random() < 0.5
        if needs_copy:
            self.fill_log()
        self.fault_count += 1
        self.kill(number)
        shutil.rmtree(data)
        shutil.move(former, data)
        size = self.daemons[number].log_size
        self.restart(number)
        if needs_copy:
            self.await_copy(number, size)
        self.await_serving()
        self.await_progress(time.monotonic())
        if needs_copy:
            self.expect_one_copy(number, size)

    def lose_data(self, number):
        """A machine is replaced: its daemon takes the history from another node."""
        # While all is well, so that another node sends its copy.
        self.await_serving()
        self.kill(number)
        self.await_progress(time.monotonic())
        shutil.rmtree(self.daemons[number].data)
        size = self.daemons[number].log_size
        self.restart(number)
        self.losses += 1
        self.copies += self.await_copy(number, size, is_needed=False)

    def await_copy(self, number, size, seconds=300, is_needed=True):
        """Waits until a node says that it has another's history, after its log had this size.

        Returns whether it did. A thread of its own writes the log: the line may come after the node
        accepts connections. Where etcd still has the whole log, a node reads that if the others are
        too busy to send a copy, which then is not needed.
        """
        deadline = time.monotonic() + seconds
        while self.COPIED not in self.daemons[number].said(size):
            status = None if is_needed else self.status(number)
            if status and not status["isCut"]:
                return False
            if time.monotonic() > deadline:
                raise Violation(
                    f"{self.names[number]} took no copy: {self.daemons[number].tail()}")
            self.check()
            time.sleep(0.05)
        return True

    def fall_behind(self, number):
        """A machine was away until the log no longer had what it lacks."""
        self.await_serving()
        if number == self.leader():
            number = (number + 1) % len(self.names)
        self.kill(number)
        self.fill_log()
        size = self.daemons[number].log_size
        self.restart(number)
        self.await_copy(number, size)
        self.await_serving()
        self.await_progress(time.monotonic())
        self.expect_one_copy(number, size)

    def expect_one_copy(self, number, size):
        """The log continued the first copy that a node took since its own log had this size."""
        count = self.daemons[number].said(size).count(self.COPIED)
        if count > 1:
            found = f"{self.names[number]} took {count} copies until the log continued one"
            if self.judges:
                raise Violation(found)
            print(found, flush=True)

    def fill_disk(self, _):
        """Another program fills a node's disk: the node goes on, and stores the rows when it may.

        It is always the same node: it removes its older history, which is evidence.
        """
        if not self.disk:
            print("skipped: fill_disk: no file system can be mounted here", flush=True)
            return
        number = self.FILLED
        self.await_serving()
        if self.random.random() < 0.5 and (leader := self.await_leader()) != number:
            self.tool("step-down", "--to", self.names[number], number=leader)
            self.await_serving()
        size = self.daemons[number].log_size
        self.disk.fill()

        def is_full(_):
            # What is not stored waits in memory, and a node with too much of it is cut off.
            time.sleep(0.05)
            return "the disk is full" in self.daemons[number].said(size)

        self.fill_until(is_full)
        # Longer than a node without news of the log serves its clients.
        self.hold(2.5)
        self.await_serving()
        self.await_progress(time.monotonic())
        status = self.await_status(number)
        if status["unstored"] == 0 or status["stored"] >= status["applied"]:
            raise Violation(f"{self.names[number]} stores rows on a full disk: {status}")
        if self.reactorctl("snapshot", number=number, seconds=0).returncode == 0:
            raise Violation(f"{self.names[number]} takes a snapshot of rows that it has not stored")
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
                raise Violation(f"{self.names[number]} reads on with a full disk: {status}")
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
                raise Violation(f"{self.names[number]} stores nothing again: {status}")
            self.check()
            time.sleep(0.05)
        self.await_progress(time.monotonic())
        self.await_serving()
        taken = self.reactorctl("snapshot", number=number)
        if taken.returncode != 0:
            raise Violation(f"{self.names[number]} takes no snapshot: {taken.stdout}{taken.stderr}")
        # What it has stored continues in the next start.
        self.end_daemon(number)

    def fill_etcd(self, _):
        """Another program fills etcd: nothing changes until an operator has ended its alarm."""
        self.await_serving()
        self.await_members()
        self.restart_members(self.etcd.size() + self.FILLING)
        self.await_serving()
        self.etcd.fill()
        # The leader gives up after a while, and etcd carries out no take-over either.
        deadline = time.monotonic() + 120
        while not all(status and status["outage"] == "full" and status["isCut"]
                      for status in map(self.status, self.numbers)):
            if time.monotonic() > deadline:
                raise Violation(
                    f"etcd is full: {[self.status(number) for number in self.numbers]}")
            self.check()
            time.sleep(0.05)
        # By then, what the log had before has been told.
        since = time.monotonic()
        self.restart_members(None)
        if (leader := self.leader()) is not None:
            raise Violation(f"{self.names[leader]} leads while etcd is full")
        told = self.ledger.count(since, time.monotonic())
        if told:
            raise Violation(f"{told} actions were acknowledged while etcd was full")
        for actor in self.actors:
            if not any(moment > since and reason and reason["code"] == "CUT"
                       for moment, reason, _ in actor.ends):
                raise Violation(f"{actor.name} was not closed with CUT: {actor.ends[-3:]}")
        self.etcd.end_alarm()
        self.await_progress(time.monotonic())
        self.await_serving()

    def restart_members(self, quota):
        """Restarts one member of etcd after the other, as an operator does with another quota."""
        self.etcd.quota = quota
        for member in self.numbers:
            self.etcd.kill(member)
            self.etcd.start(member)
            self.await_members()

    def await_members(self, seconds=60):
        """Waits until each member of etcd knows a leader."""
        deadline = time.monotonic() + seconds
        while any(self.etcd.metrics(member, "etcd_server_has_leader") != [1]
                  for member in self.etcd.numbers):
            if time.monotonic() > deadline:
                raise Violation(f"a member of etcd finds no leader within {seconds} s")
            self.check()
            time.sleep(0.05)

    def fill_log(self):
        """Appends more than the log keeps for a node that is away, until a leader compacts it.

        A leader knows from reports, every five seconds, how far it may: more rows do not help.
        """
        first = self.filled

        def is_done(client):
            written = (self.filled - first) * 2 * self.FILLER
            if written < 3 * self.LOG:
                return False
            time.sleep(0.1)
            # Some of the rows may have been lost with a connection.
            return client.ask({"stats": {}}).get("clusterLogBytes", written) < written - self.LOG

        self.fill_until(is_done)

    def fill_until(self, is_done):
        """Appends large rows at the leader until `is_done`, called with a client of it."""
        # A full disk takes rows into the space of those that were removed: some hundred are needed.
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            try:
                client = Client(self.daemons[self.await_leader()].socket, "filler")
                try:
                    while not is_done(client):
                        if time.monotonic() > deadline:
                            break
                        self.fill(client)
                    else:
                        return
                finally:
                    client.connection.close()
            except LOST as end:
                # Another node may lead meanwhile, or a busy one is cut off.
                expect_orderly("filler", end)
                time.sleep(0.02)
            self.check()
        raise Violation(f"large rows have no effect:\n{self.tails()}")

    def fill(self, client):
        """Appends a large row."""
        self.filled += 1
        key = f"filler-{self.filled}"
        # It cannot be packed, and replaces the former value. As with every action here, one
        # transaction changes what the followers mirror.
        value = self.random.randbytes(self.FILLER).hex()
        try:
            ordinal = client.send_batch([
                ("/visits", {"increment": {"by": amount(key)}}),
                ("/kv", {"set": {"key": key, "value": 1}}),
                ("/ballast", {"set": {"key": "a", "value": value}})])
            outcome = client.outcome(ordinal)
        except LOST:
            self.ledger.forget(key)
            raise
        self.ledger.apply(key, outcome["applied"]["sequence"])

    # What only five nodes survive

    def kill_machines(self, *numbers):
        """Kills the daemons and the members of etcd of some machines at the same moment."""
        self.check()
        self.ended.update(numbers)
        processes = [
            process for number in numbers
            for process in (self.daemons[number].process, self.etcd.processes[number])]
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()

    def boot(self, *numbers):
        """Starts killed machines, all members of etcd first, and waits until all nodes serve."""
        for number in numbers:
            self.etcd.start(number)
        self.start_all(numbers)
        self.await_serving()

    def kill_two_machines(self, number):
        """Two machines die at once: the leader's, and that of etcd's leader or another follower."""
        others = [other for other in self.numbers if other != number]
        member = self.etcd.leader()
        other = member if member in others else self.random.choice(others)
        self.fault_count += 1
        self.kill_machines(number, other)
        self.await_progress(time.monotonic())
        self.boot(number, other)

    def kill_next_leader(self, number):
        """The leader's machine dies, and the next leader's as soon as that leads."""
        self.fault_count += 1
        self.kill_machines(number)
        successor = self.await_leader(other_than=number)
        self.kill_machines(successor)
        self.await_progress(time.monotonic())
        self.boot(number, successor)


FAULTS = ["kill_daemon", "stop_daemon", "kill_machine", "kill_etcd", "stop_etcd", "step_down",
          "end_daemon", "lose_data", "fall_behind", "restore_copy", "fill_disk", "fill_etcd",
          "kill_all"]
# Faults of two machines; three nodes would wait for one of them.
OF_TWO = ["kill_two_machines", "kill_next_leader"]


def run(binary, home, seed, count, names=None, judges=True, nodes=3):
    """Injects each fault `count` times, mostly at the leader; returns numbers for the report.

    Unless it `judges`, an answer may be older than a node promises.
    """
    names = chosen(names, FAULTS + OF_TWO if nodes == 5 else FAULTS)
    if "fill_etcd" in names and not ETCDCTL:
        print("skipped: fill_etcd: there is no etcdctl, which etcd-client has", flush=True)
        names = [name for name in names if name != "fill_etcd"]
    has_disk = "fill_disk" in names and bool(SmallDisk.can_be_made())
    timings, waits = Timings(names), Timings(["barriers for the current state"])

    def begin(place, first):
        cluster = FaultyCluster(binary, place, seed + first, has_disk, count=nodes)
        cluster.judges = judges
        return cluster

    def work(cluster, rounds):
        cluster.begin()
        cluster.check_status()
        for _ in range(rounds):
            inject(cluster, names, timings)
        totals = cluster.judge(cluster.settle()) | {"copies": cluster.copies}
        if cluster.losses > 1 and not cluster.copies:
            raise Violation(f"no node without data took a copy, {cluster.losses} times")
        for syncer in cluster.syncers:
            for seconds in syncer.times:
                waits.add("barriers for the current state", 1_000 * seconds)
        return totals

    totals = in_clusters(count, 10, home, begin, work)
    timings.show()
    waits.show("milliseconds until an answer")
    return totals
