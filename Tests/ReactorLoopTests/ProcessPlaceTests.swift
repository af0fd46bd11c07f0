import Glibc
import ReactorLoop
import Testing

@Suite("A process's place")
struct ProcessPlaceTests {
    @Test("a variable's value is all text after the first equals sign")
    func environment() {
        unsafe setenv("REACTOR_PLACE_TEST", "a=b=", 1)
        #expect(ProcessPlace.environment["REACTOR_PLACE_TEST"] == "a=b=")
        unsafe unsetenv("REACTOR_PLACE_TEST")
        #expect(ProcessPlace.environment["REACTOR_PLACE_TEST"] == nil)
    }

    @Test(
        "an absolute path is normalised",
        arguments: [
            ("/", "/"), ("//a///b/", "/a/b"), ("/a/./b/../c", "/a/c"), ("/../a", "/a"),
            ("/a/..", "/"), ("/ä b", "/ä b"),
        ])
    func absolute(path: String, expected: String) throws {
        #expect(try ProcessPlace.absolute(path) == expected)
    }

    @Test("a relative path begins at the working directory")
    func relative() throws {
        let here = try ProcessPlace.absolute(".")
        #expect(here.hasPrefix("/") && !here.hasSuffix("."))
        #expect(try ProcessPlace.absolute("./x/") == (here == "/" ? "" : here) + "/x")
    }
}
