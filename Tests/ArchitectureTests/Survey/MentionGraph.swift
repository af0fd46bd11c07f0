/// The files of a target, and which of them name types that others declare.
struct MentionGraph {
    /// The names of the files, or folders, in the order of their paths.
    let nodes: [String]
    /// For each node, the indices in `nodes` of the nodes it leads to, each with a name that leads
    /// there.
    let edges: [[Int: String]]
    /// The folder of each node.
    private let folderNames: [String]

    private init(nodes: [String], edges: [[Int: String]], folderNames: [String]) {
        self.nodes = nodes
        self.edges = edges
        self.folderNames = folderNames
    }

    /// Resolves the names in the files of one target.
    init(_ files: [ParsedFile]) {
        let files = files.sorted { $0.file.path < $1.file.path }
        var homes: [String: Int] = [:]
        var placeholders: [String: Set<String>] = [:]
        for (index, file) in files.enumerated() {
            for piece in file.pieces where !piece.isExtension && !piece.isPrivate {
                homes[piece.name] = index
            }
            placeholders.merge(file.placeholders) { $0.union($1) }
        }
        nodes = files.map(\.file.name)
        folderNames = files.map(\.file.folder)
        edges = files.enumerated().map { index, file in
            // Types that only this file sees hide those of the same name elsewhere.
            let hidden = Set(file.pieces.filter(\.isPrivate).map(\.name))
            var found: [Int: String] = [:]
            for mention in file.mentions {
                for name in Self.resolve(
                    mention, in: file.file.room, homes: homes, hidden: hidden,
                    placeholders: placeholders)
                {
                    if let home = homes[name], home != index {
                        found[home] = min(found[home] ?? name, name)
                    }
                }
            }
            return found
        }
    }

    /// The full names of the target's types that a mention leads through.
    private static func resolve(
        _ mention: ParsedFile.Mention, in room: String, homes: [String: Int],
        hidden: Set<String>, placeholders: [String: Set<String>]
    ) -> [String] {
        var names = mention.names[...]
        if names.first == room { names = names.dropFirst() }
        guard let first = names.first else { return [] }
        var context = mention.context.split(separator: ".").map(String.init)[...]
        while true {
            let around = context.joined(separator: ".")
            if placeholders[around]?.contains(first) == true { return [] }
            let start = around.isEmpty ? first : "\(around).\(first)"
            if hidden.contains(start) { return [] }
            if homes[start] != nil {
                var found = [start]
                for name in names.dropFirst() {
                    guard let last = found.last, homes["\(last).\(name)"] != nil else { break }
                    found.append("\(last).\(name)")
                }
                return found
            }
            guard context.popLast() != nil else { return [] }
        }
    }

    /// The groups of nodes that lead to each other in a cycle, largest first.
    var cycles: [[Int]] { Cycles.find(in: edges.map { $0.keys.sorted() }) }

    /// The edges within a cycle, with the name that leads along each.
    func description(of cycle: [Int]) -> String {
        cycle.flatMap { node in
            edges[node].filter { cycle.contains($0.key) }.sorted { $0.key < $1.key }
                .map { "\(nodes[node]) -> \(nodes[$0.key]) (\($0.value))" }
        }
        .joined(separator: ", ")
    }

    /// The folders of the target, which lead to each other as their files do.
    ///
    /// The files outside of all folders are one node, if there are folders.
    var folders: MentionGraph {
        let names = Set(folderNames).sorted()
        let places = folderNames.map { name in names.firstIndex(of: name) ?? 0 }
        var leads: [[Int: String]] = names.map { _ in [:] }
        for (index, edges) in edges.enumerated() {
            for (target, name) in edges.sorted(by: { $0.key < $1.key })
            where places[index] != places[target] {
                let isKnown = leads[places[index]][places[target]] != nil
                if !isKnown { leads[places[index]][places[target]] = "\(nodes[index]): \(name)" }
            }
        }
        return MentionGraph(
            nodes: names.map { $0.isEmpty ? "(top)" : $0 }, edges: leads, folderNames: names)
    }
}

/// Strongly connected components of more than one node, by Tarjan's algorithm.
struct Cycles {
    private let edges: [[Int]]
    private var order: [Int?]
    private var low: [Int]
    private var stack: [Int] = []
    private var isOnStack: [Bool]
    private var count = 0
    private var found: [[Int]] = []

    private init(_ edges: [[Int]]) {
        self.edges = edges
        order = Array(repeating: nil, count: edges.count)
        low = Array(repeating: 0, count: edges.count)
        isOnStack = Array(repeating: false, count: edges.count)
    }

    /// Returns the cycles of a graph, largest first; node `i` leads to `edges[i]`.
    static func find(in edges: [[Int]]) -> [[Int]] {
        var search = Cycles(edges)
        for node in edges.indices where search.order[node] == nil { search.visit(node) }
        return search.found.map { $0.sorted() }.sorted { ($1.count, $0[0]) < ($0.count, $1[0]) }
    }

    private mutating func visit(_ node: Int) {
        order[node] = count
        low[node] = count
        count += 1
        stack.append(node)
        isOnStack[node] = true
        for next in edges[node] {
            if let place = order[next] {
                if isOnStack[next] { low[node] = min(low[node], place) }
            } else {
                visit(next)
                low[node] = min(low[node], low[next])
            }
        }
        guard low[node] == order[node] else { return }
        var component: [Int] = []
        while let last = stack.popLast() {
            isOnStack[last] = false
            component.append(last)
            if last == node { break }
        }
        if component.count > 1 { found.append(component) }
    }
}
