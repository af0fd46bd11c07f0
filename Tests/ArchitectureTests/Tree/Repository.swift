import Foundation

/// The repository from which this test was built, read once.
struct Repository {
    /// The top folder, derived from this file's path.
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path(percentEncoded: false)
        .trimmingSuffix("/")

    static let current = Repository()

    /// The paths of all files from the top, sorted; without hidden folders at the top (build
    /// products, the git history), except the folder of the CI script.
    let paths: [String]
    /// All Swift files of the targets and their tests, except generated ones: a
    /// tool writes each file `X.pb.swift` from a description beside it, and it is not edited.
    let files: [SourceFile]
    /// The entries at the top, without hidden ones.
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
        files = paths.filter {
            $0.hasSuffix(".swift") && !$0.hasSuffix(".pb.swift") && !$0.hasPrefix("Package")
        }
        .map { SourceFile(path: $0, text: Self.text(at: $0)) }
    }

    /// The Swift files of a top folder: `Sources` or `Tests`.
    func files(in wing: String) -> [SourceFile] { files.filter { $0.wing == wing } }

    /// Returns the text of the file at `path`; empty if it is missing or not text.
    static func text(at path: String) -> String {
        (try? String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)) ?? ""
    }

    // Files of builds and editors, which .gitignore excludes too.
    private static let ignored: Set = [".build", ".swiftpm", "Package.resolved", "__pycache__"]
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
