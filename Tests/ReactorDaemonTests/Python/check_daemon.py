"""Checks a running daemon from outside: check_daemon.py SOCKET [NAME...], or --list.

The daemon's tree: /visits is a counter, /settings a map, /team/lock a lock. Each check has a separate
daemon; for "selections", /issues of this daemon is a collection.
"""

import datetime
import sys

import cbor2

from reactor_client import *


def sequence_of(outcome):
    assert "applied" in outcome, outcome
    return outcome["applied"]["sequence"]


def code_of(outcome):
    assert "rejected" in outcome, outcome
    return outcome["rejected"]["code"]


def check_handshake(path):
    client = Client(path)
    welcome = client.welcome
    assert welcome["version"] == 1 and welcome["isResumed"] is False
    assert len(welcome["session"]) == 16 and welcome["ordinal"] == 0
    assert welcome["limits"]["frameBytesMax"] >= 1 << 16
    other = Client(path)
    assert other.session != client.session
    assert other.welcome["client"] != welcome["client"]


def check_dispatch_and_get(path):
    client = Client(path)
    assert client.get("/visits") == {"count": 0}
    before = client.welcome["sequence"]
    assert sequence_of(client.dispatch("/visits", {"increment": {"by": 5}})) == before + 1
    assert client.get("/visits") == {"count": 5}
    assert client.get("/visits/count") == 5
    assert Client(path).get("/visits") == {"count": 5}


def check_forms_of_actions(path):
    client = Client(path)
    assert sequence_of(client.dispatch("/visits", {"increment": {}}))
    assert client.get("/visits") == {"count": 1}
    assert sequence_of(client.dispatch("/visits", {"increment": {"by": 2, "later": [1]}}))
    assert client.get("/visits") == {"count": 3}
    assert sequence_of(client.dispatch("/visits", "reset"))
    assert client.get("/visits") == {"count": 0}
    assert sequence_of(client.dispatch("/visits", {"reset": {}}))


def check_pipelined_runs(path):
    client = Client(path)
    client.connection.send(OPEN, {"path": "/visits"}, id=7, number=100)
    client.nodes["/visits"] = 7
    ordinals = [client.send_action("/visits", {"increment": {"by": 1}}) for _ in range(1000)]
    first = sequence_of(client.outcome(ordinals[0]))
    for index, ordinal in enumerate(ordinals[1:], 1):
        assert sequence_of(client.outcome(ordinal)) == first + index
    assert client.get("/visits") == {"count": 1000}


def check_value_mode(path):
    client, writer = Client(path), Client(path)
    slice, subscribed = client.subscribe("/settings/entries/theme")
    assert subscribed["start"] == "snapshot" and subscribed["reactor"] == "Map"
    turn, _ = client.next_turn()
    assert [(f.kind, f.id, f.flags, f.body) for f in turn] == [(VALUE, slice, ABSENT, b"")]
    applied = sequence_of(
        writer.dispatch("/settings", {"set": {"key": "theme", "value": {"dark": [1, None]}}})
    )
    turn, mark = client.next_turn()
    assert [f.item() for f in turn] == [{"dark": [1, None]}] and mark >= applied
    # A change outside the slice is not sent: the next update is the removal.
    sequence_of(writer.dispatch("/settings", {"set": {"key": "beside", "value": 1}}))
    sequence_of(writer.dispatch("/settings", {"remove": {"key": "theme"}}))
    turn = []
    while not turn:
        turn, _ = client.next_turn()
    assert [(f.kind, f.flags) for f in turn] == [(VALUE, ABSENT)]


def check_patches(path):
    client, writer = Client(path), Client(path)
    for key in ("a", "b"):
        sequence_of(writer.dispatch("/settings", {"set": {"key": key, "value": key * 100}}))
    slices = [client.subscribe(place, patches=True)[0] for place in ("/", "/settings")]
    values, flags = {}, []

    def take_turn():
        turn, last_of[0] = client.next_turn()
        for frame in turn:
            values[frame.id] = patched(values.get(frame.id), frame)
            flags.append(frame.flags & PATCH)
            sizes.append(len(frame.body))

    def follow(until):
        while last_of[0] < until:
            take_turn()

    last_of, sizes = [-1], []
    # The two first values may come in one turn, or in two turns with the same sequence.
    while len(values) < 2:
        take_turn()
    assert flags == [0, 0]
    flags.clear(), sizes.clear()
    actions = [
        ("/settings", {"set": {"key": "b", "value": {"x": [1, None]}}}),
        ("/settings", {"remove": {"key": "a"}}),
        ("/settings", {"merge": {"entries": {"c": 1, "d": 2}}}),
        ("/visits", {"increment": {"by": 2}}),
        ("/settings", {"clear": {}}),
        ("/settings", {"set": {"key": "e", "value": 5}}),
    ]
    for place, action in actions:
        follow(sequence_of(writer.dispatch(place, action)))
        assert values[slices[0]] == client.get("/") and values[slices[1]] == client.get("/settings")
    assert all(flags) and max(sizes) < 60


def check_selections(path):
    client, writer = Client(path), Client(path)
    for title in ("b", "c", "a"):
        sequence_of(writer.dispatch("/", {"open": {"title": title}}))
    selection = {
        "filter": {"compare": {"field": ["isOpen"], "by": "equal", "with": True}},
        "order": [{"field": ["title"]}],
        "first": 2,
    }
    slice, _ = client.subscribe("/issues", "selection", patches=True, selection=selection)
    turn, last = client.next_turn()
    value = patched(None, turn[0])
    assert value["order"] == ["3", "1"] and set(value["children"]) == {"1", "3"}
    assert value["children"]["3"]["title"] == "a"
    flags = []
    for issue, action, order in (
        ("1", {"comment": "seen"}, ["3", "1"]),
        ("3", {"close": {}}, ["1", "2"]),
        ("2", {"close": {}}, ["1"]),
        ("3", {"reopen": {}}, ["3", "1"]),
    ):
        applied = sequence_of(writer.dispatch("/issues/" + issue, action))
        while last < applied:
            turn, last = client.next_turn()
            for frame in turn:
                assert frame.id == slice
                flags.append(frame.flags & PATCH)
                value = patched(value, frame)
        question = {"select": {"path": "/issues", "selection": selection}}
        assert value == client.ask(question)[2] and value["order"] == order
    assert value["children"]["1"]["comments"] == ["seen"] and all(flags) and len(flags) == 4
    # A change of an issue that the selection does not show is not sent.
    applied = sequence_of(writer.dispatch("/issues/2", {"comment": "hidden"}))
    applied = sequence_of(writer.dispatch("/issues/1", {"comment": "shown"}))
    turn = []
    while not turn:
        turn, _ = client.next_turn()
    assert patched(value, turn[0])["children"]["1"]["comments"] == ["seen", "shown"]
    keys = {"keys": {"from": "2", "through": "3"}}
    answer = client.ask({"select": {"path": "/issues", "selection": keys}})
    assert set(answer[2]) == {"2", "3"}


def check_composed_value(path):
    client = Client(path)
    client.dispatch("/visits", {"increment": {"by": 3}})
    client.subscribe("/")
    turn, _ = client.next_turn()
    value = turn[0].item()
    assert value["visits"] == {"count": 3} and "lock" in value["team"]


class CounterReplica:
    """Applies a mutation to a counter, as `describe` documents it."""

    def __init__(self):
        self.state, self.sequence, self.origins, self.held = None, None, [], []

    def apply(self, turn, mark):
        for frame in turn:
            if frame.kind == SNAPSHOT:
                self.state = frame.item()
            if frame.kind == DELTA:
                origin, *mutations = frame.items()
                self.origins.append(tuple(origin))
                for mutation in mutations:
                    name, payload = next(iter(mutation.items()))
                    if name == "added":
                        self.state["count"] += payload
                    else:
                        assert name == "cleared", mutation
                        self.state["count"] = 0
        self.sequence = mark


def check_replica_mode(path):
    client, writer = Client(path), Client(path)
    cases = client.ask({"describe": {"path": "/visits"}})["mutation"]["choice"]["cases"]
    assert {case["name"] for case in cases} == {"added", "cleared"}
    writer.dispatch("/visits", {"increment": {"by": 40}})
    slice, subscribed = client.subscribe("/visits", "replica")
    assert subscribed["start"] == "snapshot"
    replica = CounterReplica()
    replica.apply(*client.next_turn())
    assert replica.state == {"count": 40}
    ordinal = writer.send_action("/visits", {"increment": {"by": 2}})
    last = sequence_of(writer.outcome(ordinal))
    while replica.sequence < last:
        replica.apply(*client.next_turn())
    assert replica.state == {"count": 42}
    assert replica.origins == [(writer.welcome["client"], ordinal)]


def check_own_write_is_shown_before_its_outcome(path):
    client = Client(path)
    client.subscribe("/visits", "replica")
    replica = CounterReplica()
    replica.apply(*client.next_turn())
    for count in range(1, 50):
        sequence = sequence_of(client.dispatch("/visits", {"increment": {"by": 1}}))
        while client.updates:
            replica.apply(*client.next_turn())
        assert replica.sequence >= sequence and replica.state == {"count": count}


def check_rejection(path):
    client = Client(path)
    top = (1 << 63) - 1
    sequence = sequence_of(client.dispatch("/visits", {"increment": {"by": top}}))
    assert code_of(client.dispatch("/visits", {"increment": {"by": 1}})) == "overflow"
    assert client.get("/visits") == {"count": top}
    assert sequence_of(client.dispatch("/visits", {"reset": {}})) == sequence + 1


def check_decode_errors_leave_the_connection(path):
    client = Client(path)
    bad = [
        {"boost": {"by": 1}}, "boost", {"increment": {"by": "many"}}, {"increment": {"by": 1 << 63}},
        {"increment": {"by": 1}, "reset": {}}, 5, None, [], {}, b"\xa1", b"\x1c", b"",
        b"\xa1\x69increment\xa2\x62by\x01\x62by\x02", b"\xa1\x65reset\xa0\x00",
        {"increment": {"by": 1 << 70}}, b"\x9b" + b"\xff" * 8, b"\x81" * 70 + b"\x00",
        b"\xa1\x65reset\xff", b"\xa1\x63\xff\xfe\xfd\xa0",
    ]
    for action in bad:
        outcome = client.dispatch("/visits", action)
        assert code_of(outcome) == "DECODE", (action, outcome)
    assert "boost" in client.dispatch("/visits", {"boost": {}})["rejected"]["message"]
    assert client.get("/visits") == {"count": 0}
    assert sequence_of(client.dispatch("/visits", {"increment": {"by": 1}}))


def check_any_well_formed_cbor(path):
    client = Client(path)
    increment = [
        b"\xbf\x69increment\xbf\x62by\x01\xff\xff",  # indefinite maps
        b"\xb8\x01\x78\x09increment\xb9\x00\x01\x62by\x1b" + b"\0" * 7 + b"\x01",  # long heads
        b"\xd9\xd9\xf7\xa1\x69increment\xa1\x62by\xc1\x01",  # tags 55799 and 1
    ]
    for count, action in enumerate(increment, 1):
        assert sequence_of(client.dispatch("/visits", action))
        assert client.get("/visits") == {"count": count}
    chunked = b"\xa1\x63set\xa2\x65value\x7f\x62da\x62rk\xff\x63key\x65theme"
    assert sequence_of(client.dispatch("/settings", chunked))
    assert client.get("/settings/entries/theme") == "dark"


def check_tags(path):
    client = Client(path)
    moment = datetime.datetime(2024, 5, 1, tzinfo=datetime.timezone.utc)
    assert cbor2.dumps(moment)[0] >> 5 == 6
    assert sequence_of(client.dispatch("/settings", {"set": {"key": "at", "value": moment}}))
    assert client.get("/settings/entries/at") == "2024-05-01T00:00:00Z"
    big = {"set": {"key": "big", "value": 1 << 64}}
    assert code_of(client.dispatch("/settings", big)) == "DECODE"
    deep = cbor2.dumps({"set": {"key": "deep", "value": 0}})[:-1] + b"\xc6" * 100 + b"\x00"
    assert code_of(client.dispatch("/settings", deep)) == "DECODE"
    assert client.get("/settings/entries/big") is None


def check_values_of_any_shape(path):
    client = Client(path)
    values = [
        0, -1, (1 << 64) - 1, -(1 << 63), 1.5, -0.0, float("inf"), True, None, "", "caf\u00e9",
        b"\x00\xff", [[], {}], {"a": {"b": [1, 2.25, None]}}, "x" * 100_000,
    ]
    for value in values:
        assert sequence_of(client.dispatch("/settings", {"set": {"key": "k", "value": value}}))
        got = client.ask({"get": {"path": "/settings/entries/k"}})
        assert got[1] is True and got[2] == value and type(got[2]) is type(value), (value, got)
    twins = {"caf\u00e9": 1, "cafe\u0301": 2}
    assert sequence_of(client.dispatch("/settings", {"merge": {"entries": twins}}))
    for key, value in twins.items():
        assert client.get("/settings/entries/" + key) == value
    assert sequence_of(client.dispatch("/settings", {"set": {"key": "a/b%", "value": 3}}))
    assert client.get("/settings/entries/a%2Fb%25") == 3


def check_parts(path):
    client = Client(path)
    for index in range(8):
        text = str(index) * 50_000
        assert sequence_of(client.dispatch("/settings", {"set": {"key": text[0], "value": text}}))
    expected = {"entries": {str(index): str(index) * 50_000 for index in range(8)}}
    assert client.get("/settings") == expected
    client.subscribe("/settings", "replica")
    assert client.next_turn()[0][0].item() == expected


def check_batch(path):
    client = Client(path)
    theme = {"set": {"key": "theme", "value": "dark"}}
    ordinal = client.send_batch([("/visits", {"increment": {"by": 2}}), ("/settings", theme)])
    sequence = sequence_of(client.outcome(ordinal))
    assert client.get("/visits") == {"count": 2}
    assert client.get("/settings/entries/theme") == "dark"
    refused = [("/visits", {"increment": {"by": 1}}), ("/visits", {"increment": {"by": (1 << 63) - 1}})]
    outcome = client.outcome(client.send_batch(refused))
    assert code_of(outcome) == "overflow" and "1" in outcome["rejected"]["message"]
    assert client.get("/visits") == {"count": 2}
    assert sequence_of(client.dispatch("/visits", "reset")) == sequence + 1


def check_conflict(path):
    client, other = Client(path), Client(path)
    now = sequence_of(client.dispatch("/visits", {"increment": {"by": 1}}))
    expected = {"expected": [client.epoch, now]}
    assert sequence_of(client.dispatch("/visits", {"increment": {"by": 1}}, expected)) == now + 1
    assert code_of(client.dispatch("/visits", {"increment": {"by": 1}}, expected)) == "CONFLICT"
    stranger = {"expected": [client.epoch ^ 1, now + 1]}
    assert code_of(client.dispatch("/visits", {"increment": {"by": 1}}, stranger)) == "CONFLICT"
    other.open("/visits")
    assert other.opened["sequence"] == now + 1
    # Changes elsewhere do not conflict, and a later revision is accepted too.
    sequence_of(other.dispatch("/settings", {"set": {"key": "a", "value": 1}}))
    revision, _, value = client.ask({"get": {"path": "/visits"}})
    assert value == {"count": 2} and revision == [client.epoch, now + 2]
    ahead = {"expected": [client.epoch, now + 3]}
    assert code_of(client.dispatch("/visits", {"increment": {"by": 1}}, ahead)) == "CONFLICT"
    assert sequence_of(client.dispatch("/visits", {"decrement": {}}, {"expected": revision}))
    batch = [("/visits", {"increment": {}}), ("/visits", {"increment": {}})]
    assert code_of(client.outcome(client.send_batch(batch, {"expected": revision}))) == "CONFLICT"
    now = client.ask({"get": {"path": "/"}})[0]
    assert sequence_of(client.outcome(client.send_batch(batch, {"expected": now})))
    assert code_of(client.dispatch("/visits", "reset", {"deadline": 0})) == "DEADLINE"
    assert client.get("/visits") == {"count": 3}


def check_cancel_ids(path):
    client = Client(path)
    options = {"cancel": "typing"}
    first = sequence_of(client.dispatch("/visits", {"increment": {"by": 1}}, options))
    node = client.open("/visits")
    alone = client.send_numbered(DISPATCH, [options], OPTIONS, node, None)
    assert sequence_of(client.outcome(alone)) == first + 1
    assert client.get("/visits") == {"count": 1}
    long = client.dispatch("/visits", {"increment": {"by": 1}}, {"cancel": "x" * 257})
    assert code_of(long) == "TOO_LARGE"
    # Without a name, an action is required.
    empty = client.send_numbered(DISPATCH, [{"cancel": None}], OPTIONS, node, None)
    assert code_of(client.outcome(empty)) == "DECODE"


def check_refusals(path):
    client = Client(path)
    for request, code in [
        (lambda: client.open("/vists"), "NOT_FOUND"), (lambda: client.open("visits"), "PATH"),
        (lambda: client.open("/a/../b"), "PATH"), (lambda: client.open("/visits/count"), "NOT_FOUND"),
        (lambda: client.get("/visits/nothing"), "NOT_FOUND"),
        (lambda: client.subscribe("/visits/count", "replica"), "PATH"),
        (lambda: client.subscribe("/visits", "patches"), "DECODE"),
        (lambda: client.ask({"guess": {}}), "DECODE"),
        (lambda: client.grant(OPEN, {"path": "/visits"}, id=1 << 31), "QUOTA"),
    ]:
        try:
            request()
        except Refused as refused:
            assert refused.code == code, refused
            if code == "NOT_FOUND" and "vists" in str(refused):
                assert refused.nearest == "/visits"
        else:
            raise AssertionError(f"no {code}")
    client.nodes["/unopened"] = 99
    assert code_of(client.dispatch("/unopened", "reset")) == "NOT_FOUND"


def check_exactly_once_after_a_lost_connection(path):
    client = Client(path)
    client.subscribe("/visits", "replica")
    replica = CounterReplica()
    replica.apply(*client.next_turn())
    done = client.dispatch("/visits", {"increment": {"by": 1}})
    rejected = client.dispatch("/visits", {"increment": {"by": (1 << 63) - 1}})
    lost = client.send_action("/visits", {"increment": {"by": 10}})
    # The daemon may or may not have received it; the outcome is not awaited.
    client.reconnect()
    assert client.welcome["isResumed"] is True and client.welcome["ordinal"] in (2, 3)
    client.send_action("/visits", {"increment": {"by": 10}}, ordinal=lost)
    client.send_action("/visits", {"increment": {"by": 10}}, ordinal=lost)
    sequence = sequence_of(client.outcome(lost))
    assert sequence_of(client.outcome(lost)) == sequence
    assert client.get("/visits") == {"count": 11}
    client.send_action("/visits", {"increment": {"by": 1}}, ordinal=1)
    again = client.outcome(1)
    assert sequence_of(again) == sequence_of(done) and again["applied"]["ownerEnded"] is True
    client.send_action("/visits", {"increment": {"by": 1}}, ordinal=2)
    assert client.outcome(2) == rejected
    assert client.get("/visits") == {"count": 11}
    assert sequence_of(client.dispatch("/visits", {"increment": {"by": 1}})) == sequence + 1
    client.connection.send(CONFIRM, number=3)
    client.send_action("/visits", {"increment": {"by": 1}}, ordinal=2)
    assert code_of(client.outcome(2)) == "ORDINAL"
    client.send_action("/visits", "reset", ordinal=0)
    assert code_of(client.outcome(0)) == "ORDINAL"


def check_resumed_slices(path):
    client, writer = Client(path), Client(path)
    client.subscribe("/visits", "replica")
    keeper = Client(path)
    keeper.subscribe("/visits", "replica")
    replica = CounterReplica()
    replica.apply(*client.next_turn())
    first = sequence_of(writer.dispatch("/visits", {"increment": {"by": 5}}))
    while replica.sequence < first:
        replica.apply(*client.next_turn())
    client.reconnect()
    _, subscribed = client.subscribe("/visits", "replica", since=replica.sequence)
    assert subscribed["start"] == "unchanged" and subscribed["sequence"] == replica.sequence
    client.connection.close()
    for _ in range(3):
        last = sequence_of(writer.dispatch("/visits", {"increment": {"by": 1}}))
    client.connect()
    _, subscribed = client.subscribe("/visits", "replica", since=replica.sequence)
    assert subscribed["start"] == "deltas"
    while replica.sequence < last:
        replica.apply(*client.next_turn())
    assert replica.state == {"count": 8} and len(replica.origins) == 4
    client.reconnect()
    client.epoch ^= 1
    _, subscribed = client.subscribe("/visits", "replica", since=replica.sequence)
    assert subscribed["start"] == "snapshot"
    turn, _ = client.next_turn()
    assert turn[0].kind == SNAPSHOT and turn[0].flags & FRESH and turn[0].item() == {"count": 8}


def check_deferred_outcome(path):
    holder, waiter = Client(path), Client(path)
    granted = holder.dispatch("/team/lock", {"acquire": {}})
    token = granted["applied"]["reply"]["token"]
    assert code_of(waiter.dispatch("/team/lock", {"acquire": {}})) == "held"
    waiting = waiter.send_action("/team/lock", {"acquire": {"wait": True}})
    assert sequence_of(waiter.dispatch("/visits", "reset"))
    assert waiting not in waiter.outcomes
    assert sequence_of(holder.dispatch("/team/lock", {"release": {"token": token}}))
    assert waiter.outcome(waiting)["applied"]["reply"]["token"] > token


def check_done_follows_the_outcome(path):
    client, holder = Client(path), Client(path)
    add = {"increment": {"by": 1}}
    plain = client.send_action("/visits", add)
    first = client.send_action("/visits", add, awaited=True)
    client.until(lambda frame: frame.kind == DONE)
    assert client.done == [first] and plain in client.outcomes
    rejected = client.send_action("/visits", {"nonsense": {}}, awaited=True)
    client.until(lambda frame: frame.kind == DONE)
    assert code_of(client.outcome(rejected)) == "DECODE"
    # Pending answers are sent first.
    token = holder.dispatch("/team/lock", {"acquire": {}})["applied"]["reply"]["token"]
    waiting = client.send_action("/team/lock", {"acquire": {"wait": True}}, awaited=True)
    assert sequence_of(client.dispatch("/visits", add))
    assert waiting not in client.done
    holder.send_action("/team/lock", {"release": {"token": token}})
    client.until(lambda frame: frame.kind == DONE)
    assert client.done == [first, rejected, waiting]
    # A resent action requests its outcome again.
    client.reconnect()
    client.send_action("/visits", add, ordinal=first, awaited=True)
    client.until(lambda frame: frame.kind == DONE and frame.number == first)
    assert client.outcome(first)["applied"]["ownerEnded"] is True
    assert client.get("/visits")["count"] == 3


def check_questions(path):
    client = Client(path)
    tree = client.ask("tree")
    assert tree[0]["path"] == "/" and "/visits" in [entry["path"] for entry in tree]
    assert client.ask({"stats": {}})["connections"] == 1
    assert client.ask({"limits": {}})["depthMax"] == 128
    description = client.ask({"describe": {"path": "/visits"}})
    assert description["reactor"] == "Counter" and description["children"] == []
    assert description["reply"] is None
    cases = {case["name"]: case for case in description["action"]["choice"]["cases"]}
    field = cases["increment"]["payload"]["record"][0]
    assert field["name"] == "by" and field["isOptional"] is True
    assert set(cases["reset"]["payload"]) == {"none"}
    assert client.ask({"describe": {"path": "/team"}})["children"] == ["lock"]
    client.connection.send(PING, number=77)
    assert client.until(lambda frame: frame.kind == PONG).number == 77


def check_checksums(path):
    client, writer = Client(path), Client(path)
    client.subscribe("/settings", "replica")
    bodies = {frame.kind: frame.body for frame in client.next_turn()[0]}
    assert client.ask({"checksum": {"path": "/settings"}})["checksum"] == checksum(bodies[SNAPSHOT])
    client.subscribe("/settings/entries/theme")
    turn, _ = client.next_turn()
    question = {"checksum": {"path": "/settings/entries/theme", "mode": "value"}}
    assert turn[0].flags == ABSENT and client.ask(question)["checksum"] == checksum(b"")
    last = sequence_of(writer.dispatch("/settings", {"set": {"key": "theme", "value": "dark"}}))
    value, mark = None, -1
    while mark < last:
        turn, mark = client.next_turn()
        value = ([frame.body for frame in turn if frame.kind == VALUE] or [value])[-1]
    answer = client.ask(question)
    assert answer["checksum"] == checksum(value) and answer["revision"] == [client.epoch, last]
    for wrong in ({"path": "/visits/count"}, {"path": "/vists"}, {"path": "visits"}):
        try:
            client.ask({"checksum": wrong})
        except Refused as refused:
            assert refused.code in ("NOT_FOUND", "PATH")
        else:
            raise AssertionError(wrong)


def closing_of(connection):
    """The frame with which the daemon closes."""
    try:
        while True:
            connection.receive()
    except Closed as closed:
        assert closed.reason is not None, "closed without a word"
        return closed.reason
    finally:
        connection.close()


def check_faults_close(path):
    Client(path)
    header = HEADER.pack
    strangers = [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        header(0, HELLO, 0, 0, 0, 0), header(1 << 30, HELLO, 0, 0, 0, MAGIC),
    ]
    for data in strangers:
        connection = Connection(path)
        connection.send_bytes(data)
        assert closing_of(connection)["code"] == "PROTOCOL", data
    connection = Connection(path)
    connection.send(DISPATCH, "reset", number=1)
    assert closing_of(connection)["code"] == "STATE"
    connection = Connection(path)
    connection.send(HELLO, {"versionMin": 2, "versionMax": 9}, number=MAGIC)
    closing = closing_of(connection)
    assert (closing["code"], closing["versionMin"], closing["versionMax"]) == ("VERSION", 1, 1)
    for data, code in [
        (header(0, 0x7F, 0, 0, 0, 0), "PROTOCOL"), (header(0, MARK, 0, 0, 0, 0), "PROTOCOL"),
        (header(0, PING, 0x20, 0, 0, 0), "PROTOCOL"), (header(0, PING, 0, 1, 0, 0), "PROTOCOL"),
        (header(0xFFFFFFFF, PING, 0, 0, 0, 0), "PROTOCOL"),
        (header(0, PING, OPTIONS, 0, 0, 0), "PROTOCOL"),
        (header(1, PING, 0, 0, 0, 0) + b"\xa0", "PROTOCOL"),
        (header(1, HELLO, 0, 0, 0, MAGIC) + b"\xa0", "STATE"),
    ]:
        client = Client(path)
        client.connection.send_bytes(header(0, 0xFE, 0, 0, 0, 0))
        client.connection.send_bytes(data)
        closing = closing_of(client.connection)
        assert closing["code"] == code, (data, closing)


def check_offset_of_a_fault(path):
    client = Client(path)
    hello = len(cbor2.dumps({"versionMin": 1, "versionMax": 1, "program": client.program})) + 20
    client.connection.send(PING, number=1)
    client.connection.send_bytes(HEADER.pack(0, 0x7F, 0, 0, 0, 0))
    assert closing_of(client.connection)["offset"] == hello + 20


def check_bytes_one_by_one(path):
    client = Client(path)
    id = client.open("/visits")
    body = cbor2.dumps({"increment": {"by": 1}})
    frame = HEADER.pack(len(body), DISPATCH, 0, 0, id, 1) + body
    for byte in frame:
        client.connection.send_bytes(bytes([byte]))
    assert sequence_of(client.outcome(1))
    frames = b"".join(
        HEADER.pack(len(body), DISPATCH, 0, 0, id, ordinal) + body for ordinal in range(2, 500)
    )
    client.connection.send_bytes(frames)
    client.ordinal = 499
    assert sequence_of(client.outcome(499))
    assert client.get("/visits") == {"count": 499}


def check_half_close(path):
    client = Client(path)
    ordinal = client.send_action("/visits", {"increment": {"by": 1}})
    client.connection.socket.shutdown(1)
    assert sequence_of(client.outcome(ordinal))
    try:
        client.connection.receive()
    except Closed as closed:
        assert closed.reason is None
    else:
        raise AssertionError("the connection stayed open")


def check_goodbye(path):
    client = Client(path)
    ordinal = client.send_action("/visits", {"increment": {"by": 1}})
    client.connection.send(GOODBYE)
    assert sequence_of(client.outcome(ordinal))
    # A client that has dropped a session does not send the session's epoch.
    client.epoch = None
    client.reconnect()
    assert client.welcome["isResumed"] is False and client.welcome["ordinal"] == 0


CHECKS = {
    name.removeprefix("check_"): check
    for name, check in list(globals().items())
    if name.startswith("check_")
}

if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CHECKS))
    else:
        for name in sys.argv[2:] or CHECKS:
            CHECKS[name](sys.argv[1])
            print("ok", name)
