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
        /// The open issues with that in their titles, the oldest first, once they are known.
        public var found: AsyncLoad<[Int], LoadError> = .none
    }
}

extension Tracker.State {
    /// The numbers of all issues, the oldest first.
    public var numbers: [Int] { lines.keys.sorted() }

    /// What was found, for a terminal: a line for each issue.
    public var searchText: String {
        search.found.text(none: "look for something", loading: "looking for \(search.text) …") {
            numbers in
            guard !numbers.isEmpty else { return "nothing has \(search.text) in its title" }
            return numbers.map { "\($0) \(lines[$0]?.title ?? "")" }.joined(separator: "\n")
        }
    }

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
