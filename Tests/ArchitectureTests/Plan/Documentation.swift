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
    static let owed: Set<String> = []
}
