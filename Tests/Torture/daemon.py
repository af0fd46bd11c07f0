"""A reactord for the torture: its configuration, its process, and the process's end."""

import os
import signal
import socket
import subprocess
import time


class Skipped(Exception):
    """This machine cannot run the command."""

REACTORS = """\
reactors:
  visits: { kind: counter }
  kv: { kind: map }
  jobs: { kind: queue }
  members: { kind: set }
  lock: { kind: lock }
  ballast: { kind: map }
"""


class Daemon:
    """One data directory and socket in `home`, and the process that serves them, if it runs."""

    def __init__(self, binary, home, options=None, data=None, wrapper=(), limits=None, mode="0600",
                 extra="", reactors=REACTORS):
        self.binary, self.home, self.wrapper = binary, home, list(wrapper)
        os.makedirs(home, mode=0o700, exist_ok=True)
        self.socket = os.path.join(home, "s")
        self.data = data or os.path.join(home, "data")
        self.config = os.path.join(home, "config.yaml")
        self.log = os.path.join(home, "log")
        self.options, self.limits = options or {}, limits or {}
        self.mode, self.extra, self.reactors = mode, extra, reactors
        self.process = None
        self.environment = {}
        self.write_config()

    def write_config(self):
        lines = [f'socket: {{ path: {self.socket}, mode: "{self.mode}" }}']
        lines += ["data:", f"  directory: {self.data}"]
        lines += [f"  {key}: {value}" for key, value in self.options.items()]
        lines += ["limits:"] * bool(self.limits)
        lines += [f"  {key}: {value}" for key, value in self.limits.items()]
        with open(self.config, "w") as file:
            file.write("\n".join(lines) + "\n" + self.extra + self.reactors)

    def start(self, wait=True, wrapper=None, environment=None):
        """Starts a process; waits until it accepts unless `wait` is false; False if it ended."""
        words = self.wrapper if wrapper is None else wrapper
        environment = {**os.environ, **self.environment, **(environment or {})}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*words, self.binary, "--config", self.config],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env=environment,
            )
        return self.accepts() if wait else True

    def accepts(self, seconds=300):
        """Waits until the socket accepts; False once the process has ended instead."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                probe.connect(self.socket)
                return True
            except OSError:
                if self.process.poll() is not None:
                    return False
            finally:
                probe.close()
            time.sleep(0.002)
        raise AssertionError(f"the daemon does not accept within {seconds} s: {self.tail()}")

    def becomes_ready(self, seconds=300):
        """Starts the process and waits until it is ready; False if it ended instead.

        It accepts connections earlier, but answers only when ready.
        """
        size = self.log_size
        self.start()
        deadline = time.monotonic() + seconds
        while self.is_running() and "] ready" not in self.said(size):
            if time.monotonic() > deadline:
                raise AssertionError(f"the daemon is not ready within {seconds} s: {self.tail()}")
            time.sleep(0.002)
        return self.is_running()

    def kill(self, number=signal.SIGKILL):
        """Sends a signal and waits for the end; returns the exit status, negative for a signal."""
        try:
            self.process.send_signal(number)
        except ProcessLookupError:
            pass
        return self.process.wait(timeout=60)

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    @property
    def log_size(self):
        return os.path.getsize(self.log) if os.path.exists(self.log) else 0

    def said(self, size):
        """The log since it had this size."""
        with open(self.log, "rb") as file:
            file.seek(size)
            return file.read().decode(errors="replace")

    def tail(self, count=2000):
        """The end of the log."""
        with open(self.log, "rb") as file:
            return file.read()[-count:].decode(errors="replace")
