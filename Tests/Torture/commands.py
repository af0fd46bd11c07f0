"""Clients in Swift for drills: commands of `reactorctl` at one node, one after another."""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time

from sessions import Looping
from worker import Violation

# The exit codes of commands whose node is away, or which have lost their connection.
UNREACHABLE, UNKNOWN = 69, 75
REJECTED = 1


class Command(Looping):
    """Runs commands until it is told to end."""

    PATIENCE = 120

    def __init__(self, daemon, name, cluster, book):
        super().__init__(name)
        self.socket, self.book = daemon.socket, book
        self.program = os.path.join(os.path.dirname(cluster.binary), "reactorctl")
        self.process, self.number = None, 0

    def run(self):
        super().run()
        self.kill()

    @contextlib.contextmanager
    def command(self, name, *arguments):
        """A process whose output is read, and a file of what it says to people."""
        with tempfile.TemporaryFile("w+") as errors:
            self.number += 1
            self.process = subprocess.Popen(
                [self.program, name, "--socket", self.socket, *arguments],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
                start_new_session=True)
            try:
                yield self.process, errors
            finally:
                self.kill()
                self.process.stdout.close()

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Holder(Command):
    """Acquires something and holds it for a moment: `reactorctl hold`."""

    # Waits that end with the connection begin again, so that no such rejection is expected.
    REJECTIONS = ("POISONED", "it is not tried again")

    def hold(self, path, action, *options):
        """The exit code and what the command said; calls `acquire` while it is held."""
        words = ["hold", *options, "--on-loss", "warn", path, json.dumps(action), "--", "sh", "-c",
                 'echo "reply $REACTORCTL_REPLY"; sleep 0.05']
        with self.command(*words) as (process, errors):
            killer = threading.Timer(self.PATIENCE, self.kill)
            killer.daemon = True
            killer.start()
            said = ""
            try:
                for line in process.stdout:
                    if line.startswith("reply "):
                        self.acquire(json.loads(line.removeprefix("reply ")))
                    else:
                        said += line
                code = process.wait()
            finally:
                killer.cancel()
            errors.seek(0)
            said += errors.read()
        is_expected = code in (0, UNREACHABLE, UNKNOWN) or code == REJECTED and any(
            reason in said for reason in self.REJECTIONS)
        if not is_expected:
            raise Violation(f"{self.name}: {words}: {code}: {said}")
        # Other processes run meanwhile.
        time.sleep(0.1)
        return code, said


class CommandLocker(Holder):
    """Takes the lock, and uses a resource with its token."""

    def acquire(self, reply):
        self.book.grant(f"{self.name} {self.number}", reply["token"], None)
        self.book.use(reply["token"])

    def act(self):
        code, _ = self.hold("/lock", {"acquire": {"wait": True}})
        if code == 0:
            self.book.count("held by a command")


class CommandWorker(Holder):
    """Claims a job, and finishes it on the same connection."""

    REJECTIONS = (*Holder.REJECTIONS, "empty", "no claimed job", "on another connection")

    def acquire(self, reply):
        self.job = reply["job"]["n"]

    def act(self):
        self.job = None
        code, said = self.hold(
            "/jobs", {"claim": {}}, "--on-success", '{"finish":{"id":"{{id}}"}}')
        if self.job is None:
            return
        if code == 0:
            self.book.count("finished by a command")
            self.book.finish(self.name, self.job)
        elif code == REJECTED or "--on-success was omitted" in said:
            self.book.count("jobs taken back")
        else:
            self.book.unsure.add(self.job)


class CommandWatcher(Command):
    """Prints the lock after every change, while leaders change: `reactorctl watch`."""

    last = None  # the state that it has printed last

    def act(self):
        with self.command("watch", "/lock") as (process, errors):
            ender = threading.Thread(target=self.await_end, args=[process], daemon=True)
            ender.start()
            self.take(process.stdout)
            code = process.wait()
            if self.last is None and code in (UNREACHABLE, UNKNOWN):
                return  # A busy node was cut off before it had shown anything.
            if not self.end.is_set() or code != -signal.SIGTERM:
                errors.seek(0)
                raise Violation(f"{self.name} ended with {code}: {errors.read()}")
            ender.join()

    def await_end(self, process):
        self.end.wait()
        process.terminate()

    def take(self, lines):
        former, token = 0, 0
        for line in lines:
            if not line.endswith("\n"):
                return
            told = json.loads(line)
            sequence = int(told["revision"].rpartition(":")[2])
            if sequence < former:
                raise Violation(f"{self.name}: {line} after sequence {former}")
            if told["state"]["lastToken"] < token:
                raise Violation(f"{self.name}: {line} after token {token}")
            former, token = sequence, told["state"]["lastToken"]
            self.last = told["state"]
            self.book.count("shown by a command")
