/// The facts about a Swift file that the rules take from the compiler's own parser.
struct ParsedFile: Sendable {
    /// A declaration or an extension of a type in one file.
    struct Piece: Sendable {
        /// The introducing keyword: `struct`, `class`, `extension` and so on.
        let keyword: String
        /// The name with the types around it: `Outer.Inner`.
        let name: String
        /// First line, counted from 0.
        let line: Int
        /// Lines from the first to the last, including nested types.
        let lineCount: Int
        /// Whether other targets see the type.
        let isVisible: Bool
        /// Whether the type is a program, or a command of one.
        let isCommand: Bool
        /// Whether only this file sees the type.
        let isPrivate: Bool
        /// Whether the header suppresses `Copyable`.
        let isNoncopyable: Bool
        /// Whether an extension adds a conformance, or holds only under a condition.
        let isConditional: Bool
        var stored: [Stored] = []
        var functions: [Function] = []
        /// Number of choices in its functions and accessors: `if`, `guard`, `switch`, loops,
        /// `catch`, the conditional operator.
        var branchCount = 0

        var isExtension: Bool { keyword == "extension" }
    }

    /// A stored property of an instance.
    struct Stored: Equatable, Sendable {
        let name: String
        /// Whether other types of the target can set the property.
        ///
        /// False for `private`, `private(set)` or the same with `fileprivate`, for constants, for
        /// callbacks, which an owner sets, and for `@usableFromInline`, since inlined functions
        /// cannot use private declarations.
        let isOpen: Bool
        /// Line, counted from 0.
        let line: Int
    }

    /// A function, an initializer or a subscript.
    struct Function: Sendable {
        /// The base name; `init` and `subscript` for these.
        let name: String
        /// The argument labels: `_:at:`.
        let labels: String
        let isOverride: Bool
        /// Line, counted from 0.
        let line: Int

        /// Whether the language or a superclass prescribes the name.
        var isSpecial: Bool { isOverride || name == "init" || name == "subscript" }
    }

    /// Names with a capital initial, joined by dots, such as `Outer.Inner`.
    struct Mention: Hashable, Sendable {
        let names: [String]
        /// The type whose declaration or extension contains the names; empty at the top.
        let context: String
    }

    let file: SourceFile
    let pieces: [Piece]
    /// Functions outside any type.
    let functions: [Function]
    let mentions: Set<Mention>
    /// Generic parameters and associated types by the type that declares them.
    let placeholders: [String: Set<String>]
    /// Declarations that are `public` or `open`.
    let publicCount: Int
    /// Modules whose declarations this file shows to importers of its own module.
    let reexports: [String]

    /// Lines of text.
    var lineCount: Int { file.lines.count - (file.lines.last == "" ? 1 : 0) }
}
