"""kill -9 at random moments, with reconnecting clients and a ledger outside the daemon."""

import glob
import os
import shutil
import signal
import time
from random import Random

from books import Ledger
from daemon import Daemon
from watcher import Watcher
from wire import Client
from worker import Gate, Violation


class Episode:
    """One data directory with its clients, from the first start to the last check."""

    def __init__(self, binary, home, seed, options=None, workers=4, ballast=400, windows=None):
        self.random, self.home = Random(seed), home
        shutil.rmtree(home, ignore_errors=True)
        self.options = options or self.draw_options()
        self.daemon = Daemon(binary, home, self.options)
        self.gate, self.ledger = Gate(), Ledger()
        self.ballast = ballast
        size = self.random.choice([60, 200, 2000])
        for number in range(workers):
            window = self.random.choice(windows or [1, 4, 16, 64])
            self.ledger.worker(
                number, self.daemon.socket, self.gate, Random(self.random.random()), window, size
            )
        self.watchers = [Watcher(0, self.daemon.socket, self.gate)]
        self.clients = [*self.ledger.workers, *self.watchers]
        self.kills = self.starts_killed = self.snapshots = 0
        self.start_seconds = 0.0

    def draw_options(self):
        draw = self.random.choice
        return {
            "durability": draw(["strict", "relaxed"]),
            "snapshotBytes": draw(["1MiB", "1MiB", "64MiB"]),
            "snapshotInterval": draw(["1s", "1h"]),
            "keepDuration": draw(["0s", "1h"]),
            "keepBytes": draw(["0", "1MiB"]),
        }

    def begin(self):
        if not self.daemon.start():
            raise Violation(f"does not start: {self.daemon.tail()}")
        setup = Client(self.daemon.socket, "setup")
        # The largest increment overflows any count but zero.
        setup.dispatch("/visits", {"increment": {"by": 1}})
        self.ledger.books.total = 1
        for index in range(self.ballast):
            entry = {"key": str(index), "value": "b" * 1000}
            setup.outcome(setup.send_action("/ballast", {"set": entry}))
        setup.connection.close()
        for client in self.clients:
            client.start()
        self.gate.gather(self.clients)
        self.gate.open()

    def kill(self, longest=0.3):
        """Kills at a random moment, restarts, and compares before any client acts."""
        self.wait(longest)
        self.gate.close()
        if not self.daemon.is_running():
            raise Violation(f"ended by itself: {self.daemon.tail()}")
        self.daemon.kill(signal.SIGKILL)
        self.kills += 1
        self.gate.gather(self.clients)
        self.restart()
        self.compare()
        self.gate.open()

    def wait(self, longest):
        """Waits for a random time, or until a snapshot is half done."""
        until = time.monotonic() + self.random.random() * longest
        hunts = self.random.random() < 0.3
        pattern = os.path.join(self.daemon.data, "snapshot-*.partial*")
        if hunts:
            until += longest
        while time.monotonic() < until:
            failure = self.gate.failure(self.clients)
            if failure:
                raise failure
            if hunts and glob.glob(pattern):
                self.snapshots += 1
                time.sleep(self.random.random() * 0.03)
                break
            time.sleep(0.002)

    def restart(self):
        # A start may be interrupted like any other moment.
        while self.random.random() < 0.25:
            self.daemon.start(wait=False)
            time.sleep(self.random.random() * 0.08)
            self.daemon.kill(signal.SIGKILL)
            self.starts_killed += 1
        begun = time.monotonic()
        if not self.daemon.start():
            raise Violation(f"does not start: {self.daemon.tail()}")
        self.start_seconds += time.monotonic() - begun

    def compare(self, is_drained=False):
        self.ledger.check(self.daemon.socket, is_drained)
        for watcher in self.watchers:
            watcher.compare()
            watcher.check(self.ledger.workers)

    def drain(self):
        """Lets all clients receive their outcomes."""
        self.gate.is_draining = True
        deadline = time.monotonic() + 120
        while not all(worker.is_idle for worker in self.ledger.workers):
            failure = self.gate.failure(self.clients)
            if failure:
                raise failure
            if time.monotonic() > deadline:
                raise Violation(f"outcomes stay away: {[w.unanswered for w in self.ledger.workers]}")
            time.sleep(0.005)

    def finish(self):
        """Ends the episode: drains, stops in an orderly way, restarts, and compares."""
        self.drain()
        self.gate.close()
        if self.daemon.kill(signal.SIGTERM) != 0:
            raise Violation(f"SIGTERM ended it with {self.daemon.process.returncode}")
        self.gate.gather(self.clients)
        self.restart()
        self.compare(is_drained=True)
        self.gate.end()
        self.daemon.kill(signal.SIGTERM)

    def abandon(self):
        self.gate.end()
        if self.daemon.is_running():
            self.daemon.kill(signal.SIGKILL)

    @property
    def counts(self):
        workers = self.ledger.workers
        counts = {
            "kills": self.kills, "starts killed": self.starts_killed,
            "in a snapshot": self.snapshots,
            "applied": sum(w.applied_count for w in workers),
            "sent again": sum(w.resent for w in workers),
            "asked again": sum(w.asked_again for w in workers),
            "poisoned": sum(w.poisoned for w in workers),
        }
        for watcher in self.watchers:
            for start, count in watcher.starts.items():
                counts["resumed by " + start] = counts.get("resumed by " + start, 0) + count
        return counts


def run(binary, home, count, seed, options=None, quick=False, workers=4, windows=None):
    """Runs `count` kills, twenty-five per data directory; returns the counts."""
    random, totals, begun = Random(seed), {}, time.monotonic()
    left, number = count, 0
    while left > 0:
        episode_seed = seed * 1_000_003 + number
        episode = Episode(
            binary, os.path.join(home, f"kills-{number}"), episode_seed, options, workers,
            windows=windows)
        size = min(left, 25)
        try:
            episode.begin()
            for _ in range(size):
                episode.kill(0.15 if quick else 0.4)
            episode.finish()
        except BaseException:
            print(f"seed {seed}, directory {episode.home}, options {episode.options}")
            episode.abandon()
            raise
        shutil.rmtree(episode.home)
        for key, value in episode.counts.items():
            totals[key] = totals.get(key, 0) + value
        left, number = left - size, number + 1
        seconds = time.monotonic() - begun
        print(f"{count - left} kills, {seconds:.0f} s, {episode.options}: {totals}", flush=True)
    return totals
