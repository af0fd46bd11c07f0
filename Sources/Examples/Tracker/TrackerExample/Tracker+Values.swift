public import ReactorCore

extension Tracker {
    /// What a list says of an issue.
    @WireCodable
    public struct Line: Equatable, Sendable {
        /// What the issue is about.
        public var title: String
        /// Whether there is work to do.
        public var isOpen = true
    }

    /// What was looked for, and what was found.
    @WireCodable
    public struct Search: Equatable, Sendable {
        /// What was looked for.
        public var text: String
        /// The open issues with that in their titles, the oldest first; nil until they are known.
        public var numbers: [Int]?
    }
}

extension Tracker.State {
    /// The numbers of all issues, the oldest first.
    public var numbers: [Int] { lines.keys.sorted() }

    /// The numbers of the open issues with `text` in their titles.
    func open(with text: String) -> [Int] {
        numbers.filter { number in
            guard let line = lines[number], line.isOpen else { return false }
            return line.title.lowercased().contains(text.lowercased())
        }
    }
}

extension String {
    /// Refuses a text that says nothing, or too much.
    func check(_ what: String) throws(Rejection) {
        guard !allSatisfy(\.isWhitespace), count <= 1_000 else {
            throw Rejection("bad_text", "\(what) has 1 to 1,000 characters")
        }
    }
}
