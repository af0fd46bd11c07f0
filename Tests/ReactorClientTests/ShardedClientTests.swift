import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

@Suite("Sharded clients", .timeLimit(.minutes(10)))
struct ShardedClientTests {
    private typealias Counter = StockReactors.Counter

    private static let names = ["blue", "green", "red"]
    private static let tenants = (0..<1_200).map { "tenant-\($0)" }

    @Test(
        "a key has the same shard in every program, in whatever order that has the names",
        arguments: [
            ("", "blue"), ("acme", "red"), ("tenant-1", "red"), ("tenant-2", "green"),
            ("tenant-3", "red"), ("tenant-5", "green"), ("tenant-6", "blue"), ("日本", "green"),
        ])
    func fixed(key: String, shard: String) {
        #expect(ShardedClient.owner(of: key, among: Self.names) == shard)
        #expect(ShardedClient.owner(of: key, among: Self.names.reversed()) == shard)
    }

    @Test("keys that differ only in their last bytes are distributed over all shards")
    func distributed() {
        for name in Self.names {
            func count(_ keys: some Sequence<String>) -> Int {
                keys.filter { ShardedClient.owner(of: $0, among: Self.names) == name }.count
            }
            #expect((1...5).contains(count(Self.tenants.prefix(10))))
            #expect((350...450).contains(count(Self.tenants)))
        }
    }

    @Test("a further shard gets about its part of the keys, and no other key moves")
    func grown() {
        let moved = Self.tenants.filter {
            ShardedClient.owner(of: $0, among: Self.names)
                != ShardedClient.owner(of: $0, among: Self.names + ["white"])
        }
        #expect((250...350).contains(moved.count))
        for key in moved {
            #expect(ShardedClient.owner(of: key, among: Self.names + ["white"]) == "white")
        }
    }

    @Test("actions reach the daemon of their key's shard, or of its override")
    func routed() async throws {
        let (blue, green) = (try LiveServer(), try LiveServer())
        var options = ClientOptions(program: "router")
        options.journal = blue.folder.path + "/actions"
        let shards = try await ShardedClient.connect(
            to: ["blue": .socket(blue.path), "green": .socket(green.path)],
            overrides: ["acme": "green"], options: options)
        let keys = ["acme", "tenant-1", "tenant-2", "tenant-3", "tenant-7"]
        for key in keys {
            let client = shards.client(for: key)
            let outcome = try await client.dispatch("/visits", Counter.Action.increment(by: 1))
            #expect(outcome.revision != nil)
        }
        #expect(keys.map { shards.shard(for: $0) } == ["green", "blue", "green", "blue", "blue"])
        #expect(await blue.on { $0.actionCount } == 3)
        #expect(await green.on { $0.actionCount } == 2)
        shards.close()
        for client in shards.clients.values {
            await #expect(throws: ClientError.ended) { try await client.ping() }
        }
    }

    @Test("without a shard, or with an override that names none, nothing is connected")
    func unknown() async throws {
        let server = try LiveServer()
        let error = await #expect(throws: ClientError.self) {
            _ = try await ShardedClient.connect(
                to: ["blue": .socket(server.path)], overrides: ["acme": "violet"])
        }
        let text = try #require(error).description
        #expect(text.contains("violet") && text.contains("acme"))
        #expect(await server.on { $0.accepts.all } == 0)
        await #expect(throws: ClientError.unreachable(tried: [])) {
            _ = try await ShardedClient.connect(to: [:])
        }
    }

    @Test("if one shard cannot be reached, or two have one socket, no client stays connected")
    func incomplete() async throws {
        let server = try LiveServer()
        let absent = SocketFolder()
        for other in [absent.socket, server.path] {
            let error = await #expect(throws: ClientError.self) {
                _ = try await ShardedClient.connect(
                    to: ["blue": .socket(server.path), "green": .socket(other)])
            }
            #expect(try #require(error).description.contains(other))
            await server.until { $0.connectionCount == 0 }
        }
    }
}
