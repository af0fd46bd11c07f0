#!/usr/bin/env python3
"""Daemons and as many members of etcd on this machine, whose leader is killed on request.

Config/cluster-demo builds the daemon and calls this. A client of each node acts all the time,
and keeps what it is told; at the end that is compared with the state of every node.
"""

import argparse
import os
import select
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from cluster import Cluster  # noqa: E402
from daemon import Skipped  # noqa: E402


def line(cluster):
    """Which node leads, and how far each is."""
    statuses = [cluster.status(number) for number in cluster.numbers]
    nodes = []
    for name, status in zip(cluster.names, statuses):
        if status is None:
            nodes.append(f"{name}: no answer")
        else:
            state = "cut off" if status["isCut"] else status["role"]
            nodes.append(f"{name}: {state} at row {status['applied']}")
    with cluster.ledger.lock:
        applied, times = len(cluster.ledger.applied), cluster.ledger.times[-1:]
    pause = time.monotonic() - times[0] if times else 0
    return f"{' | '.join(nodes)} | {applied} actions applied, the last {pause:.1f} s ago"


def kill_leader(cluster):
    """Kills the leading daemon, waits for another to lead, and starts the killed one again."""
    leader = cluster.await_leader()
    print(f"kill -9 of {cluster.names[leader]}, which leads", flush=True)
    begun = time.monotonic()
    cluster.fault_count += 1
    cluster.kill(leader)
    cluster.await_progress(time.monotonic())
    successor = cluster.names[cluster.await_leader()]
    print(f"{successor} leads after {time.monotonic() - begun:.1f} s; "
          f"{cluster.names[leader]} starts again", flush=True)
    cluster.restart(leader)


def request(seconds):
    """What the user types within this time; nothing otherwise, None at the end of the input."""
    if not select.select([sys.stdin], [], [], seconds)[0]:
        return ""
    text = sys.stdin.readline()
    return text.strip() if text else None


def show(cluster, kills):
    if kills:
        for _ in range(kills):
            print(line(cluster), flush=True)
            time.sleep(2)
            kill_leader(cluster)
        return
    print("k and Enter kills the leading daemon, q and Enter ends", flush=True)
    while True:
        print(line(cluster), flush=True)
        wish = request(1)
        if wish is None or wish.startswith("q"):
            return
        if wish.startswith("k"):
            kill_leader(cluster)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--daemon", required=True, help="a reactord that was built with clusters")
    parser.add_argument("--kills", type=int, default=0, help="leaders to kill before the end")
    parser.add_argument("--nodes", type=int, default=3, choices=[3, 5])
    arguments = parser.parse_args()
    home = tempfile.mkdtemp(prefix="reactord-demo-", dir="/tmp")
    try:
        cluster = Cluster(os.path.abspath(arguments.daemon), home, seed=1, count=arguments.nodes)
    except Skipped as reason:
        print(reason)
        return 1
    sockets = [daemon.socket for daemon in cluster.daemons]
    print(f"the sockets are {', '.join(sockets)}", flush=True)
    try:
        cluster.begin()
        show(cluster, arguments.kills)
        state = cluster.settle()
        cluster.judge(state)
        gap = cluster.ledger.gap(cluster.ledger.times[0])
        print(f"{len(cluster.ledger.applied)} actions were applied, and every node has each of "
              f"them once; the longest time without one was {gap:.1f} s")
    except KeyboardInterrupt:
        print("ended before the comparison")
    finally:
        cluster.close()
    shutil.rmtree(home)
    return 0


if __name__ == "__main__":
    sys.exit(main())
