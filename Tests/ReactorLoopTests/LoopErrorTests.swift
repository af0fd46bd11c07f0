import ReactorLoop
import Testing

@Suite struct LoopErrorTests {
    @Test(
        "each error names its subject, the finding and the remedy",
        arguments: [
            (
                LoopError.unsafeDirectory(path: "/d", .isWritableByOthers(mode: 0o777)),
                "socket directory /d has mode 0777, writable by group or others; chmod it to 0700"
            ),
            (
                .unsafeDirectory(path: "/d", .isOwnedBy(owner: 1, expected: 0)),
                "socket directory /d is owned by uid 1, expected 0"
            ),
            (
                .unsafeDirectory(path: "/d", .isMissing),
                "socket directory /d is missing; create it with mode 0700"
            ),
            (
                .unsafeSocketFile(path: "/s", .isNotASocket(kind: "fifo")),
                "socket path /s is a fifo, not a socket; not removed,"
                    + " choose another path or remove it by hand"
            ),
            (.alreadyRunning(lockPath: "/l", pid: 7), "already running pid 7, which holds /l"),
            (
                .alreadyRunning(lockPath: "/l", pid: nil),
                "already running (pid not written yet), which holds /l"
            ),
            (.loopIsClosed(subject: "timer"), "timer: the loop is closed"),
            (
                .fileInUse(path: "/f"),
                "/f is in use, by this process or another; end that first"
            ),
            (.unsafeFile(path: "/f"), "/f is not a regular file of ours alone; name another path"),
            (
                .notAListener(descriptor: 3),
                "descriptor 3 is not a listening Unix stream socket"
            ),
        ])
    func describes(_ error: LoopError, _ text: String) {
        #expect(error.description == text)
    }
}
