import ReactorServer
import ReactorTesting
import ReactorWire

/// Changes the traffic between server and client, as a server with a ``PlantedFault`` would.
final class Saboteur: SimulatedFaults {
    let fault: PlantedFault
    /// State of each connection.
    private var wires: [ConnectionID: Wire] = [:]
    /// Ordinals of actions that reached the server in the current session, by client.
    private var seen: [ObjectIdentifier: Set<UInt64>] = [:]

    init(_ fault: PlantedFault) { self.fault = fault }

    var keepsEpoch: Bool { fault == .keptEpoch }
    var keepsClaims: Bool { fault == .keptClaims }

    private struct Wire {
        /// Bytes from the client that are not a complete frame yet.
        var partial: [UInt8] = []
        /// Paths by the client's node numbers.
        var paths: [UInt32: String] = [:]
        /// True while snapshots are left out, until the next mark.
        var isSkipping = false
        /// `isLagging`: snapshots replace dropped updates. `lacksDelta`: the next update is to be
        /// dropped.
        var isLagging = false
        var lacksDelta = false
        /// Slices whose first value has been sent.
        var valued: Set<UInt32> = []
    }

    /// A frame and its bytes.
    private struct Frame {
        var kind: FrameKind?
        var flags: FrameFlags
        var id: UInt32
        var number: UInt64
        var bytes: ArraySlice<UInt8>

        var body: [UInt8] { Array(bytes.dropFirst(FrameHeader.byteCount)) }
    }

    /// Removes the complete frames from the front of a stream.
    private static func takeFrames(_ stream: inout [UInt8]) -> [Frame] {
        var frames: [Frame] = []
        var offset = 0
        while let header = try? FrameHeader.decode(
            stream.span, at: offset, frameBytesMax: Int(UInt32.max))
        {
            let end = offset + FrameHeader.byteCount + Int(header.length)
            guard end <= stream.count else { break }
            frames.append(
                Frame(
                    kind: FrameKind(rawValue: header.kind), flags: header.flags, id: header.id,
                    number: header.number, bytes: stream[offset..<end]))
            offset = end
        }
        stream.removeFirst(offset)
        return frames
    }
}

// MARK: - From the client
extension Saboteur {
    /// Inspects the bytes that a client sends, and returns the actions to apply a second time.
    func repeats(
        in bytes: [UInt8], on id: ConnectionID, of client: ObjectIdentifier
    ) -> [RepeatedAction] {
        guard fault == .repeatedActions else { return [] }
        var wire = wires[id] ?? Wire()
        defer { wires[id] = wire }
        var repeats: [RepeatedAction] = []
        wire.partial += bytes
        for frame in Self.takeFrames(&wire.partial) {
            switch frame.kind {
            case .open: wire.paths[frame.id] = try? Open(wireBytes: frame.body).path
            case .dispatch where frame.flags.isEmpty:
                let isNew =
                    seen[client, default: []].insert(frame.number).inserted
                if !isNew, let path = wire.paths[frame.id] {
                    repeats.append(RepeatedAction(path: path, action: frame.body))
                }
            default: break
            }
        }
        return repeats
    }
}

// MARK: - From the server
extension Saboteur {
    /// Returns the bytes to send instead of a server's write, which consists of whole frames.
    func tampered(
        _ bytes: [UInt8], on id: ConnectionID, of client: ObjectIdentifier
    ) -> [UInt8] {
        var rest = bytes
        var frames = Self.takeFrames(&rest)
        switch fault {
        case .lostUpdates: skipSnapshots(&frames, on: id)
        case .earlyOutcomes:
            let isOutcome = { (frame: Frame) in frame.kind == .applied || frame.kind == .outcome }
            frames = frames.filter(isOutcome) + frames.filter { !isOutcome($0) }
        case .earlyMarks:
            for index in frames.indices.dropFirst()
            where frames[index].kind == .mark && frames[index - 1].kind == .delta {
                frames.swapAt(index, index - 1)
            }
        case .repeatedActions:
            for frame in frames where frame.kind == .welcome {
                let isResumed = (try? Welcome(wireBytes: frame.body))?.isResumed ?? false
                if !isResumed { seen[client] = [] }
            }
        case .lateResumes: frames = Self.resumedLate(frames)
        case .lateConflations: leaveOutBehindLag(&frames, on: id)
        case .lostValues: leaveOutValues(&frames, on: id)
        default: break
        }
        return frames.flatMap(\.bytes) + rest
    }

    /// Removes the first of the updates sent to a resuming client.
    private static func resumedLate(_ frames: [Frame]) -> [Frame] {
        var resumed: Set<UInt32> = []
        return frames.filter { frame in
            if frame.kind == .subscribed,
                (try? Subscribed(wireBytes: frame.body))?.start == .deltas
            {
                resumed.insert(frame.id)
            }
            return frame.kind != .delta || resumed.remove(frame.id) == nil
        }
    }

    /// Removes the first update after the snapshots that replace dropped updates.
    private func leaveOutBehindLag(_ frames: inout [Frame], on id: ConnectionID) {
        var wire = wires[id] ?? Wire()
        frames = frames.filter { frame in
            switch frame.kind {
            case .lag: wire.isLagging = true
            case .mark where wire.isLagging: (wire.isLagging, wire.lacksDelta) = (false, true)
            case .delta where wire.lacksDelta:
                wire.lacksDelta = false
                return false
            default: break
            }
            return true
        }
        wires[id] = wire
    }

    /// Removes every third value of a slice, except the first value.
    private func leaveOutValues(_ frames: inout [Frame], on id: ConnectionID) {
        var wire = wires[id] ?? Wire()
        frames = frames.filter { frame in
            guard frame.kind == .value, !frame.flags.contains(.patch) else { return true }
            return wire.valued.insert(frame.id).inserted || frame.number % 3 != 0
        }
        wires[id] = wire
    }

    /// Removes the notice that updates were dropped, and the snapshots that replace them.
    private func skipSnapshots(_ frames: inout [Frame], on id: ConnectionID) {
        var wire = wires[id] ?? Wire()
        frames = frames.filter { frame in
            switch frame.kind {
            case .lag:
                wire.isSkipping = true
                return false
            case .snapshot, .value: return !wire.isSkipping
            case .mark:
                wire.isSkipping = false
                return true
            default: return true
            }
        }
        wires[id] = wire
    }
}
