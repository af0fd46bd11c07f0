import Foundation
import TestPrograms
import Testing

@testable import ReactorJournal

@Suite("A new data directory")
struct NewDirectoryTests {
    let home = TestDirectory()

    @Test("a directory gets its name when its content is complete")
    func complete() throws {
        let source = try DataDirectory(at: home.path("data"))
        let path = home.path("copy")
        let isThere = try NewDirectory(at: path + "//", outside: source).fill {
            other throws(JournalError) in
            try other.makeFile("journal.one")
            return FileManager.default.fileExists(atPath: path)
        }
        #expect(!isThere && FileManager.default.fileExists(atPath: path + "/journal.one"))
        #expect(
            failure { _ = try NewDirectory(at: path, outside: source) }
                == .unusableDirectory(path: path, .isTaken))
    }

    @Test("a directory whose content fails is removed, and one that a crash left is replaced")
    func failed() throws {
        let source = try DataDirectory(at: home.path("data"))
        let path = home.path("copy")
        let refused = failure {
            try NewDirectory(at: path, outside: source).fill { other throws(JournalError) in
                try other.makeFile("journal.one")
                throw .moved(path: "here")
            }
        }
        #expect(refused == .moved(path: "here"))
        #expect(!FileManager.default.fileExists(atPath: path + ".partial"))
        do {
            let left = try DataDirectory(at: path + ".partial")
            try left.makeFile("snapshot-1.sqlite")
        }
        let names = try NewDirectory(at: path, outside: source).fill {
            other throws(JournalError) in try other.names()
        }
        #expect(names == [DataDirectory.lockName])
    }

    @Test("a directory inside the copied one is refused, and so is the file of another program")
    func refused() throws {
        let source = try DataDirectory(at: home.path("data"))
        let inside = home.path("data/copy")
        #expect(
            failure { _ = try NewDirectory(at: inside, outside: source) }
                == .unusableDirectory(path: inside, .isInside(source.path)))
        let path = home.path("copy")
        do { try DataDirectory(at: path + ".partial").makeFile("letters") }
        let taken = failure {
            try NewDirectory(at: path, outside: source).fill { _ throws(JournalError) in }
        }
        #expect(taken == .unusableDirectory(path: path + ".partial", .isTaken))
    }
}
