"""The wire for the torture: the Python client, with a session that outlives daemons."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "ReactorDaemonTests", "Python"))

from reactor_client import *  # noqa: E402,F403
from reactor_client import Closed, Connection, HEADER, HELLO, MAGIC, WELCOME  # noqa: E402

# The errors of a lost connection, whichever side ended it.
LOST = (Closed, OSError)


class FastConnection(Connection):
    """A connection that reads all available bytes at once."""

    def __init__(self, path):
        self.buffer = bytearray()
        super().__init__(path)

    def read(self, count):
        while len(self.buffer) < count:
            piece = self.socket.recv(1 << 16)
            if not piece:
                raise Closed()
            self.buffer += piece
        data = bytes(self.buffer[:count])
        del self.buffer[:count]
        return data

    def has_frame(self):
        """Whether a whole frame is buffered, so that `receive` need not wait."""
        if len(self.buffer) < HEADER.size:
            return False
        return len(self.buffer) >= HEADER.size + HEADER.unpack(self.buffer[: HEADER.size])[0]


def greet(path, program, session=None, confirmed=0, epoch=None):
    """A connection and its `welcome`; retries while the daemon considers the session connected."""
    while True:
        connection = FastConnection(path)
        hello = {"versionMin": 1, "versionMax": 1, "program": program, "confirmed": confirmed}
        if session is not None:
            hello |= {"session": session, "epoch": epoch}
        connection.send(HELLO, hello, number=MAGIC)
        try:
            frame = connection.receive()
        except Closed as closed:
            connection.close()
            if closed.reason and closed.reason["code"] == "SESSION_BUSY":
                continue
            raise
        assert frame.kind == WELCOME, frame
        return connection, frame.item()
