/// The durability of a server's replies.
enum ReplyDurability: String {
    /// Until the process ends.
    case memory
    /// Durable across a power cut: on the disk before the reply.
    case strict
    /// Durable across the end of the process, and across a power cut some time after the reply.
    case relaxed

    /// The Redis options for the same durability.
    var redisOptions: [String] {
        switch self {
        case .memory: ["--appendonly", "no"]
        case .strict: ["--appendonly", "yes", "--appendfsync", "always"]
        case .relaxed: ["--appendonly", "yes", "--appendfsync", "everysec"]
        }
    }

    /// The name of Redis with these options in a table.
    var redisName: String {
        switch self {
        case .memory: "Redis in memory"
        case .strict: "Redis always"
        case .relaxed: "Redis everysec"
        }
    }
}
