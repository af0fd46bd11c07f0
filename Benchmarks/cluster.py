"""Measures a cluster of daemons; Benchmarks/cluster builds the programs and calls this.

The daemons and the members of etcd are those of the tests under faults, in Tests/Torture.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "Tests", "Torture"))

from cluster import Cluster  # noqa: E402

REACTORS = "reactors:\n  counter: { kind: counter }\n  map: { kind: map, capacity: 2000000 }\n"


class Bench:
    """The programs, a running cluster, and the figures of each round by name."""

    def __init__(self, arguments, home):
        self.arguments, self.figures = arguments, {}
        self.cluster = Cluster(
            os.path.join(arguments.programs, "reactord"), home, 1, reactors=REACTORS,
            count=arguments.nodes)

    def begin(self):
        # Long enough histories that no node needs another's copy.
        for daemon in self.cluster.daemons:
            daemon.extra = daemon.extra.replace("logBytes: 4MiB", "logBytes: 256MiB")
            daemon.options = {"snapshotBytes": "256MiB"}
            daemon.limits = dict.fromkeys(
                ["connectionsMax", "connectionsPerUIDMax", "handshakesMax"], 8192)
            daemon.write_config()
        self.cluster.begin_daemons()
        self.leader = self.cluster.await_leader()
        self.cluster.await_serving()
        self.follower = self.after(self.leader, 1)

    def after(self, number, steps):
        """The node so many after another; the first comes after the last."""
        return (number + steps) % len(self.cluster.names)

    def socket(self, number):
        return self.cluster.daemons[number].socket

    def load(self, name, number, *options, seconds=None):
        """The results of a load on a node's socket, by their names."""
        words = [self.arguments.bench, name, "--socket", self.socket(number), *options]
        words += ["--seconds", str(seconds or self.arguments.seconds)]
        run = subprocess.run(words, capture_output=True, text=True, timeout=600)
        if run.returncode != 0:
            raise SystemExit(f"{' '.join(words)}: {run.stdout}{run.stderr}")
        return {word: float(value) for word, value in map(str.split, run.stdout.splitlines())}

    def bare(self):
        """Medians of a bare transaction and of an append, at the leader's member, in seconds."""
        run = subprocess.run(
            [os.path.join(self.arguments.programs, "etcd-bench"), "--socket",
             self.cluster.etcd.socket(self.leader), "--rounds", "1", "--count", "300"],
            capture_output=True, text=True, check=True)
        cells = next(line for line in run.stdout.splitlines() if "p50" in line).split("|")
        return [float(cell.split()[0]) / 1e6 for cell in (cells[3], cells[2])]

    def add(self, name, value):
        self.figures.setdefault(name, []).append(value)

    def median(self, name):
        return statistics.median(self.figures[name])

    def round(self):
        bare, append = self.bare()
        self.add("bare", bare)
        self.add("append", append)
        for place, number in (("leader", self.leader), ("follower", self.follower)):
            trip = self.load("round-trip", number)
            self.add(f"trip {place}", trip["p50"] / 1e9)
            self.add(f"trip {place} p99", trip["p99"] / 1e9)
            self.add(f"one {place}", self.load("actions", number, "--window", "1024")["rate"])
            self.add(
                f"fifty {place}",
                self.load("actions", number, "--window", "16", "--clients", "50")["rate"])
        for count in self.arguments.mirrors:
            seen = self.load(
                "visible", self.leader, "--reader", self.socket(self.follower),
                "--mirrors", str(count))
            self.add(f"visible {count}", seen["p50"] / 1e9)

    def catch_up(self):
        """A follower that was away reads the rows since: rows a second."""
        away = self.after(self.leader, 2)
        self.cluster.ended.add(away)
        self.cluster.daemons[away].kill(15)
        before = self.cluster.status(self.leader)["applied"]
        # Each turn is a row.
        self.load("actions", self.leader, "--window", "1", "--clients", "200",
                  seconds=10 * self.arguments.seconds)
        goal = self.cluster.status(self.leader)["applied"]
        self.cluster.restart(away)
        # From the last answer without one of these rows: a busy node does not answer meanwhile.
        begun = time.monotonic()
        while (applied := (self.cluster.status(away) or {"applied": 0})["applied"]) < goal:
            if applied <= before:
                begun = time.monotonic()
        seconds = time.monotonic() - begun
        self.cluster.await_serving()
        return goal - before, (goal - before) / seconds

    def fail_over(self):
        """Seconds from the end of the leader until an action is applied at another node."""
        self.cluster.ended.add(self.leader)
        begun = time.monotonic()
        self.cluster.daemons[self.leader].kill()
        next = self.cluster.await_leader(other_than=self.leader)
        self.load("actions", next, "--total", "1", "--window", "1")
        took = time.monotonic() - begun
        self.cluster.restart(self.leader)
        self.leader, self.follower = next, self.leader
        self.cluster.await_serving()
        return took

    def with_keys(self, count):
        """Round trips and a fail-over with a map of so many keys."""
        self.load("fill", self.leader, "--keys", str(count))
        self.cluster.await_serving()
        # A leader that was busy for too long has been deposed.
        self.leader = self.cluster.await_leader()
        self.follower = self.after(self.leader, 1)
        trips = [self.load("round-trip", self.leader)["p50"] / 1e9 for _ in range(3)]
        return statistics.median(trips), self.fail_over()


def milliseconds(seconds):
    return f"{1_000 * seconds:.2f} ms"


def rate(value):
    return f"{value / 1e3:,.0f} k/s"


def table(bench, caught_up, failed_over, grown):
    """The rows: what, the figure, what it is compared with, the target, and whether it is met."""
    bare, trip = bench.median("bare"), bench.median("trip leader")
    rows = [("append p50", milliseconds(bench.median("append")), f"bare {milliseconds(bare)}",
             "at most 1.3x", bench.median("append") <= 1.3 * bare),
            ("round trip p50, leader", milliseconds(trip), f"bare {milliseconds(bare)}",
             "at most 1.3x", trip <= 1.3 * bare),
            ("round trip p99, leader", milliseconds(bench.median("trip leader p99")), "", "", None)]
    forwarded = bench.median("trip follower")
    rows += [("round trip p50, follower", milliseconds(forwarded),
              f"leader {milliseconds(trip)}", "at most 0.3 ms more", forwarded <= trip + 3e-4)]
    for place in ("leader", "follower"):
        goals = (5e5, 2.5e5) if place == "leader" else (None, None)
        for name, kind, goal in (("1 client, window 1024", "one", goals[0]),
                                 ("50 clients, window 16", "fifty", goals[1])):
            value = bench.median(f"{kind} {place}")
            rows.append((f"actions, {name}, {place}", rate(value), "",
                         f"at least {rate(goal)}" if goal else "",
                         value >= goal if goal else None))
    for count in bench.arguments.mirrors:
        value = bench.median(f"visible {count}")
        is_first = count == bench.arguments.mirrors[0]
        rows.append((f"visible in {count} mirrors on a follower p50", milliseconds(value),
                     f"bare {milliseconds(bare)}", "at most 1.3x + 0.3 ms" if is_first else "",
                     value <= 1.3 * bare + 3e-4 if is_first else None))
    rows.append((f"catch-up of {caught_up[0]:,} rows", rate(caught_up[1]), "",
                 "at least 200 k/s", caught_up[1] >= 2e5))
    rows.append(("fail-over, the process dies", f"{statistics.median(failed_over):.2f} s",
                 f"most {max(failed_over):.2f} s", "2 s, most 4 s",
                 statistics.median(failed_over) <= 2 and max(failed_over) <= 4))
    for count, (value, took) in grown.items():
        rows.append((f"round trip p50, {count:,} keys", milliseconds(value),
                     f"empty {milliseconds(trip)}", "", None))
        rows.append((f"fail-over, {count:,} keys", f"{took:.2f} s", "", "", None))
    print(f"| measure, {bench.arguments.nodes} nodes | figure | beside | target | met |")
    print("|---|---|---|---|---|")
    for what, figure, beside, target, met in rows:
        shown = "" if met is None else "yes" if met else "no"
        print(f"| {what} | {figure} | {beside} | {target} | {shown} |")


def numbers(text):
    return [int(word) for word in text.split(",") if word]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, help="the folder of reactord and etcd-bench")
    parser.add_argument("--bench", required=True, help="reactor-bench")
    parser.add_argument("--nodes", type=int, default=3, choices=[3, 5])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each load")
    parser.add_argument("--keys", type=numbers, default=[10_000, 1_000_000])
    parser.add_argument("--mirrors", type=numbers, default=[1, 100, 1_000])
    arguments = parser.parse_args()
    home = tempfile.mkdtemp(prefix="cluster-bench-")
    bench = Bench(arguments, home)
    try:
        bench.begin()
        for _ in range(arguments.rounds):
            bench.round()
        caught_up = bench.catch_up()
        failed_over = [bench.fail_over() for _ in range(arguments.rounds)]
        grown = {count: bench.with_keys(count) for count in arguments.keys}
        table(bench, caught_up, failed_over, grown)
    finally:
        bench.cluster.close()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
