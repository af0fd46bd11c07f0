#!/usr/bin/env python3
"""Kills and starves real processes: torture.py COMMAND [OPTION...]; Config/torture runs all.

Needs Python 3 with cbor2. Every command ends with status 0 and a line of numbers, or with the first
broken promise and the directory with the remaining files.
"""

import argparse
import os
import sys
import tempfile
import traceback

from daemon import Skipped

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def positive(text):
    """A number of rounds."""
    if int(text) < 1:
        raise ValueError
    return int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--daemon", default="reactord", help="the reactord to torture")
    common.add_argument("--seed", type=int, default=1, help="for all that is left to chance")
    common.add_argument("--home", help="a short path to work in; a temporary one by default")
    commands = parser.add_subparsers(dest="command", required=True)
    kills = commands.add_parser("kills", parents=[common], help="kill -9 at random moments")
    kills.add_argument("--count", type=int, default=100)
    kills.add_argument("--workers", type=int, default=4, help="clients that act at a time")
    kills.add_argument("--windows", default="1,4,16,64", help="actions on the way, one is drawn")
    kills.add_argument("--quick", action="store_true", help="less time between kills")
    cuts = commands.add_parser("cuts", parents=[common], help="the power is cut")
    cuts.add_argument("--count", type=int, default=100)
    cuts.add_argument("--lies", action="store_true", help="a canary: syncs do nothing, must fail")
    images = commands.add_parser("images", parents=[common], help="the same upon a real ext4")
    images.add_argument("--count", type=int, default=50)
    calls = commands.add_parser("calls", parents=[common], help="at every call on the disk")
    calls.add_argument("--plans", help="all by default")
    calls.add_argument("--durability", default="strict")
    calls.add_argument("--step", type=int, default=1, help="only each so manieth call")
    calls.add_argument("--first", type=int, default=1)
    restarts = commands.add_parser("restarts", parents=[common], help="hot restarts under load")
    restarts.add_argument("--count", type=int, default=100)
    users = commands.add_parser("users", parents=[common], help="one user is hostile")
    users.add_argument("--seconds", type=int, default=60, help="beside all tricks together")
    users.add_argument("--quota", help="a quota of the hostile user, such as 'journal: 8MiB/s'")
    users.add_argument("--only", help="names of tricks, or all, between commas")
    users.add_argument("--prints", action="store_true", help="judge no duration")
    memory = commands.add_parser("memory", parents=[common], help="a client fills a control group")
    memory.add_argument("--rounds", type=int, default=3, help="how often it is filled")
    cluster = commands.add_parser("cluster", parents=[common], help="nodes over etcd")
    cluster.add_argument("--count", type=positive, default=10, help="rounds of each fault")
    cluster.add_argument("--only", help="names of faults, between commas")
    cluster.add_argument("--nodes", type=int, default=3, choices=[3, 5])
    cluster.add_argument("--prints", action="store_true", help="judge no duration")
    poison = commands.add_parser("poison", parents=[common], help="an action ends its leaders")
    poison.add_argument("--count", type=positive, default=10, help="poisoned actions")
    power = commands.add_parser("power", parents=[common], help="power cuts of cluster nodes")
    power.add_argument("--count", type=positive, default=5, help="rounds of each kind")
    power.add_argument("--only", help="names of kinds, between commas")
    power.add_argument("--lies", action="store_true", help="a canary: disks forget, and it is found")
    power.add_argument("--prints", action="store_true", help="judge no duration")
    owners = commands.add_parser("owners", parents=[common], help="a lock, jobs, a presence")
    owners.add_argument("--count", type=positive, default=5, help="rounds of each fault")
    owners.add_argument("--only", help="names of faults, between commas")
    commands.add_parser("upgrade", parents=[common], help="nodes of different versions")
    commands.add_parser("recovery", parents=[common], help="a cluster is founded again")
    networks = commands.add_parser("networks", parents=[common], help="cuts between three nodes")
    networks.add_argument("--count", type=positive, default=5, help="rounds of each fault")
    networks.add_argument("--rounds", type=positive, default=1, help="rounds in one cluster")
    networks.add_argument("--only", help="names of faults between commas; all, or short")
    networks.add_argument("--prints", action="store_true", help="judge no duration")
    scenarios = commands.add_parser("scenarios", parents=[common], help="one misfortune each")
    scenarios.add_argument("--only", help="names, between commas")
    scenarios.add_argument("--prints", action="store_true", help="judge no duration")
    arguments = parser.parse_args()
    home = arguments.home or tempfile.mkdtemp(prefix="torture-", dir="/tmp")
    os.makedirs(home, mode=0o700, exist_ok=True)
    daemon = os.path.abspath(arguments.daemon)
    try:
        if arguments.command == "kills":
            import kills as module

            counts = module.run(
                daemon, home, arguments.count, arguments.seed, quick=arguments.quick,
                workers=arguments.workers,
                windows=[int(text) for text in arguments.windows.split(",")])
        elif arguments.command == "cuts":
            import cuts as module

            counts = module.run(daemon, home, arguments.count, arguments.seed, arguments.lies)
        elif arguments.command == "images":
            import images as module

            counts = module.run(daemon, home, arguments.count, arguments.seed)
        elif arguments.command == "calls":
            import calls as module

            plans = arguments.plans.split(",") if arguments.plans else list(module.PLANS)
            counts = module.run(
                daemon, home, plans, arguments.seed, arguments.durability, arguments.step,
                arguments.first)
        elif arguments.command == "restarts":
            import restarts as module

            counts = module.run(daemon, home, arguments.count, arguments.seed)
        elif arguments.command == "users":
            import users as module

            counts = module.run(
                daemon, home, arguments.seconds, arguments.seed, arguments.quota,
                judges=not arguments.prints,
                only=arguments.only.split(",") if arguments.only else None)
        elif arguments.command == "memory":
            import memory as module

            counts = module.run(daemon, home, arguments.seed, arguments.rounds)
        elif arguments.command == "cluster":
            import faults as module

            names = arguments.only.split(",") if arguments.only else None
            counts = module.run(
                daemon, home, arguments.seed, arguments.count, names,
                judges=not arguments.prints, nodes=arguments.nodes)
        elif arguments.command == "poison":
            import poison as module

            counts = module.run(daemon, home, arguments.seed, arguments.count)
        elif arguments.command == "power":
            import power as module

            names = arguments.only.split(",") if arguments.only else None
            counts = module.run(
                daemon, home, arguments.seed, arguments.count, names, arguments.lies,
                judges=not arguments.prints)
        elif arguments.command == "owners":
            import owners as module

            names = arguments.only.split(",") if arguments.only else None
            counts = module.run(daemon, home, arguments.seed, arguments.count, names)
        elif arguments.command == "upgrade":
            import upgrade as module

            counts = module.run(daemon, home, arguments.seed)
        elif arguments.command == "recovery":
            import recovery as module

            counts = module.run(daemon, home, arguments.seed)
        elif arguments.command == "networks":
            import networks as module

            names = arguments.only.split(",") if arguments.only else None
            counts = module.run(
                daemon, home, arguments.seed, arguments.count, names,
                judges=not arguments.prints, rounds=arguments.rounds)
        elif arguments.command == "scenarios":
            import scenarios as module

            names = arguments.only.split(",") if arguments.only else None
            counts = module.run(
                daemon, home, arguments.seed, names, judges=not arguments.prints)
    except Skipped as error:
        print(f"skipped: {arguments.command}: {error}")
        return 0
    except Exception as error:
        traceback.print_exc()
        print(f"FAILED: {arguments.command} --seed {arguments.seed}: {error}; see {home}")
        return 1
    print(f"passed: {arguments.command} --seed {arguments.seed}: {counts}")
    if not arguments.home:
        os.rmdir(home) if not os.listdir(home) else None
    return 0


if __name__ == "__main__":
    sys.exit(main())
