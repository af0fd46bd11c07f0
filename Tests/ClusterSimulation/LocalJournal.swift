import ReactorCluster

/// A node's own copy of the history: which positions it has stored, and which of them survive a
/// power cut.
struct LocalJournal {
    private var positions: [AppliedPosition]
    private var durableCount = 1

    init(_ position: AppliedPosition = .beginning(seed: 0)) { positions = [position] }

    var stored: AppliedPosition { positions[positions.count - 1] }
    var durable: AppliedPosition { positions[durableCount - 1] }

    mutating func append(_ position: AppliedPosition) { positions.append(position) }

    mutating func sync() {
        positions.removeFirst(durableCount - 1)
        durableCount = positions.count
    }

    /// A power cut: a random part of what was not synced is lost. Returns the position left.
    mutating func cut(_ sky: SimulatedSky) -> AppliedPosition {
        let count = sky.between(UInt64(durableCount), UInt64(positions.count))
        positions.removeLast(positions.count - Int(count))
        durableCount = positions.count
        return stored
    }
}

/// The clock of a node, which runs fast or slow.
struct SimulatedClock {
    let rate: Double
    private let offset: UInt64

    init(_ sky: SimulatedSky) {
        rate = 0.9 + Double(sky.between(0, 200)) / 1_000
        offset = sky.between(1, 1 << 50)
    }

    /// The clock's time at a time of the simulation.
    func local(_ time: UInt64) -> UInt64 { offset + UInt64(Double(time) * rate) }

    /// How long a span of the clock takes, rounded up.
    func real(_ span: UInt64) -> UInt64 { UInt64((Double(span) / rate).rounded(.up)) + 1 }
}
