import Glibc
import ReactorLoop
import Testing

@Suite("A process's environment")
struct ProcessEnvironmentTests {
    @Test("a variable's value is all text after the first equals sign")
    func environment() async {
        // In a separate process: other tests read the environment at the same time.
        await #expect(processExitsWith: .success) {
            unsafe setenv("REACTOR_PLACE_TEST", "a=b=", 1)
            #expect(ProcessEnvironment.environment["REACTOR_PLACE_TEST"] == "a=b=")
            unsafe unsetenv("REACTOR_PLACE_TEST")
            #expect(ProcessEnvironment.environment["REACTOR_PLACE_TEST"] == nil)
        }
    }

    @Test(
        "an absolute path is normalised",
        arguments: [
            ("/", "/"), ("//a///b/", "/a/b"), ("/a/./b/../c", "/a/c"), ("/../a", "/a"),
            ("/a/..", "/"), ("/ä b", "/ä b"),
        ])
    func absolute(path: String, expected: String) throws {
        #expect(try ProcessEnvironment.absolute(path) == expected)
    }

    @Test("a relative path begins at the working directory")
    func relative() throws {
        let here = try ProcessEnvironment.absolute(".")
        #expect(here.hasPrefix("/") && !here.hasSuffix("."))
        #expect(try ProcessEnvironment.absolute("./x/") == (here == "/" ? "" : here) + "/x")
    }
}
