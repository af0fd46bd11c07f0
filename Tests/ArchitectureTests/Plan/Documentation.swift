/// Public symbols that need no comment of their own, and why.
enum Documentation {
    /// Names that protocols of the tool chain ask for: what they mean is written there.
    static let witnesses: Set = [
        "==", "<", "hash", "hashValue", "description", "debugDescription", "rawValue", "Element",
        "makeIterator", "makeAsyncIterator", "AsyncIterator", "next", "startIndex", "endIndex",
        "now", "sleep", "minimumResolution", "advanced", "duration", "enqueue", "wrappedValue",
        "projectedValue", "main", "init(rawValue", "init(arrayLiteral", "init(booleanLiteral",
        "init(dictionaryLiteral", "init(floatLiteral", "init(integerLiteral",
        "init(stringLiteral",
    ]

    /// Files in which comments are still owed; one that owes none must leave this list.
    static let owed: Set<String> = [
        "Sources/ReactorClient/ClientError.swift",
        "Sources/ReactorClient/LoopClient.swift",
        "Sources/ReactorCore/AnyNode.swift",
        "Sources/ReactorCore/Child.swift",
        "Sources/ReactorCore/CollectionNode.swift",
        "Sources/ReactorCore/Tree+Dispatch.swift",
        "Sources/ReactorCore/Tree+Effects.swift",
        "Sources/ReactorCore/Tree.swift",
        "Sources/ReactorCore/Turn.swift",
        "Sources/ReactorDaemon/DaemonConfig.swift",
        "Sources/ReactorServer/ServerStats.swift",
        "Sources/ReactorTesting/Simulation.swift",
        "Sources/ReactorWire/FrameHeader.swift",
        "Sources/ReactorWire/Outcome.swift",
        "Sources/ReactorWire/Requests.swift",
        "Sources/ReactorWire/WireMap.swift",
        "Sources/StockReactors/Lock.swift",
        "Sources/StockReactors/Map.swift",
        "Sources/StockReactors/Presence.swift",
        "Sources/StockReactors/Queue.swift",
    ]
}
