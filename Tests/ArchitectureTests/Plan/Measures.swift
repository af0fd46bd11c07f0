/// The figures that the rules measure of every target in `Sources`, with the limit of each.
enum Measure: String, Sendable {
    /// Files of a target that declare or extend one type, its own or another's.
    case filesOfType
    /// Extensions of a type in its own target that only add members.
    case blocksOfType
    /// Stored properties of a class, an actor or a noncopyable struct.
    case storedProperties
    /// Stored properties of such a type that other types of the target can set.
    case openProperties
    /// Files of a target that name each other's types in a cycle.
    case filesInCycles
    /// Folders of a target whose files name each other's types in a cycle.
    case foldersInCycles
    /// Groups of types that give a function name different labels.
    case meanings
    /// Files that are too short to stand alone.
    case shortFiles
    /// Types with behaviour that no test names.
    case untestedTypes

    /// The limit for a target of `fileCount` files.
    func limit(fileCount: Int) -> Int {
        switch self {
        case .filesOfType: 3
        // Two for each file: a type with more subjects than that is more than one type.
        case .blocksOfType: 6
        case .storedProperties: 15
        case .filesInCycles: max(fileCount / 5, 2)
        case .meanings: 4
        case .openProperties, .foldersInCycles, .shortFiles, .untestedTypes: 0
        }
    }

    /// The remedy for a value above the limit.
    var remedy: String {
        switch self {
        case .filesOfType: "give a part of it its own type, with its state, instead of a slice"
        case .blocksOfType: "join the blocks of a file, or give a subject its own type"
        case .storedProperties: "move properties that change together into a type of their own"
        case .openProperties: "make them private, or private(set), and give the type a verb"
        case .filesInCycles: "move the type that closes the circle, or join the files"
        case .foldersInCycles: "move the file that leads back, so that folders lead one way"
        case .meanings: "give the other meanings verbs of their own"
        case .shortFiles: "join it with the file that uses it"
        case .untestedTypes:
            "test it, or name it in double backquotes above the suite that drives it"
        }
    }

    /// Lines below which a file is too short to stand alone.
    static let standingLinesMin = 30
    /// Number of choices in a type's code (`if`, `guard`, `switch`, loops and so on) from which on
    /// the type has behaviour to test.
    static let behaviourBranchesMin = 10
}
