package import ReactorBytes
package import ReactorServer

/// Changes the traffic between a simulated server and its clients, as a faulty server would.
///
/// *Place*: a test proves with planted faults that the simulation detects them. A world without
/// one is that of the real server.
package protocol SimulatedFaults: AnyObject {
    /// Whether a server that starts without its history, or without the end of it, keeps its epoch.
    var keepsEpoch: Bool { get }
    /// Whether the server misses the end of some connections.
    var keepsClaims: Bool { get }
    /// Inspects the bytes that a client sends, and returns the actions to apply a second time.
    func repeats(
        in bytes: [UInt8], on id: ConnectionID, of client: ObjectIdentifier
    ) -> [RepeatedAction]
    /// Returns the bytes to send instead of a server's write, which consists of whole frames.
    func tampered(
        _ bytes: [UInt8], on id: ConnectionID, of client: ObjectIdentifier
    ) -> [UInt8]
}

/// An action to apply a second time.
package struct RepeatedAction {
    /// The reactor's path.
    package var path: String
    /// The encoded action.
    package var action: [UInt8]

    /// Describes an action for the reactor at `path`.
    package init(path: String, action: [UInt8]) {
        self.path = path
        self.action = action
    }
}

/// Changes what a simulated journal stores and what a recovery reads, as a faulty server or
/// journal would.
package protocol SimulatedHistoryFaults: AnyObject {
    /// Whether a row's commit is reported before it is made.
    var reportsEarly: Bool { get }
    /// Whether a snapshot is used before the rows that its sessions refer to are committed.
    var usesSnapshotsEarly: Bool { get }
    /// Whether rows are trimmed up to the newer snapshot, although a recovery may use the older.
    var trimsTooFar: Bool { get }
    /// Whether a crash loses rows whose commit was reported.
    var losesReported: Bool { get }
    /// Whether the server keeps changes that a full disk refused.
    var ignoresRefusals: Bool { get }
    /// Changes a row before it is stored.
    func tamper(with batch: inout Batch)
    /// Changes a part of a snapshot before it is stored; nil leaves it unchanged.
    func tampered(_ part: [UInt8]) -> [UInt8]?
    /// Returns the row number under which a snapshot is stored.
    func snapshotNumber(_ number: UInt64) -> UInt64
    /// Returns the rows that a crash leaves, instead of the prefix of `rows` that ends with the
    /// row `last`; nil for that prefix.
    func torn(_ rows: [SimulatedRow], behind last: UInt64) -> [SimulatedRow]?
    /// Returns other snapshot parts for a recovery; nil leaves them unchanged.
    func chosenParts(
        of snapshot: SimulatedSnapshot?, among all: [SimulatedSnapshot]
    ) -> [[UInt8]]?
    /// Changes the rows that a recovery replays.
    func tamper(with replayed: inout [SimulatedRow], among rows: [SimulatedRow])
}

/// A row of a ``SimulatedJournal``.
package struct SimulatedRow: Sendable {
    /// The row's number, from 1 without gaps.
    package let number: UInt64
    /// The row's content.
    package var batch: Batch
}

/// A usable snapshot of a ``SimulatedJournal``.
package struct SimulatedSnapshot: Sendable {
    /// The number of the snapshot's row.
    package var number: UInt64
    /// The last row appended before the snapshot's end.
    var lastNumber: UInt64
    /// The parts, in order.
    package var parts: [[UInt8]]
}
