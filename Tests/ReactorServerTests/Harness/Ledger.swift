import ReactorCore
import ReactorServer
import ReactorWire

/// A state that records its changes: a keyed field, plain fields, and fields that are not encoded.
@Reactor
struct Ledger {
    enum Action: Sendable {
        case put(key: WireKey, value: WireValue)
        case drop(key: WireKey)
        case title(String)
        case leaf(Int)
        case cache
        case reset
        case blob(byteCount: Int)
        case color(String)
        case margin(Int)
        case plain
    }

    @ReactorState
    struct State: Equatable, Sendable {
        var entries: Keyed<WireKey, WireValue> = [:]
        var title = ""
        var leaf = 0
        @NotTransmitted var cache = 0
        var blob: [UInt8] = []
        var style: Style = Style()
    }

    /// A recorded state in another.
    @WireCodable
    @ReactorState
    struct Style: Equatable, Sendable {
        var color = "black"
        var margin = 1
        var fonts: [String] = ["serif", "sans", "mono"]
    }

    /// The initial entries.
    var start: Keyed<WireKey, WireValue> = [:]

    var initialState: State {
        var state = State()
        state.entries = start
        return state
    }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .put(let key, let value): state.entries[key] = value
        case .drop(let key): state.entries[key] = nil
        case .title(let title): state.title = title
        case .leaf(let leaf): state.leaf = leaf
        case .cache: state.cache += 1
        case .reset: state = State()
        case .color(let color): state.style.color = color
        case .margin(let margin): state.style.margin = margin
        case .plain: state.style = Style()
        case .blob(let byteCount): state.blob = [UInt8](repeating: 7, count: byteCount)
        }
    }
}

extension ServerHarness {
    /// Serves a ledger that starts with `count` entries, `key0` and so on, at `/ledger`.
    static func ledger(
        _ count: Int = 0, value: (Int) -> WireValue = { .text("value \($0)") },
        change: (inout ServerLimits) -> Void = { _ in }
    ) -> ServerHarness {
        var entries: Keyed<WireKey, WireValue> = [:]
        for index in 0..<count { entries[WireKey("key\(index)")] = value(index) }
        let tree = Tree(
            ReactorGroup([("ledger", Ledger(start: entries)), ("house", House())]), epoch: 7)
        return ServerHarness(tree, change: change)
    }
}

/// A watcher that applies patches as the wire format's article specifies.
struct PatchedWatcher {
    let client: TestClient
    private(set) var value: WireValue?
    /// Lengths of the updates' bodies since the last call of `look()`.
    private(set) var sizes: [Int] = []
    private(set) var patches = 0
    private var parts: [UInt8] = []

    init(
        _ harness: ServerHarness, _ path: String, patches: Bool = true,
        selecting selection: Selection? = nil
    ) throws {
        client = harness.client()
        client.subscribe(path, .value, patches: patches, selecting: selection)
        harness.settle()
        try look()
    }

    /// Reads the frames that have arrived.
    mutating func look() throws {
        sizes = []
        patches = 0
        for frame in client.frames() where frame.kind == .value {
            parts += frame.body
            if frame.flags.contains(.more) { continue }
            sizes.append(parts.count)
            if frame.flags.contains(.patch) {
                patches += 1
                let patch = parts
                _ = try value?.apply(patch: patch.span)
            } else {
                value = frame.flags.contains(.absent) ? nil : try WireValue(wireBytes: parts)
            }
            parts = []
        }
    }
}
