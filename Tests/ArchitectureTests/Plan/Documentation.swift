/// Public symbols that need no documentation comment, with the reason.
enum Documentation {
    /// Names that protocols of the tool chain require, which document their meaning.
    static let witnesses: Set = [
        "==", "<", "hash", "hashValue", "description", "debugDescription", "rawValue", "Element",
        "makeIterator", "makeAsyncIterator", "AsyncIterator", "next", "startIndex", "endIndex",
        "now", "sleep", "minimumResolution", "advanced", "duration", "enqueue", "wrappedValue",
        "projectedValue", "main", "init(rawValue", "init(arrayLiteral", "init(booleanLiteral",
        "init(dictionaryLiteral", "init(floatLiteral", "init(integerLiteral",
        "init(stringLiteral",
    ]

    /// Files whose public symbols still lack comments. A complete file must leave this list.
    static let owed: Set<String> = []
}
