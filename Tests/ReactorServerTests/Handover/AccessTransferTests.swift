import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Connections whose rights rules restrict, in another process.
///
/// Drives ``ConnectionTransfer`` and ``ServerHandover``.
@Suite("Connections with access rules in another process")
struct AccessTransferTests {
    private static let stranger: UInt32 = 2_000
    private static var root: ReactorGroup {
        ReactorGroup([
            ("visits", Tally()), ("other", Tally()), ("page", Page()), ("house", House()),
        ])
    }

    private let former: ServerHarness
    private let owner: TestClient

    /// Rules that let the stranger use everything besides these paths.
    private static func rules(hiding paths: [String]) throws -> AccessRules {
        AccessRules(
            try paths.map {
                AccessRules.Rule(try SlicePath($0), to: .uid(Self.stranger), may: .none)
            }, fallback: .use)
    }

    /// Starts with the rooms `red` and `blue`, and with rules that hide `paths`.
    init() throws {
        former = ServerHarness(try Past.recovery(Self.root, Past()))
        former.turn()
        former.server.apply(try Self.rules(hiding: ["/house/rooms/red"]), ownerUID: 1_000)
        owner = former.start()
        for name in ["red", "blue"] { owner.dispatch(House.Action.build(name: name), to: 3) }
        owner.open("/house/rooms/red", as: 4)
        owner.open("/house/rooms/blue", as: 5)
        former.settle()
        _ = owner.frames()
    }

    /// A stranger's client that has sent `asks`, and has read what followed.
    private func client(_ asks: (TestClient) -> Void) -> TestClient {
        let client = former.client(uid: Self.stranger)
        asks(client)
        former.settle()
        _ = client.frames()
        return client
    }

    /// Hands over to a server whose rules hide `paths`.
    private func succeed(
        _ clients: [TestClient], hiding paths: [String]
    ) throws -> (harness: ServerHarness, taken: TakenConnections) {
        let result = try ServerHarness.succeed(
            former, with: Self.root, try former.handOver(), rules: try Self.rules(hiding: paths))
        for client in clients + [owner] { client.move(to: result.harness) }
        return result
    }

    @Test("P122, X112: a view goes on without a value, and a hidden change after that shows none")
    func view() throws {
        let client = client { $0.subscribe("/house", .value) }
        let (harness, taken) = try succeed([client], hiding: ["/house/rooms/red"])
        #expect(taken.closedCount == 0 && client.frames().isEmpty)
        owner.add(3, to: 4)
        harness.settle()
        #expect(client.frames().allSatisfy { $0.kind == .mark })
        owner.add(3, to: 5)
        harness.settle()
        #expect(client.frames(.value).count == 1)
    }

    @Test("X113: a view that other rules show otherwise gets its new value after a hot restart")
    func otherView() throws {
        let client = client { $0.subscribe("/house", .value) }
        let (_, taken) = try succeed([client], hiding: ["/house/rooms/blue"])
        let frames = client.frames()
        #expect(taken.closedCount == 0 && frames.map(\.kind) == [.lag, .value, .mark])
        let frame = try #require(frames.first { $0.kind == .value })
        let value = try WireValue(wireBytes: frame.body).json()
        #expect(value.contains("red") && !value.contains("blue"))
    }

    /// A way to follow or open a path.
    enum Form: CaseIterable { case open, replica, value, selection }

    @Test(
        "X113: what tighter rules do not grant ends with the hot restart, in every form",
        arguments: [
            ("/visits", [.open, .replica, .value], "/visits"),
            ("/house/rooms", [.replica, .value, .selection], "/house/rooms/blue"),
            ("/house/rooms/blue", [.open, .replica, .value], "/house/rooms"),
        ] as [(String, [Form], String)])
    func tighter(path: String, forms: [Form], hidden: String) throws {
        for form in forms {
            let rig = try AccessTransferTests()
            rig.former.server.apply(try Self.rules(hiding: []), ownerUID: 1_000)
            let client = rig.client { client in
                switch form {
                case .open: client.open(path)
                case .replica: client.subscribe(path)
                case .value: client.subscribe(path, .value)
                case .selection: client.subscribe(path, selecting: Selection())
                }
            }
            let (harness, taken) = try rig.succeed([client], hiding: [hidden])
            #expect(taken.count == 2 && taken.closedCount == 1, "\(form)")
            rig.owner.add(3, to: 5)
            rig.owner.add()
            harness.settle()
            #expect(client.frames().map(\.kind) == [.closing], "\(form)")
        }
    }
}
