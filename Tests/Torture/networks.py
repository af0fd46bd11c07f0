"""Three daemons on three machines: links are cut, and the members of etcd lose their leader."""

import os
import shutil
import signal
import sys
import time
from collections import Counter

from actors import STALE_MAX, STALE_SLACK, is_cut
from cluster import NAMES, Cluster
from machines import Network
from timings import Timings
from wire import *
from worker import Violation

# After this many seconds without the log, and not less, a node has closed its clients' connections.
CUT_MAX = STALE_MAX + STALE_SLACK + 1
# The time in which everything comes back by itself after the last fault has ended.
REPAIR_MAX = 30


class Machines(Cluster):
    """A cluster whose daemons and members run on the machines of a network."""

    # Each node keeps its whole history.
    DATA = {"snapshotBytes": "1MiB"}

    def __init__(self, binary, home, seed, network, judges=True):
        super().__init__(binary, home, seed, network=network)
        self.network, self.judges = network, judges
        self.repairs = []  # seconds from the end of a cut until all nodes serve again
        self.spared = 0  # cuts of one link that no node noticed
        self.lasting = []  # seconds for which a node served after all links were cut
        self.complaints = []  # broken promises that put no data at risk

    # The state before and after a fault

    def others(self, number):
        return [other for other in range(3) if other != number]

    def await_member(self, seconds=REPAIR_MAX):
        """The member that leads the others."""
        deadline = time.monotonic() + seconds
        while (member := self.etcd.leader()) is None:
            if time.monotonic() > deadline:
                tails = "\n".join(self.etcd.tail(number) for number in range(3))
                raise Violation(f"no member leads within {seconds} s:\n{tails}")
            self.check()
        return member

    def part_leaders(self):
        """The leading daemon and the leading member; on different machines."""
        deadline = time.monotonic() + REPAIR_MAX
        while (leader := self.await_leader()) == (member := self.await_member()):
            self.step_down(leader)
            if time.monotonic() > deadline:
                raise Violation(f"{NAMES[leader]} leads again and again")
        return leader, member

    def await_all(self, since):
        """Waits until each node serves clients and has what the leader had at the beginning."""
        goal = max(
            (status["applied"] for status in map(self.status, range(3)) if status), default=0)
        self.await_serving(goal, REPAIR_MAX)
        self.repairs.append(time.monotonic() - since)
        self.await_progress(time.monotonic())

    def heal(self):
        self.network.heal()
        self.await_all(time.monotonic())

    def hold(self, seconds):
        """Lets a fault last, and watches the clients."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.check()
            time.sleep(0.02)

    def refuses(self, number):
        """Whether a node turns another client away, as it cannot reach the log."""
        try:
            connection = Connection(self.daemons[number].socket)
            try:
                connection.socket.settimeout(0.5)
                hello = {"versionMin": 1, "versionMax": 1, "program": "guest"}
                connection.send(HELLO, hello, number=MAGIC)
                connection.receive()
            finally:
                connection.close()
        except LOST as end:
            return is_cut(end)
        return False

    def await_cut(self, numbers, since):
        """Waits until nodes refuse clients; late is a violation."""
        while late := [NAMES[number] for number in numbers if not self.refuses(number)]:
            if time.monotonic() > since + CUT_MAX + 2:
                return self.late(
                    f"{late} accept clients {time.monotonic() - since:.1f} s after the cut:\n"
                    f"{self.tails()}")
            self.check()
            time.sleep(0.02)

    def expect_cut(self, numbers, since):
        """No request was answered that came when a node's state was too old to serve."""
        for number in numbers:
            served = self.readers[number].served - since
            if served > CUT_MAX:
                self.late(f"{NAMES[number]} served a client {served:.2f} s after the cut")

    def expect_end(self, leader, since):
        """A former leader that is cut off tells its clients so, and answers administrators."""
        self.hold(since + CUT_MAX + 2 - time.monotonic())
        if not self.refuses(leader):
            self.complain(f"{NAMES[leader]}, a leader that was cut off, does not turn clients away")
        if self.status(leader) is None:
            self.complain(f"{NAMES[leader]}, a leader that was cut off, shows no status")
        for moment, reason in self.readers[leader].ends:
            if moment > since and reason is None:
                self.complain(f"{NAMES[leader]}, a leader that was cut off, ended a connection "
                              f"without a reason {moment - since:.1f} s later")

    def late(self, text):
        """Something took longer than promised: a violation where durations are judged."""
        if self.judges:
            raise Violation(text)
        self.complain(text)

    def complain(self, text):
        print(f"  not kept: {text}", flush=True)
        self.complaints.append(text)

    def await_deposed(self, number, before):
        """Waits until a former leader follows: deposed, in the same process."""
        deadline = time.monotonic() + REPAIR_MAX
        while not (status := self.status(number)) or status["depositions"] <= before["depositions"]:
            if time.monotonic() > deadline:
                raise Violation(f"{NAMES[number]} was not deposed: {brief(before)}, then "
                                f"{brief(status)}:\n{self.daemons[number].tail()}")
            self.check()
            time.sleep(0.02)

    # Cuts. Each returns after the cluster has repaired itself.

    def isolate_leader(self):
        """The leading daemon's machine loses both links."""
        leader = self.await_leader()
        before, since = self.status(leader), time.monotonic()
        self.network.isolate(leader)
        self.await_leader(other_than=leader)
        self.await_progress(time.monotonic())
        self.expect_end(leader, since)
        self.hold(self.random.uniform(0, 5))
        self.expect_cut([leader], since)
        self.network.heal()
        healed = time.monotonic()
        self.await_deposed(leader, before)
        self.await_all(healed)

    def isolate_follower(self):
        follower = self.random.choice(self.others(self.await_leader()))
        since = time.monotonic()
        self.network.isolate(follower)
        self.await_cut([follower], since)
        self.await_progress(time.monotonic())
        self.hold(self.random.uniform(0, 3))
        self.expect_cut([follower], since)
        self.heal()

    def cut_link(self, one, other):
        """One link is cut for longer than a node may serve without news. The others go on."""
        member, before = self.await_member(), self.status(self.await_leader())
        self.network.cut(one, other)
        self.hold(STALE_MAX + 1)
        self.await_progress(time.monotonic())
        self.hold(self.random.uniform(0, 2))
        # A link that etcd's leader does not need is not missed.
        if member not in (one, other) and self.etcd.leader() == member:
            # A busy machine may be late for a moment, and a node without the log is for good.
            deadline = time.monotonic() + 5
            while any(self.refuses(number) for number in range(3)):
                if time.monotonic() > deadline:
                    raise Violation(f"a node is cut off, though all reach etcd's leader:\n"
                                    f"{self.tails()}")
                self.check()
            if before:
                self.expect_same(NAMES.index(before["node"]), before)
            self.spared += 1
        self.heal()

    def cut_leader_follower(self):
        leader = self.await_leader()
        self.cut_link(leader, self.random.choice(self.others(leader)))

    def cut_followers(self):
        self.cut_link(*self.others(self.await_leader()))

    def cut_leader_member(self):
        """The leading daemon's machine loses the link to that of etcd's leader."""
        self.cut_link(*self.part_leaders())

    def cut_all(self):
        """All links are cut: nothing is acknowledged, and no node serves an old state."""
        leader, since = self.await_leader(), time.monotonic()
        for one, other in ((0, 1), (1, 2), (0, 2)):
            self.network.cut(one, other)
        self.await_cut(self.others(leader), since)
        self.expect_end(leader, since)
        self.hold(self.random.uniform(0, 3))
        # What the log had before may be on its way to the clients.
        told = self.ledger.count(since + 0.5, time.monotonic())
        if told:
            raise Violation(f"{told} actions were acknowledged while all links were cut")
        self.expect_cut(range(3), since)
        self.lasting += [
            self.readers[number].served - since for number in self.others(leader)]
        self.heal()

    def drop_one_way(self, pairs):
        for source, target in pairs:
            self.network.drop(source, target)
        self.hold(STALE_MAX + 1)
        self.await_progress(time.monotonic())
        self.hold(self.random.uniform(0, 2))
        self.heal()

    def mute_leader(self):
        """Nothing that the leading daemon's machine sends arrives."""
        leader = self.await_leader()
        self.drop_one_way([(leader, other) for other in self.others(leader)])

    def deafen_leader(self):
        """Nothing arrives at the leading daemon's machine."""
        leader = self.await_leader()
        self.drop_one_way([(other, leader) for other in self.others(leader)])

    def mute_member(self):
        """Nothing that the machine of etcd's leader sends arrives, and another daemon leads."""
        _, member = self.part_leaders()
        self.drop_one_way([(member, other) for other in self.others(member)])

    def deafen_member(self):
        _, member = self.part_leaders()
        self.drop_one_way([(other, member) for other in self.others(member)])

    def drop_to_member(self):
        """The leading daemon's machine hears etcd's leader, and is not heard."""
        leader, member = self.part_leaders()
        self.drop_one_way([(leader, member)])

    def drop_from_member(self):
        leader, member = self.part_leaders()
        self.drop_one_way([(member, leader)])

    def flap(self):
        """Random cuts, healed after fractions of a second, for five seconds."""
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            for _ in range(self.random.randint(1, 4)):
                self.network.drop(*self.random.sample(range(3), 2))
            self.hold(self.random.uniform(0.05, 0.8))
            self.network.heal()
            self.hold(self.random.uniform(0, 0.4))
        self.heal()

    # Members and daemons

    def kill_member(self):
        """kill -9 of etcd's leader, which is not on the leading daemon's machine."""
        leader, member = self.part_leaders()
        before = self.status(leader)
        self.etcd.kill(member)
        self.hold(0.2)
        self.await_progress(time.monotonic())
        self.expect_same(leader, before)
        self.etcd.start(member)
        self.await_all(time.monotonic())

    def stop_member(self):
        """SIGSTOP of etcd's leader, which is not on the leading daemon's machine."""
        leader, member = self.part_leaders()
        before, since = self.status(leader), time.monotonic()
        self.etcd.signal(member, signal.SIGSTOP)
        self.await_cut([member], since)
        self.await_progress(time.monotonic())
        self.expect_same(leader, before)
        self.etcd.signal(member, signal.SIGCONT)
        self.await_all(time.monotonic())

    def expect_same(self, leader, before):
        """An election of etcd's deposes no leader."""
        deadline = time.monotonic() + REPAIR_MAX
        while True:
            # While a row of its is on the way to the log, a leader answers nothing.
            status = self.status(leader)
            if status and status["term"] == before["term"] and status["role"] == "leading":
                return
            if status and status["term"] != before["term"] or time.monotonic() > deadline:
                raise Violation(
                    f"{NAMES[leader]} was deposed by an election of etcd's: {brief(before)}, then "
                    f"{brief(status)}:\n{self.tails()}")
            self.check()
            time.sleep(0.02)

    def pause_leader(self):
        """The leading daemon stands still for ten seconds, and goes on."""
        leader = self.await_leader()
        before = self.status(leader)
        begun = time.monotonic()
        self.daemons[leader].process.send_signal(signal.SIGSTOP)
        self.await_leader(other_than=leader)
        self.await_progress(time.monotonic())
        self.hold(begun + 10 - time.monotonic())
        self.daemons[leader].process.send_signal(signal.SIGCONT)
        self.await_deposed(leader, before)
        self.await_all(begun + 10)

    def pause_idle_leader(self):
        """The same without an action on its way, whose outcome would hold back answers."""
        leader = self.await_leader()
        self.actors[leader].pause.set()
        deadline = time.monotonic() + REPAIR_MAX
        while self.actors[leader].pending and time.monotonic() < deadline:
            self.hold(0.05)
        try:
            self.pause_leader()
        finally:
            self.actors[leader].pause.clear()

    def pause_follower(self):
        follower = self.random.choice(self.others(self.await_leader()))
        self.daemons[follower].process.send_signal(signal.SIGSTOP)
        self.hold(10)
        self.await_progress(time.monotonic())
        self.daemons[follower].process.send_signal(signal.SIGCONT)
        self.await_all(time.monotonic())

    def pause_machine(self):
        """The leading daemon and its member stand still for ten seconds, and go on."""
        leader = self.await_leader()
        before = self.status(leader)
        begun = time.monotonic()
        self.daemons[leader].process.send_signal(signal.SIGSTOP)
        self.etcd.signal(leader, signal.SIGSTOP)
        self.await_leader(other_than=leader)
        self.await_progress(time.monotonic())
        self.hold(begun + 10 - time.monotonic())
        for go_on in self.random.sample(
                [lambda: self.etcd.signal(leader, signal.SIGCONT),
                 lambda: self.daemons[leader].process.send_signal(signal.SIGCONT)], 2):
            go_on()
            self.hold(self.random.uniform(0, 0.3))
        self.await_deposed(leader, before)
        self.await_all(begun + 10)


def brief(status):
    """The fields of a status that show its part."""
    return status and {name: status[name] for name in (
        "node", "role", "leader", "term", "isCut", "applied", "waiting", "promotions",
        "depositions")}


FAULTS = [
    "isolate_leader", "isolate_follower", "cut_leader_follower", "cut_followers",
    "cut_leader_member", "cut_all", "mute_leader", "deafen_leader", "mute_member", "deafen_member",
    "drop_to_member", "drop_from_member", "flap", "kill_member", "stop_member", "pause_leader",
    "pause_idle_leader", "pause_follower", "pause_machine"]
# One of each sort, for a run of two minutes.
SHORT = ["isolate_leader", "isolate_follower", "cut_leader_member", "cut_all", "mute_leader",
         "kill_member", "pause_leader"]


def run(binary, home, seed, count, names=None, judges=True):
    """Injects each fault `count` times, in random order; returns numbers for the report.

    Unless it `judges`, durations beyond the promised ones are printed, and are no violations.
    """
    names = {("short",): SHORT, ("all",): FAULTS}.get(tuple(names or ["all"]), names)
    unknown = set(names) - set(FAULTS)
    if unknown:
        raise Violation(f"no such faults: {unknown}")
    # `finally` removes the namespaces after SIGTERM too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    network, report = Network(), Report(names)
    try:
        # The map grows with each action, and an unoptimised daemon is slow with a large one: each
        # round has a new cluster.
        for number in range(count):
            place = os.path.join(home, str(number))
            os.mkdir(place, mode=0o700)
            drill(Machines(binary, place, seed + number, network, judges), names, report)
            network.heal()
            shutil.rmtree(place)
    finally:
        network.close()
    report.show()
    if judges and report.totals["not kept"]:
        raise Violation(f"{report.totals['not kept']} promises were not kept: see above")
    return dict(report.totals)


class Report:
    """The numbers of all rounds."""

    REPAIR = "until all nodes serve after a fault"
    LASTING = "followers serve without any link"

    def __init__(self, names):
        self.gaps = Timings(names)
        self.others = Timings([self.REPAIR, self.LASTING])
        self.totals = Counter()
        self.oldest = 0.0

    def add(self, cluster, totals):
        self.totals.update(totals)
        for seconds in cluster.repairs:
            self.others.add(self.REPAIR, seconds)
        for seconds in cluster.lasting:
            self.others.add(self.LASTING, seconds)
        self.oldest = max([self.oldest, *(reader.oldest for reader in cluster.readers)])
        self.totals.update({
            "links not missed": cluster.spared, "not kept": len(cluster.complaints)})

    def show(self):
        self.gaps.show()
        self.others.show("seconds")
        print(f"a read lacked what a client had been told {self.oldest:.2f} s before, at most")


def drill(cluster, names, report):
    """Injects each fault once."""
    try:
        cluster.begin()
        cluster.check_status()
        for name in cluster.random.sample(names, len(names)):
            cluster.hold(0.3 + cluster.random.random())
            leader, member = cluster.await_leader(), cluster.await_member()
            cluster.fault_count += 1
            since = time.monotonic()
            print(f"{name}: {NAMES[leader]} leads, and etcd's {NAMES[member]}", flush=True)
            getattr(cluster, name)()
            report.gaps.add(name, cluster.ledger.gap(since))
            cluster.check()
            report.totals.update({
                "faults": 1, "leaders on one machine": leader == member,
                "etcd's leader changed": cluster.await_member() != member})
        report.add(cluster, cluster.judge(cluster.settle()))
    finally:
        cluster.close()
