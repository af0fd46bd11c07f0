/// For how long a server's word holds.
enum Keeping: String {
    /// As long as the process lives.
    case memory
    /// It survives a power cut: it is on the disk before it is said.
    case strict
    /// It survives the process, and a power cut soon after it was said.
    case relaxed

    /// How Redis is asked for the like of it.
    var redisOptions: [String] {
        switch self {
        case .memory: ["--appendonly", "no"]
        case .strict: ["--appendonly", "yes", "--appendfsync", "always"]
        case .relaxed: ["--appendonly", "yes", "--appendfsync", "everysec"]
        }
    }

    /// What that is called in a table.
    var redisName: String {
        switch self {
        case .memory: "Redis in memory"
        case .strict: "Redis always"
        case .relaxed: "Redis everysec"
        }
    }
}
