"""Three daemons over three members of etcd: leaders are killed, stopped and deposed."""

import json
import os
import signal
import subprocess
import threading
import time
from random import Random

from daemon import Daemon, Skipped
from wire import *
from worker import Violation

ETCD = "/usr/bin/etcd"
NAMES = ["a", "b", "c"]


class Etcd:
    """Three members with Unix sockets in one directory."""

    def __init__(self, home):
        if not os.access(ETCD, os.X_OK):
            raise Skipped(f"there is no {ETCD}: Debian's package etcd-server has it")
        self.home = os.path.join(home, "etcd")
        os.makedirs(self.home, mode=0o700)
        self.processes = [None] * 3

    def socket(self, member):
        return os.path.join(self.home, f"client-{member}:1")

    def start(self, member):
        for kind in ("client", "peer"):
            # etcd does not start where the socket of its last run is left.
            path = os.path.join(self.home, f"{kind}-{member}:1")
            if os.path.exists(path):
                os.remove(path)
        peers = ",".join(f"{number}=unix://peer-{number}:1" for number in range(3))
        with open(os.path.join(self.home, f"log-{member}"), "ab") as log:
            self.processes[member] = subprocess.Popen(
                [ETCD, f"--name={member}", f"--data-dir=data-{member}", "--log-level=warn",
                 f"--listen-client-urls=unix://client-{member}:1",
                 f"--advertise-client-urls=unix://client-{member}:1",
                 f"--listen-peer-urls=unix://peer-{member}:1",
                 f"--initial-advertise-peer-urls=unix://peer-{member}:1",
                 f"--initial-cluster={peers}", "--heartbeat-interval=50",
                 "--election-timeout=1000", "--pre-vote=true"],
                cwd=self.home, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)

    def signal(self, member, number):
        self.processes[member].send_signal(number)

    def kill(self, member):
        self.processes[member].kill()
        self.processes[member].wait()

    def close(self):
        for process in self.processes:
            if process is not None:
                process.kill()
                process.wait()


def expect_orderly(name, end):
    """A daemon that ends, hands over or is cut off closes connections, but for no fault of theirs."""
    if isinstance(end, TimeoutError):
        raise Violation(f"{name}: no outcome within 30 s")
    reason = getattr(end, "reason", None)
    if reason and reason["code"] not in ("CUT", "DRAINING", "BUSY"):
        raise Violation(f"{name}: closed with {reason}")


class Ledger:
    """Every action's key, by the outcome that its client was told, and when."""

    def __init__(self):
        self.lock = threading.Lock()
        self.applied, self.refused, self.unknown = {}, set(), set()
        self.times = []

    def apply(self, key, sequence):
        with self.lock:
            if key in self.applied:
                raise Violation(f"{key} was told twice")
            self.applied[key] = sequence
            self.times.append(time.monotonic())

    def refuse(self, key):
        with self.lock:
            self.refused.add(key)

    def forget(self, key):
        with self.lock:
            self.unknown.add(key)

    def gap(self, since):
        """The longest time without an acknowledgement after `since`."""
        with self.lock:
            times = [since] + [moment for moment in self.times if moment >= since]
        return max((after - before for before, after in zip(times, times[1:])), default=0.0)


class Actor(threading.Thread):
    """One session with one node, which acts while the node leads, and resumes after each end."""

    WINDOW = 8

    def __init__(self, daemon, name, ledger):
        super().__init__(name=name, daemon=True)
        self.path, self.ledger = daemon.socket, ledger
        self.session = self.epoch = self.error = None
        self.ordinal, self.sequence, self.count = 0, 0, 0
        self.pending = {}  # the bodies of actions without an outcome, by ordinal
        self.end, self.pause = threading.Event(), threading.Event()

    def run(self):
        try:
            while not self.end.is_set() or self.pending:
                try:
                    self.connect()
                    self.act()
                except LOST as end:
                    expect_orderly(self.name, end)
                    time.sleep(0.02)
        except BaseException as error:  # noqa: BLE001
            self.error = error

    def connect(self):
        self.connection, welcome = greet(self.path, self.name, self.session, 0, self.epoch)
        if self.epoch not in (None, welcome["epoch"]):
            raise Violation(f"{self.name}: another epoch: {welcome}")
        if self.session is not None and not welcome["isResumed"]:
            # A leader that was deposed takes a session with it that no row has.
            for _, key in self.pending.values():
                self.ledger.forget(key)
            self.pending, self.ordinal = {}, 0
        if welcome["sequence"] < self.sequence:
            raise Violation(f"{self.name}: {welcome} is behind what was told: {self.sequence}")
        self.session, self.epoch = welcome["session"], welcome["epoch"]
        self.connection.socket.settimeout(30)
        self.connection.send(OPEN, {"path": "/visits"}, id=0, number=1)
        self.connection.send(OPEN, {"path": "/kv"}, id=1, number=2)
        for ordinal, (body, _) in sorted(self.pending.items()):
            self.connection.send(BATCH, body, number=ordinal)

    def act(self):
        while True:
            ends = self.end.is_set() or self.pause.is_set()
            while len(self.pending) < self.WINDOW and not ends:
                self.ordinal += 1
                self.count += 1
                key = f"{self.name}-{self.count}"
                body = [[0, {"increment": {"by": 1}}], [1, {"set": {"key": key, "value": 1}}]]
                self.pending[self.ordinal] = (body, key)
                self.connection.send(BATCH, body, number=self.ordinal)
            if not self.pending:
                if self.end.is_set():
                    return
                time.sleep(0.01)
                continue
            self.take(self.connection.receive())

    def take(self, frame):
        if frame.kind == APPLIED:
            first = frame.item()
            for index in range(frame.id):
                self.hear(frame.number + index, {"applied": {"sequence": first + index}})
        elif frame.kind == OUTCOME:
            self.hear(frame.number, frame.item())
        elif frame.kind == REFUSED:
            raise Violation(f"{self.name}: {frame.item()}")

    def hear(self, ordinal, outcome):
        _, key = self.pending.pop(ordinal)
        if "applied" in outcome:
            self.sequence = outcome["applied"]["sequence"]
            return self.ledger.apply(key, self.sequence)
        code = outcome["rejected"]["code"]
        if code not in ("ELSEWHERE", "POISONED"):
            raise Violation(f"{self.name}: {outcome}")
        self.ledger.refuse(key)
        # The node does not lead: it will not for a while.
        time.sleep(0.02)


class Follower(threading.Thread):
    """Mirrors the counter at one node: on a connection, no sequence goes back."""

    def __init__(self, daemon, name):
        super().__init__(name=name, daemon=True)
        self.path, self.error, self.updates = daemon.socket, None, 0
        self.end = threading.Event()

    def run(self):
        try:
            while not self.end.is_set():
                try:
                    self.follow()
                except LOST as end:
                    expect_orderly(self.name, end)
                    time.sleep(0.02)
        except BaseException as error:  # noqa: BLE001
            self.error = error

    def follow(self):
        client = Client(self.path, self.name)
        client.connection.socket.settimeout(0.5)
        client.subscribe("/visits", "replica")
        sequence = 0
        while not self.end.is_set():
            frames, client.updates = client.updates, []
            if not frames:
                try:
                    frames = [client.connection.receive()]
                except TimeoutError:
                    continue
            for frame in frames:
                if frame.kind in (DELTA, MARK):
                    if frame.number < sequence:
                        raise Violation(f"{self.name}: {frame} after sequence {sequence}")
                    sequence = frame.number
                    self.updates += 1


class Cluster:
    """The daemons, the members of etcd, and what is done to them."""

    def __init__(self, binary, home, seed, takeover="1500ms"):
        self.random, self.binary = Random(seed), binary
        self.etcd = Etcd(home)
        self.ledger = Ledger()
        self.daemons = []
        self.ended = set()  # daemons that were ended on purpose
        self.fault_count = 1
        nodes = "".join(f"    {name}: {{ index: {n + 1} }}\n" for n, name in enumerate(NAMES))
        for number, name in enumerate(NAMES):
            extra = (
                f"cluster:\n  name: torture\n  node: {name}\n"
                f"  engine: {self.etcd.socket(number)}\n  takeover: {takeover}\n"
                f"  nodes:\n{nodes}")
            self.daemons.append(
                Daemon(binary, os.path.join(home, name),
                       {"snapshotBytes": "1MiB", "keepBytes": "1MiB"}, extra=extra))

    def begin(self):
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
        self.actors = [
            Actor(daemon, name, self.ledger) for daemon, name in zip(self.daemons, NAMES)]
        self.followers = [
            Follower(daemon, f"follower {name}") for daemon, name in zip(self.daemons, NAMES)]
        for thread in [*self.actors, *self.followers]:
            thread.start()

    def status(self, number):
        """What a node says of the cluster; None if it does not answer."""
        try:
            client = Client(self.daemons[number].socket, "operator")
            client.connection.socket.settimeout(1)
            try:
                return client.ask({"cluster": {}})
            finally:
                client.connection.close()
        except (*LOST, Refused, TimeoutError):
            return None

    def leader(self):
        for number in range(3):
            status = self.status(number)
            if status and status["role"] == "leading" and not status["isCut"]:
                return number
        return None

    def await_leader(self, seconds=60):
        deadline = time.monotonic() + seconds
        while (number := self.leader()) is None:
            if time.monotonic() > deadline:
                tails = "\n".join(daemon.tail(1_500) for daemon in self.daemons)
                raise Violation(f"no node leads within {seconds} s:\n{tails}")
            self.check()
            time.sleep(0.01)
        return number

    def check(self):
        for number, daemon in enumerate(self.daemons):
            if number not in self.ended and not daemon.is_running():
                raise Violation(
                    f"{NAMES[number]} has ended by itself, with {daemon.process.returncode}: "
                    f"{daemon.tail()}")
        for thread in [*getattr(self, "actors", []), *getattr(self, "followers", [])]:
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
                tails = "\n".join(daemon.tail(1_500) for daemon in self.daemons)
                raise Violation(f"no action is applied within {seconds} s:\n{tails}")
            time.sleep(0.01)

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

    def check_status(self):
        """What `reactorctl cluster status` prints at each node, for people and for programs."""
        leader = self.await_leader()
        for number, name in enumerate(NAMES):
            shown = self.tool("status", number=number)
            told = json.loads(self.tool("status", "--json", number=number).stdout)
            lines = shown.stdout.splitlines()
            expected = f"node {name} of cluster torture: {told['role']}, leader {NAMES[leader]}, "
            rows = [line.split()[:2] for line in lines[2:]]
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
        for follower in self.followers:
            follower.end.set()
            follower.join(10)
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

    def judge(self, state):
        count, keys = state
        ledger = self.ledger
        lost = set(ledger.applied) - keys
        ghosts = ledger.refused & keys
        strangers = keys - set(ledger.applied) - ledger.unknown
        if lost or ghosts or strangers or count != len(keys):
            raise Violation(
                f"lost {sorted(lost)[:5]}, refused and applied {sorted(ghosts)[:5]}, of no client "
                f"{sorted(strangers)[:5]}; the counter is {count}, the map has {len(keys)}")
        # A leader that ends takes sessions with it that no row has.
        unknown_max = Actor.WINDOW * self.fault_count
        if len(ledger.unknown) > unknown_max:
            raise Violation(f"{len(ledger.unknown)} outcomes are unknown, at most {unknown_max} are")
        idle = [follower.name for follower in self.followers if follower.updates == 0]
        if idle:
            raise Violation(f"no update came to {idle}")
        sequences = list(ledger.applied.values())
        if len(set(sequences)) != len(sequences):
            raise Violation("two actions were told one sequence")

    def close(self):
        for daemon in self.daemons:
            if daemon.is_running():
                daemon.process.send_signal(signal.SIGCONT)
                daemon.kill()
        for process in self.etcd.processes:
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGCONT)
        self.etcd.close()


FAULTS = ["kill_daemon", "stop_daemon", "kill_machine", "kill_etcd", "stop_etcd", "step_down",
          "end_daemon", "kill_all"]


def run(binary, home, seed, count, names=None):
    """Injects each fault `count` times, mostly at the leader; returns numbers for the report."""
    names = names or FAULTS
    unknown = set(names) - set(FAULTS)
    if unknown:
        raise Violation(f"no such faults: {unknown}")
    cluster = Cluster(binary, home, seed)
    gaps = {name: [] for name in names}
    try:
        cluster.begin()
        cluster.check_status()
        for round in range(count):
            for name in cluster.random.sample(names, len(names)):
                time.sleep(0.3 + cluster.random.random())
                leader = cluster.await_leader()
                at_leader = name in ("step_down",) or cluster.random.random() < 0.8
                target = leader if at_leader else cluster.random.randrange(3)
                since = time.monotonic()
                cluster.fault_count += 1
                getattr(cluster, name)(target)
                if target == leader:
                    gaps[name].append(cluster.ledger.gap(since))
                cluster.check()
        cluster.judge(cluster.settle())
    finally:
        cluster.close()
    updates = sum(follower.updates for follower in cluster.followers)
    report = {
        "rounds": count * len(names), "applied": len(cluster.ledger.applied),
        "refused": len(cluster.ledger.refused), "unknown": len(cluster.ledger.unknown),
        "updates": updates, "lost": 0, "doubled": 0,
    }
    for name, times in gaps.items():
        if times:
            times.sort()
            report[name] = (
                f"median {times[len(times) // 2]:.2f} s, most {times[-1]:.2f} s of {len(times)}")
    return report
