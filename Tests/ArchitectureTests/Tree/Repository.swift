import Foundation

/// The tree this test was built from, read once.
struct Repository {
    /// The top folder, found from this file's own place.
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path(percentEncoded: false)
        .trimmingSuffix("/")

    /// The tree as it is now.
    static let current = Repository()

    /// Every file's path from the top, sorted; hidden folders of the top (build products, the
    /// history) are left out, except the one that holds the CI script.
    let paths: [String]
    /// Every Swift file of the rooms and their tests.
    let files: [SourceFile]
    /// What stands at the top, hidden entries left out.
    let topLevel: [String]

    private init() {
        let manager = FileManager.default
        let top = (try? manager.contentsOfDirectory(atPath: Self.root)) ?? []
        topLevel = top.filter { !$0.hasPrefix(".") && !Self.ignored.contains($0) }.sorted()
        paths = (topLevel + [".ci", ".gitignore"]).flatMap { entry -> [String] in
            let below = manager.enumerator(atPath: "\(Self.root)/\(entry)")
            return [entry] + (below?.compactMap { $0 as? String }.map { "\(entry)/\($0)" } ?? [])
        }
        .filter { path in
            let attributes = try? manager.attributesOfItem(atPath: "\(Self.root)/\(path)")
            return attributes?[.type] as? FileAttributeType == .typeRegular
                && path.split(separator: "/").allSatisfy { !Self.ignored.contains(String($0)) }
        }
        .sorted()
        files = paths.filter { $0.hasSuffix(".swift") && !$0.hasPrefix("Package") }
            .map { SourceFile(path: $0, text: Self.text(at: $0)) }
    }

    /// The Swift files of one wing: `Sources` or `Tests`.
    func files(in wing: String) -> [SourceFile] { files.filter { $0.wing == wing } }

    /// The text of the file at `path`, empty if it is no text or not there.
    static func text(at path: String) -> String {
        (try? String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)) ?? ""
    }

    // because a build or an editor leaves these behind, and .gitignore keeps them out of history
    private static let ignored: Set = [".build", ".swiftpm", "Package.resolved", "__pycache__"]
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
