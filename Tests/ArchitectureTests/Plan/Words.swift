/// A rule about words that code must not contain, and the places where they are allowed.
struct WordRule {
    /// The rule's name in its test.
    let name: String
    /// The folders to which it applies: `Sources`, `Tests/`, `Sources/ReactorServer`.
    let scope: [String]
    let needles: [Needle]
    /// Folders or files in the scope where the words are allowed, with the reason.
    var allowed: [String: String] = [:]
    /// The replacement to suggest.
    let remedy: String

    static let all: [WordRule] = [
        WordRule(
            name: "unsafe code", scope: ["Sources"],
            needles: [
                Needle("unsafe", isPart: true), Needle("Unsafe", isPart: true),
                Needle("@unchecked"),
            ],
            allowed: [
                "Sources/ReactorBytes": "memory for bytes, and places that need no run-time check",
                "Sources/ReactorEtcd/Transport": "nghttp2 is a C library",
                "Sources/ReactorJournal/SQLite": "SQLite is a C library",
                "Sources/ReactorJournal/System": "files and checksums are C",
                "Sources/ReactorLoop": "libuv is a C library",
                "Sources/ReactorThreads": "locks, the executor and the breadcrumb are C",
                "Sources/ReactorYAML": "libyaml is a C library",
            ],
            remedy: "use Span, or move it down to a room that may, behind a safe type"),
        WordRule(
            name: "libuv", scope: ["Sources"],
            needles: [Needle("uv_", isPart: true), Needle("UV_", isPart: true)],
            allowed: [
                "Sources/ReactorLoop": "the one room that speaks libuv",
                "Sources/CLibUV": "its headers",
            ],
            remedy: "give ReactorLoop a Swift name for it"),
        WordRule(
            name: "traps", scope: ["Sources"],
            needles: [
                Needle("try!"), Needle("as!"), Needle("fatalError("), Needle("assertionFailure("),
            ],
            remedy: "a precondition with a sentence for our own bug, a typed error for all else"),
        WordRule(
            name: "printing", scope: ["Sources"],
            needles: ["print(", "debugPrint(", "dump(", "NSLog("].map { Needle($0, isFree: true) },
            remedy: "log through swift-log in the daemon; write to the descriptor in reactorctl"),
        WordRule(
            name: "clocks, threads, tasks and chance in the server and the cluster",
            scope: ["Sources/ReactorServer", "Sources/ReactorCluster"],
            needles: [
                Needle("ContinuousClock"), Needle("SuspendingClock"), Needle("Date("),
                Needle("DispatchQueue"), Needle("DispatchTime"), Needle("clock_gettime("),
                Needle("Thread"), Needle("Lock"), Needle("Mutex"), Needle("Task"), Needle("await"),
                Needle("actor"), Needle(".random(in"), Needle(".randomElement("),
                Needle(".shuffled("),
                Needle("SystemRandomNumberGenerator"), Needle("UUID("),
            ],
            remedy: "a pure machine is handed ticks, identifiers and bytes, and returns outputs"),
        WordRule(
            name: "clocks, threads and chance on the wire", scope: ["Sources/ReactorWire"],
            needles: [
                Needle("ContinuousClock"), Needle("SuspendingClock"), Needle("Date("),
                Needle("Thread"), Needle("Task"), Needle("await"), Needle(".random(in"),
            ],
            remedy: "the wire is a function of its bytes"),
        WordRule(
            name: "re-exports", scope: ["Sources"], needles: [Needle("@_exported")],
            allowed: ["Sources/ReactorCore": "an author imports one module"],
            remedy: "import the module where its types are used"),
        WordRule(
            name: "waiting in tests", scope: ["Tests"],
            // Only free functions: a reactor under test may wait on the clock that the test
            // advances.
            needles: [
                Needle("sleep(", isFree: true), Needle("Task.sleep("), Needle("Thread.sleep("),
                Needle("ContinuousClock().sleep("), Needle("usleep("), Needle("nanosleep("),
            ],
            remedy: "await the event itself, or turn a manual clock"),
    ]
}

/// Words that comments must not contain.
enum Reminders {
    /// Reminders, which are never followed up.
    static let needles = [Needle("TODO"), Needle("FIXME"), Needle("XXX"), Needle("HACK")]
}

/// Names that say nothing about a type's purpose.
enum HollowNames {
    /// Suffixes of such names.
    static let suffixes = ["Manager", "Helper", "Helpers", "Util", "Utils", "Base", "Impl"]
}

/// Names that say what a thing resembles instead of its role, or that another library has taken.
enum ForeignNames {
    /// Words that a type's name does not contain.
    static let metaphors: Set = [
        "Board", "Clerk", "Deed", "Desk", "Ears", "Lane", "Mood", "Parcel", "Patience", "Place",
        "Room", "Scribe", "Shelf", "Tally", "Voice",
    ]
    /// Words with which a function's name does not begin.
    static let verbs: Set = ["spoil", "tell"]
    /// Whole names that programs and other libraries use for types of their own.
    static let taken: Set = ["Ask", "Context", "Group"]
}
