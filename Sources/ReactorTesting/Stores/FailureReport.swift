import ReactorThreads

#if canImport(Testing)
    import Testing
#endif

/// The destination of a test's failures.
public struct FailureReport: Sendable {
    private let handler: @Sendable (String, CodeLocation) -> Void

    /// Sends failures to `handler`, for example into another test framework.
    public init(_ handler: @escaping @Sendable (String, CodeLocation) -> Void) {
        self.handler = handler
    }

    /// Records failures as issues of the running test, with Swift Testing.
    ///
    /// *Traps*: at the first failure, if this library was built without Swift Testing.
    public static let standard = FailureReport { text, location in
        #if canImport(Testing)
            Issue.record(
                Comment(rawValue: text),
                sourceLocation: SourceLocation(
                    fileID: location.fileID, filePath: location.filePath, line: location.line,
                    column: location.column))
        #else
            preconditionFailure("\(location.fileID):\(location.line): \(text)")
        #endif
    }

    func callAsFunction(_ text: String, at location: CodeLocation) { handler(text, location) }
}

/// A location in a test's source.
public struct CodeLocation: Sendable, Equatable {
    /// Module and file, from `#fileID`.
    public var fileID: String
    /// The file, from `#filePath`.
    public var filePath: String
    /// Line, from 1.
    public var line: Int
    /// Column, from 1.
    public var column: Int

    /// Creates a location from the values of the compiler's literals.
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
