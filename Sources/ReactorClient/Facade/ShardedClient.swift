import ReactorWire

/// The clients of several daemons, among which a program distributes its keys.
///
///     let shards = try await ShardedClient.connect(
///         to: ["blue": .daemon("shop-blue"), "green": .daemon("shop-green")],
///         overrides: ["acme": "green"])
///     let visits = try await shards.client(for: "acme").mirror(Visits.self, at: "/visits")
///
/// A *shard* is a daemon with a state of its own, alone or in a cluster. Each key, such as the name
/// of a tenant, belongs to one shard: the shard whose name has the greatest weight for the key
/// (rendezvous hashing). Programs with the same names compute the same shard, without asking a
/// daemon. A further shard gets the keys for which its name has the greatest weight, and no other
/// key changes its shard. `overrides` names the shard of single keys, such as those that an
/// operator has moved. No transaction, revision or order spans two shards.
///
/// *Owner*: any thread.
/// *Shape*: a weight is the 64-bit FNV-1a checksum of the shard's name, a zero byte and the key, as
/// UTF-8, followed by the finalizer of MurmurHash3. Of equal weights, that of the later name
/// counts. Keys differ if their bytes differ, so use one Unicode form. The weights never change:
/// with others, a program would look for its keys in the wrong shards.
public struct ShardedClient: Sendable {
    /// The connected clients by the names of their shards.
    public private(set) var clients: [String: Client]
    private let overrides: [String: String]

    /// Connects to the daemons of all shards, one after another.
    ///
    /// ``ClientOptions/session`` is ignored, since a session belongs to one daemon. The client of
    /// each shard has a ``ClientOptions/journal`` of its own: a period and the shard's name follow
    /// the path.
    ///
    /// *Throws*: if a client cannot connect; ``ClientError/unreachable(tried:)`` also if there is
    /// no shard, if an override names none of them, or if two shards have one socket, as all
    /// ``DaemonAddress/daemon(_:)`` have while `$REACTORD_SOCKET` is set. No client stays
    /// connected then.
    public static func connect(
        to shards: [String: DaemonAddress], overrides: [String: String] = [:],
        options: ClientOptions = ClientOptions()
    ) async throws(ClientError) -> ShardedClient {
        let unknown = overrides.filter { shards[$0.value] == nil }.sorted { $0.key < $1.key }
        guard unknown.isEmpty, !shards.isEmpty else {
            throw .unreachable(
                tried: unknown.map {
                    ClientError.Attempt(
                        path: $0.value, reason: "the override of \($0.key) names no shard")
                })
        }
        var sharded = ShardedClient(clients: [:], overrides: overrides)
        do throws(ClientError) {
            for (name, address) in shards.sorted(by: { $0.key < $1.key }) {
                try await sharded.connect(name, at: address, options)
            }
        } catch {
            sharded.close()
            throw error
        }
        return sharded
    }

    private mutating func connect(
        _ name: String, at address: DaemonAddress, _ options: ClientOptions
    ) async throws(ClientError) {
        var own = options
        own.session = nil
        own.journal = options.journal.map { "\($0).\(name)" }
        let client = try await Client.connect(to: address, options: own)
        let other = clients.first { $0.value.socketPath == client.socketPath }
        clients[name] = client
        guard let other else { return }
        throw .unreachable(
            tried: [
                ClientError.Attempt(
                    path: client.socketPath,
                    reason: "shards \(other.key) and \(name) have this socket", .broken)
            ])
    }

    /// Returns the client of the shard to which `key` belongs. *Cost*: O(shards).
    public func client(for key: String) -> Client {
        let name = shard(for: key)
        guard let client = clients[name] else {
            preconditionFailure("shard \(name) has no client: connect makes one for each shard")
        }
        return client
    }

    /// Returns the name of the shard to which `key` belongs: that of its override, else the name
    /// with the greatest weight. *Cost*: O(shards).
    public func shard(for key: String) -> String {
        overrides[key] ?? Self.owner(of: key, among: clients.keys)
    }

    /// Ends all clients: see ``Client/close()``.
    public func close() { for client in clients.values { client.close() } }

    /// The name with the greatest weight for `key`. *Traps*: without names.
    static func owner(of key: String, among names: some Sequence<String>) -> String {
        let weighted = names.map { (weight(of: $0, for: key), $0) }
        guard let greatest = weighted.max(by: { $0 < $1 }) else {
            preconditionFailure("no shard for the key \(key): expected at least one name")
        }
        return greatest.1
    }

    private static func weight(of name: String, for key: String) -> UInt64 {
        var checksum = WireChecksum()
        for byte in name.utf8 { checksum.add(byte) }
        checksum.add(0)
        for byte in key.utf8 { checksum.add(byte) }
        // In FNV-1a, the last byte changes few of the highest bits: without the finalizer, keys
        // that differ only there have the same shard.
        var weight = checksum.value
        weight = (weight ^ (weight >> 33)) &* 0xff51_afd7_ed55_8ccd
        weight = (weight ^ (weight >> 33)) &* 0xc4ce_b9fe_1a85_ec53
        return weight ^ (weight >> 33)
    }
}
