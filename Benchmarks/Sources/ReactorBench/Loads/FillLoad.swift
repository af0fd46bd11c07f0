import ArgumentParser
import ReactorClient
import ReactorCore
import ReactorLoop
import ReactorWire
import StockReactors

/// Writes a number of keys into /map.
struct FillLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "fill")

    @OptionGroup var options: LoadOptions

    @Option(help: "How many keys.")
    var keys = 1_000_000

    private static let keysPerAction = 1_000

    /// The key with number `index`.
    static func key(_ index: Int) -> WireKey { WireKey("key-\(index)") }

    func run() throws {
        let loop = try EventLoop(spin: options.spinDuration)
        let client = try LoopClient.connected(on: loop, options)
        let node = try client.nodes(at: ["/map"])[0]
        let start = loop.now
        for first in stride(from: 0, to: keys, by: Self.keysPerAction) {
            let pairs = (first..<min(first + Self.keysPerAction, keys)).map { index in
                WireMap.Pair(
                    key: Self.key(index),
                    value: .integer(WireInteger(isNegative: false, magnitude: UInt64(index))))
            }
            var outcome: ActionOutcome?
            let action = try Map.Action.merge(entries: WireMap(pairs))
            try client.act { machine in
                try machine.dispatch(action, to: node) { outcome = $0 }
            }
            while outcome == nil { loop.turn(.wait) }
            guard case .applied? = outcome else {
                throw LoadError("merge: expected applied, got \(String(describing: outcome))")
            }
        }
        report([("rate", Double(keys) * 1e9 / Double(loop.now - start))])
    }
}
