"""A session that outlives daemons, for drills that send few actions."""

import threading
import time

from wire import *
from worker import Violation


class Looping(threading.Thread):
    """A client that acts again and again until `end` is set; keeps the error that ends it."""

    def __init__(self, name):
        super().__init__(name=name, daemon=True)
        self.end, self.error = threading.Event(), None

    def run(self):
        try:
            while not self.end.is_set():
                self.act()
        except BaseException as error:  # noqa: BLE001
            self.error = error


class Session:
    """A session with one node: it sends an action again on each connection until it is answered."""

    PATIENCE = 60

    def __init__(self, daemon, name, check=lambda: None):
        self.daemon, self.name, self.check = daemon, name, check
        self.client = None

    def outcomes(self, path, actions):
        """The outcomes of actions that one connection after another sends."""
        deadline, first, is_lost = time.monotonic() + self.PATIENCE, None, self.client is None
        while True:
            self.check()
            if time.monotonic() > deadline:
                raise Violation(
                    f"{self.name}: no outcome within {self.PATIENCE} s: {self.daemon.tail()}")
            try:
                if self.client is None:
                    self.client = Client(self.daemon.socket, self.name)
                elif is_lost:
                    self.client.reconnect()
                is_lost = False
                if first is None:
                    first = self.client.ordinal + 1
                    self.client.ordinal += len(actions)
                self.client.connection.socket.settimeout(self.PATIENCE)
                for index, action in enumerate(actions):
                    self.client.send_action(path, action, ordinal=first + index)
                return [self.client.outcome(first + index) for index in range(len(actions))]
            except LOST:
                is_lost = True
                time.sleep(0.05)
            except Refused as refusal:
                if refusal.code not in ("BUSY", "CUT"):
                    raise
                time.sleep(0.05)


def ask(daemon, question, seconds=30):
    """What `question`, called with a client of a daemon, returns; asks again while it is cut off."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            client = Client(daemon.socket, "reader")
            try:
                return question(client)
            finally:
                client.connection.close()
        except (*LOST, Refused):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
