import ReactorBytes
import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorWire

/// Changes what a simulated journal stores and what a recovery reads, as a faulty server or
/// journal would: see ``PlantedFault``.
final class HistorySaboteur: SimulatedHistoryFaults {
    let fault: PlantedFault
    /// Clients whose sessions were recorded, in order.
    private var clients: [UInt64] = []

    init(_ fault: PlantedFault) { self.fault = fault }

    var reportsEarly: Bool { fault == .earlyReports }
    var usesSnapshotsEarly: Bool { fault == .earlySnapshots }
    var trimsTooFar: Bool { fault == .trimmedTooFar }
    var losesReported: Bool { fault == .lostAcknowledged }
    var ignoresRefusals: Bool { fault == .ignoredRefusals }
}

// MARK: - Faults in writing
extension HistorySaboteur {
    /// Changes a row before it is stored.
    func tamper(with batch: inout Batch) {
        guard let facts = try? TurnFact.list(batch.facts.span) else { return }
        for case .session(let client, _, _) in facts { clients.append(client) }
        batch = batch.replacing(facts: facts.compactMap(tampered).flatMap { $0.wireBytes() })
    }

    private func tampered(_ fact: TurnFact) -> TurnFact? {
        switch (fault, fact) {
        case (.lostOutcomes, .outcome), (.lostArrivals, .action), (.lostSessions, .session),
            (.lostOwnership, .ownership), (.lostLayouts, .layout), (.lostEvictions, .evicted),
            (.lostGoodbyes, .goodbye), (.lostRuns, .run), (.lostTasks, .task):
            return nil
        case (
            .shiftedRuns, .run(let by, let ordinal, let sequence, let count, let nodes, let frames)
        ):
            return .run(
                by: by, ordinal: ordinal, sequence: sequence + 1, count: count, nodes: nodes,
                frames: frames)
        case (.foreignGoodbyes, .goodbye(let client)):
            return .goodbye(client: clients.first { $0 != client } ?? client)
        case (.shortRuns, .run(let by, let ordinal, let sequence, let count, let nodes, let frames)):
            return count == 1
                ? nil
                : .run(
                    by: by, ordinal: ordinal, sequence: sequence, count: count - 1, nodes: nodes,
                    frames: frames)
        default: return fact
        }
    }

    /// Changes a part of a snapshot before it is stored; nil leaves it unchanged.
    func tampered(_ part: [UInt8]) -> [UInt8]? {
        let isLeftOut: Bool
        switch fault {
        case .unsavedSessions: isLeftOut = Self.isPart(part, "sessions")
        case .unsavedOwnership: isLeftOut = Self.isPart(part, "ownership")
        case .unsavedTasks: isLeftOut = Self.isPart(part, "tasks")
        case .unsavedEvictions: isLeftOut = Self.isPart(part, "ended")
        case .unsavedNumbers: isLeftOut = Self.isPart(part, "numbers")
        default: isLeftOut = false
        }
        return isLeftOut ? [] : nil
    }

    private static func isPart(_ part: [UInt8], _ name: String) -> Bool {
        guard case .map(let map)? = try? WireValue(wireBytes: part.span) else { return false }
        return map.contains { $0.key.text == name }
    }

    /// Returns the row number under which a snapshot is stored.
    func snapshotNumber(_ number: UInt64) -> UInt64 {
        switch fault {
        case .lateSnapshotRow: number + 1
        case .earlySnapshotRow: number - min(number, 1)
        default: number
        }
    }
}

// MARK: - Faults in crashes and recovery
extension HistorySaboteur {
    /// Returns the rows that a crash leaves, instead of the prefix of `rows` that ends with the
    /// row `last`; nil for that prefix.
    func torn(_ rows: [SimulatedRow], behind last: UInt64) -> [SimulatedRow]? {
        var left = rows.filter { $0.number <= last }
        switch fault {
        case .tornRow:
            guard let batch = left.last?.batch, batch.deltas.count > 0 else { return nil }
            let half = Array(batch.deltaBytes.prefix(batch.deltas.count / 2))
            left[left.count - 1].batch = batch.replacing(deltas: half)
        case .lostMiddleRow:
            guard let end = rows.last, end.number > last + 1 else { return nil }
            left.append(end)
        default: return nil
        }
        return left
    }

    /// Returns other snapshot parts for a recovery; nil leaves them unchanged.
    func chosenParts(
        of snapshot: SimulatedSnapshot?, among all: [SimulatedSnapshot]
    ) -> [[UInt8]]? {
        guard let snapshot else { return nil }
        let parts = snapshot.parts.filter { !$0.isEmpty }
        guard fault == .mixedSnapshots, all.count == 2, snapshot.number == all[1].number else {
            return parts
        }
        return all[0].parts.filter { Self.isPart($0, "nodes") }
            + parts.filter { !Self.isPart($0, "nodes") }
    }

    /// Changes the rows that a recovery replays.
    func tamper(with replayed: inout [SimulatedRow], among rows: [SimulatedRow]) {
        switch fault {
        case .repeatedRow:
            let row = replayed.last { $0.batch.deltas.count > 0 }
            if let row { replayed.append(row) }
        case .skippedRow:
            guard let index = replayed.indices.dropFirst(replayed.count / 2).first else { return }
            replayed.remove(at: index)
        case .lostDeltas:
            for index in replayed.indices {
                let batch = replayed[index].batch
                replayed[index].batch = batch.replacing(deltas: Self.without(4, batch.deltaBytes))
            }
        default: break
        }
    }

    /// Returns the delta frames without those of one node.
    private static func without(_ number: UInt32, _ deltas: [UInt8]) -> [UInt8] {
        var kept: [UInt8] = []
        var offset = 0
        while let header = try? FrameHeader.decode(
            deltas.span, at: offset, frameBytesMax: Int(UInt32.max))
        {
            let end = offset + FrameHeader.byteCount + Int(header.length)
            if header.id != number { kept += deltas[offset..<end] }
            offset = end
        }
        return kept
    }
}
