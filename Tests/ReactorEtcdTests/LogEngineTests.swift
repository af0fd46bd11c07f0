#if Cluster
    import ReactorCluster
    import Testing

    /// What ``LogEngine`` promises, of each engine.
    struct LogEngineTests {
        @Test(
            "an append with the log's version and the term is stored as the next entry",
            arguments: EngineKind.allCases)
        func append(kind: EngineKind) async throws {
            let probe = try await kind.start(members: 1).connect(to: 0)
            let term = try await probe.lead(as: 1)
            let first = try await probe.append([1], expected: 0, term: term)
            let second = try await probe.append([2, 2], expected: 1, term: term)
            #expect(first.number == 1 && second.number == 2)
            #expect(term < first.revision && first.revision < second.revision)
            let seen = try await probe.look()
            #expect(seen.head == second && seen.term == term && seen.leader == record(1))
            #expect(seen.beat == 0 && seen.nodes.isEmpty)
        }

        @Test(
            "an append with another version or term changes nothing, and gets the last entry",
            arguments: EngineKind.allCases)
        func refusedAppend(kind: EngineKind) async throws {
            let probe = try await kind.start(members: 1).connect(to: 0)
            let empty = await probe.answer(to: .append(entry: [0], expected: 0, term: 7))
            #expect(empty == .refused(.append, LogRefusal(last: nil, term: 0, leader: nil)))
            let term = try await probe.lead(as: 1)
            let last = StoredEntry(
                position: try await probe.append([1], expected: 0, term: term), bytes: [1])
            for (expected, wrong) in [(0, term), (2, term), (1, term - 1), (1, term + 1)] {
                let answer = await probe.answer(
                    to: .append(entry: [9], expected: UInt64(expected), term: wrong))
                #expect(
                    answer
                        == .refused(
                            .append, LogRefusal(last: last, term: term, leader: record(1))))
            }
            #expect(try await probe.look().head == last.position)
        }

        @Test("a thousand appends need one connection", arguments: EngineKind.allCases)
        func manyAppends(kind: EngineKind) async throws {
            let probe = try await kind.start(members: 1).connect(to: 0)
            let term = try await probe.lead(as: 1)
            for number in 0..<1_000 as Range<UInt64> {
                let position = try await probe.append([7], expected: number, term: term)
                #expect(position.number == number + 1)
            }
            #expect(probe.events.isEmpty)
        }

        @Test(
            "of writers that append at once, at most one is accepted, and all others see its entry",
            arguments: EngineKind.allCases, [2, 6])
        func racedAppends(kind: EngineKind, writers: Int) async throws {
            let members = writers == 2 ? 2 : 3
            let world = try await kind.start(members: 3)
            let probes = try await world.connect(writers, members: members)
            let term = try await probes[0].lead(as: 1)
            let rounds: UInt64 = writers == 2 ? 150 : 60
            for expected in 0..<rounds {
                for (index, probe) in probes.enumerated() {
                    probe.send(
                        .append(
                            entry: [UInt8(index), UInt8(expected)], expected: expected, term: term))
                }
                var accepted: [UInt8] = []
                var seen: Set<[UInt8]> = []
                for (index, probe) in probes.enumerated() {
                    switch await probe.next(where: .append) {
                    case .appended(let position)?:
                        #expect(position.number == expected + 1)
                        accepted.append(UInt8(index))
                    case .refused(_, let refusal)?:
                        #expect(refusal.last?.position.number == expected + 1)
                        seen.insert(refusal.last?.bytes ?? [])
                    case let other: throw probe.unexpected(other)
                    }
                }
                #expect(accepted.count == 1)
                #expect(seen == [[accepted.first ?? 0, UInt8(expected)]])
            }
            let watcher = probes[1]
            watcher.send(.watch(after: .beginning))
            let entries = await watcher.entries(Int(rounds))
            #expect(entries.map(\.position.number) == Array(1...rounds))
            #expect(entries.map { $0.bytes[1] } == (0..<rounds).map { UInt8($0) })
        }

        @Test(
            "of candidates that have seen the same state, one wins, and the others see it",
            arguments: EngineKind.allCases)
        func racedTakeOvers(kind: EngineKind) async throws {
            let world = try await kind.start(members: 3)
            let probes = try await world.connect(3, members: 3)
            for round in 1...60 as ClosedRange<UInt64> {
                let seen = try await probes[0].look()
                for (index, probe) in probes.enumerated() {
                    probe.send(.takeOver(seen: seen, record: record(UInt8(index + 1), round)))
                }
                var winners: [UInt64] = []
                var terms: Set<UInt64> = []
                for probe in probes {
                    switch await probe.next(where: .takeOver) {
                    case .won(let term, let head)?:
                        #expect(head == seen.head)
                        winners.append(term)
                    case .lost(let sighting)?: terms.insert(sighting.term)
                    case let other: throw probe.unexpected(other)
                    }
                }
                #expect(winners.count == 1 && terms == Set(winners))
            }
        }

        @Test(
            "a take-over fails where the log, the beat or the leader has moved since the look",
            arguments: EngineKind.allCases)
        func staleTakeOvers(kind: EngineKind) async throws {
            let probe = try await kind.start(members: 1).connect(to: 0)
            let term = try await probe.lead(as: 1)
            let before = try await probe.look()
            let head = try await probe.append([1], expected: 0, term: term)
            let moved = await probe.answer(to: .takeOver(seen: before, record: record(2)))
            let seen = try await probe.look()
            #expect(moved == .lost(seen) && seen.head == head)
            #expect(await probe.answer(to: .beat(term: term)) == .beaten)
            let beaten = try await probe.look()
            #expect(
                await probe.answer(to: .takeOver(seen: seen, record: record(2))) == .lost(beaten))
            #expect(beaten.beat > 0 && !beaten.isUnmoved(since: seen))
            let answer = await probe.answer(to: .takeOver(seen: beaten, record: record(2)))
            guard case .won(let next, head)? = answer else { throw probe.unexpected(answer) }
            let last = await probe.answer(to: .takeOver(seen: beaten, record: record(3)))
            #expect(last == .lost(try await probe.look()))
            #expect(try await probe.look().term == next)
        }

        @Test(
            "a deposed leader can neither append, beat nor step down",
            arguments: EngineKind.allCases)
        func deposed(kind: EngineKind) async throws {
            let world = try await kind.start(members: 1)
            let old = try await world.connect(to: 0)
            let new = try await world.connect(to: 0)
            let term = try await old.lead(as: 1)
            let head = try await old.append([1], expected: 0, term: term)
            let next = try await new.lead(as: 2)
            let refusal = LogRefusal(
                last: StoredEntry(position: head, bytes: [1]), term: next, leader: record(2))
            for call in [
                EngineCall.append(entry: [2], expected: 1, term: term), .beat(term: term),
                .vacate(term: term, successor: ClusterNode(1)),
            ] {
                #expect(await old.answer(to: call) == .refused(call.kind, refusal))
            }
            let seen = try await old.look()
            #expect(seen.head == head && seen.beat == 0 && seen.leader == record(2))
        }

        @Test("a leader that steps down names its successor", arguments: EngineKind.allCases)
        func vacate(kind: EngineKind) async throws {
            let world = try await kind.start(members: 1)
            let probe = try await world.connect(to: 0)
            let watcher = try await world.connect(to: 0)
            let term = try await probe.lead(as: 1)
            watcher.send(.watch(after: .beginning))
            let answer = await probe.answer(to: .vacate(term: term, successor: ClusterNode(2)))
            guard case .vacated(let next)? = answer else { throw probe.unexpected(answer) }
            let vacant = LeaderRecord.vacant(successor: ClusterNode(2))
            #expect(await watcher.next() == .leader(term: term, record(1)))
            #expect(await watcher.next() == .leader(term: next, vacant))
            #expect(try await probe.look().leader == vacant)
            #expect(try await watcher.lead(as: 2) > next)
        }

        @Test(
            "a watch sends each entry behind its position once and in order, and so does the next",
            arguments: EngineKind.allCases)
        func watch(kind: EngineKind) async throws {
            let world = try await kind.start(members: 1)
            let writer = try await world.connect(to: 0)
            let follower = try await world.connect(to: 0)
            let term = try await writer.lead(as: 1)
            var stored: [StoredEntry] = []
            func append(_ count: Int) async throws {
                for _ in 0..<count {
                    let bytes = Array(
                        repeating: UInt8(truncatingIfNeeded: stored.count), count: 900)
                    let position = try await writer.append(
                        bytes, expected: UInt64(stored.count), term: term)
                    stored.append(StoredEntry(position: position, bytes: bytes))
                }
            }
            try await append(20)
            follower.send(.watch(after: stored[7].position))
            #expect(await follower.entries(12) == Array(stored[8...]))
            try await append(5)
            #expect(await follower.entries(5) == Array(stored[20...]))
            follower.send(.unwatch)
            try await append(5)
            follower.send(.watch(after: stored[22].position))
            #expect(await follower.entries(7) == Array(stored[23...]))
            #expect(follower.events.isEmpty)
        }

        @Test(
            "a compaction keeps the last entry, may be repeated, and ends a watch from before it",
            arguments: EngineKind.allCases)
        func compact(kind: EngineKind) async throws {
            let world = try await kind.start(members: 1)
            let probe = try await world.connect(to: 0)
            let term = try await probe.lead(as: 1)
            var positions: [LogPosition] = [.beginning]
            for number in 0..<5 as Range<UInt64> {
                positions.append(
                    try await probe.append([UInt8(number)], expected: number, term: term))
            }
            #expect(await probe.answer(to: .compact(upTo: positions[4])) == .trimmed)
            #expect(await probe.answer(to: .compact(upTo: positions[4])) == .trimmed)
            #expect(await probe.answer(to: .compact(upTo: positions[2])) == .trimmed)
            #expect(await probe.answer(to: .compact(upTo: .beginning)) == .trimmed)
            probe.send(.watch(after: positions[1]))
            #expect(await probe.next() == .compacted(upTo: positions[4].revision))
            probe.send(.watch(after: positions[4]))
            #expect(
                await probe.entries(1) == [StoredEntry(position: positions[5], bytes: [4])])
            let seen = try await probe.look()
            #expect(seen.head == positions[5] && seen.term == term && seen.leader == record(1))
        }

        @Test(
            "reports are counted for each node, and a look has the last of each",
            arguments: EngineKind.allCases)
        func announce(kind: EngineKind) async throws {
            let world = try await kind.start(members: 1)
            let probe = try await world.connect(to: 0)
            for (node, version) in [(2, 1), (10, 1), (2, 2), (2, 3), (10, 2)] {
                var report = NodeReport(node: ClusterNode(UInt8(node)))
                report.applied = UInt64(version)
                let answer = await probe.answer(to: .announce(report))
                #expect(answer == .announced(version: UInt64(version)))
            }
            let nodes = try await probe.look().nodes
            #expect(nodes.map(\.report.node.index) == [2, 10])
            #expect(nodes.map(\.version) == [3, 2])
            #expect(nodes.map(\.report.applied) == [3, 2])
        }
    }
#endif
