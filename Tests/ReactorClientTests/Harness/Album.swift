import ReactorCore

/// A reactor whose state records its changes, with a field of each kind that observers distinguish.
@Reactor
struct Album {
    enum Action: Equatable, Sendable {
        case title(String)
        case count(Int)
        case noise(Int)
        case put(key: WireKey, value: Int)
        case drop(key: WireKey)
        case cover(Cover)
        case alert(String?)
        case report(String)
        case restart(alert: String)
    }

    @WireCodable
    struct Cover: Equatable, Sendable {
        var artist = ""
        var size: Size = Size()
    }

    @WireCodable
    struct Size: Equatable, Sendable {
        var width = 1
        var height = 1
    }

    @ReactorState
    struct State: Equatable, Sendable {
        var title = ""
        var count = 0
        @Ignored var noise = 0
        @NotTransmitted var cache = 0
        var pages: Keyed<WireKey, Int> = [:]
        var cover: Cover = Cover()
        @Pulse var alert: String? = nil
        var report: Stamped<String> = Stamped("")
    }

    /// The initial number of pages.
    var pageCount = 0

    var initialState: State {
        var state = State()
        for page in 0..<pageCount { state.pages[WireKey("page\(page)")] = page }
        return state
    }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .title(let title): state.title = title
        case .count(let count):
            state.count = count
            state.cache += 1
        case .noise(let noise): state.noise = noise
        case .put(let key, let value): state.pages[key] = value
        case .drop(let key): state.pages[key] = nil
        case .cover(let cover): state.cover = cover
        case .alert(let alert): state.alert = alert
        case .report(let report): state.report.value = report
        case .restart(let alert):
            state = State()
            state.alert = alert
        }
    }
}
