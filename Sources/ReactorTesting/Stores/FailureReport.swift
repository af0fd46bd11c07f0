import ReactorThreads

#if canImport(Testing)
    import Testing
#endif

/// The destination of a test's failures.
public struct FailureReport: Sendable {
    private let tell: @Sendable (String, CodePlace) -> Void

    /// Sends failures to `tell`, for example into another test framework.
    public init(_ tell: @escaping @Sendable (String, CodePlace) -> Void) { self.tell = tell }

    /// Records failures as issues of the running test, with Swift Testing.
    ///
    /// *Traps*: at the first failure, if this library was built without Swift Testing.
    public static let standard = FailureReport { text, place in
        #if canImport(Testing)
            Issue.record(
                Comment(rawValue: text),
                sourceLocation: SourceLocation(
                    fileID: place.fileID, filePath: place.filePath, line: place.line,
                    column: place.column))
        #else
            preconditionFailure("\(place.fileID):\(place.line): \(text)")
        #endif
    }

    func callAsFunction(_ text: String, at place: CodePlace) { tell(text, place) }
}

/// A place in a test's source.
public struct CodePlace: Sendable, Equatable {
    /// Module and file, from `#fileID`.
    public var fileID: String
    /// The file, from `#filePath`.
    public var filePath: String
    /// Line, from 1.
    public var line: Int
    /// Column, from 1.
    public var column: Int

    /// Creates a place from the values of the compiler's literals.
    public init(fileID: String, filePath: String, line: Int, column: Int) {
        self.fileID = fileID
        self.filePath = filePath
        self.line = line
        self.column = column
    }
}

/// Collects failures without reporting them, for tests that expect failures.
public final class FailureLog: Sendable {
    private let kept = Guarded<[String]>([])

    /// Creates an empty log.
    public init() {}

    /// The failures so far, in order.
    public var texts: [String] { kept.withLock { $0 } }

    /// A report that appends to this log.
    public var report: FailureReport {
        FailureReport { [self] text, _ in kept.withLock { $0.append(text) } }
    }
}
