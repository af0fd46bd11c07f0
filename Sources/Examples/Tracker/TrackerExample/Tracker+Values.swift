public import ReactorCore

extension Tracker {
    /// An issue in a list.
    @WireCodable
    public struct Line: Equatable, Sendable {
        /// The issue's title.
        public var title: String
        /// Whether the issue is open.
        public var isOpen = true
    }

    /// A search and its result.
    @WireCodable
    public struct Search: Equatable, Sendable {
        /// The text to find.
        public var text: String
        /// The open issues with the text in their titles, the oldest first, once the search has
        /// run.
        public var found: AsyncLoad<[Int], LoadError> = .none
    }
}

extension Tracker.State {
    /// The numbers of all issues, the oldest first.
    public var numbers: [Int] { lines.keys.sorted() }

    /// The result for a terminal, one line for each issue.
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
    /// Rejects a text that is blank or longer than 1,000 characters.
    func check(_ what: String) throws(Rejection) {
        guard !allSatisfy(\.isWhitespace), count <= 1_000 else {
            throw Rejection("bad_text", "\(what) has 1 to 1,000 characters")
        }
    }
}
