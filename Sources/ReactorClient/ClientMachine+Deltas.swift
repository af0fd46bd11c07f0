import ReactorBytes
import ReactorCore

// Nearly all updates are deltas of one slice after another: what is the same for all of a run is
// looked up once. Whatever is not as expected is left to the general way, which says why.

// MARK: - As they arrive
extension ClientMachine {
    /// Passes the deltas that stand one after the other from `first` on, and says where the first
    /// other frame starts; they wait for their mark.
    func passDeltas(_ bytes: Span<UInt8>, from first: Int) -> Int {
        guard lane.value.isLive else { return first }
        var offset = first
        var last: (id: UInt32, subscription: Subscription)?
        while let delta = PlainFrame(
            .delta, in: bytes, at: offset, frameBytesMax: options.frameBytesMax)
        {
            if last?.id != delta.id {
                guard let found = lane.value.slices[delta.id], found.mode == .replica,
                    found.state == .current
                else { break }
                last = (delta.id, found)
            }
            guard let subscription = last?.subscription, delta.number > subscription.floor,
                delta.number >= subscription.last
            else { break }
            subscription.last = delta.number
            offset = delta.range.upperBound
        }
        if offset > first, stagedStart == nil { stagedStart = first }
        return offset
    }
}

// MARK: - Once they are complete
extension ClientMachine {
    /// Reads the deltas that stand one after the other from `first` on, up to `end`, and says where
    /// the first other frame starts.
    func stageDeltas(
        _ bytes: Span<UInt8>, from first: Int, upTo end: Int
    ) throws(ClientFault) -> Int {
        var offset = first
        var last: (id: UInt32, subscription: Subscription)?
        var sinks: [any SliceSink] = []
        while offset < end,
            let delta = PlainFrame(
                .delta, in: bytes, at: offset, frameBytesMax: options.frameBytesMax)
        {
            if last?.id != delta.id {
                guard let found = lane.value.slices[delta.id] else { break }
                last = (delta.id, found)
                sinks = found.sinks
                for sink in sinks { touch(sink) }
            }
            guard let subscription = last?.subscription, delta.number <= markSequence else {
                break
            }
            subscription.floor = delta.number
            do throws(WireError) {
                let body = bytes.extracting(delta.range)
                try Self.stage(body, in: sinks)
                if previewCount > 0 { try noteOwn(body, in: sinks) }
                if subscription.faultCount > 0 { subscription.faultCount = 0 }
            } catch {
                try giveUp(subscription, error)
                // because the subscription is gone, and nobody takes the rest of its deltas
                last = nil
            }
            offset = delta.range.upperBound
        }
        return offset
    }

    /// Has the sinks know which of this client's actions a delta contains.
    func noteOwn(_ body: Span<UInt8>, in sinks: [any SliceSink]) throws(WireError) {
        var cursor = WireCursor()
        let own = contained(in: try Origin.decode(body, &cursor))
        for sink in sinks { sink.noteOwn(upTo: own) }
    }

    private static func stage(
        _ body: Span<UInt8>, in sinks: [any SliceSink]
    ) throws(WireError) {
        var cursor = WireCursor()
        try Origin.skip(body, &cursor)
        var index = 0
        while index < sinks.count {
            try sinks[index].stage(delta: body, from: cursor.offset)
            index &+= 1
        }
    }
}
