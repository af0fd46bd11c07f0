import ReactorThreads

#if canImport(Testing)
    import Testing
#endif

/// Where what goes wrong in a test is told.
public struct FailureReport: Sendable {
    private let tell: @Sendable (String, CodePlace) -> Void

    /// Tells failures to `tell`: the way into another test framework.
    public init(_ tell: @escaping @Sendable (String, CodePlace) -> Void) { self.tell = tell }

    /// Records an issue of the test that is under way, with Swift Testing.
    ///
    /// *Traps*: at the first failure, where this library was built without Swift Testing.
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
    /// Module and file, as `#fileID` says.
    public var fileID: String
    /// The file, as `#filePath` says.
    public var filePath: String
    /// Line, from 1.
    public var line: Int
    /// Column, from 1.
    public var column: Int

    /// Makes a place of what the compiler says about it.
    public init(fileID: String, filePath: String, line: Int, column: Int) {
        self.fileID = fileID
        self.filePath = filePath
        self.line = line
        self.column = column
    }
}

/// Keeps failures instead of telling them: for tests that expect some.
public final class FailureLog: Sendable {
    private let kept = Guarded<[String]>([])

    /// Makes an empty log.
    public init() {}

    /// The failures so far, in order.
    public var texts: [String] { kept.withLock { $0 } }

    /// The report that ends up here.
    public var report: FailureReport {
        FailureReport { [self] text, _ in kept.withLock { $0.append(text) } }
    }
}
