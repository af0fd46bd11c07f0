import Glibc
import Testing

@testable import ReactorThreads

@Suite struct WorkThreadTests {
    @Test("join returns after the closure has, and the closure ran on another thread")
    func joins() throws {
        let seen = Mailbox<pthread_t> {}
        let thread = try WorkThread(name: "worker") { seen.post(pthread_self()) }
        thread.join()
        let threads = seen.drain()
        #expect(threads.count == 1)
        #expect(threads.first != pthread_self())
    }

    @Test(
        "the system shows the first 15 bytes of the name",
        arguments: ["journal", "reactor-journal-writer"])
    func isNamed(_ name: String) throws {
        let seen = Mailbox<String> {}
        let thread = try WorkThread(name: name) {
            var bytes = [UInt8](repeating: 0, count: 64)
            let file = unsafe open("/proc/thread-self/comm", O_RDONLY)
            let count = unsafe read(file, &bytes, bytes.count)
            close(file)
            seen.post(String(decoding: bytes[..<max(count, 0)], as: UTF8.self))
        }
        thread.join()
        #expect(seen.drain() == [String(name.prefix(15)) + "\n"])
        #expect(thread.name == name)
    }

    @Test("a thread that is released without a join runs to its end")
    func runsDetached() throws {
        let bell = Bell()
        _ = try WorkThread(name: "detached") { bell.ring() }
        bell.wait()
    }

    @Test("joining twice traps")
    func trapsOnSecondJoin() async {
        await #expect(processExitsWith: .failure) {
            let thread = try WorkThread(name: "twice") {}
            thread.join()
            thread.join()
        }
    }

    @Test("a thread in the background has a nice value, and leaves that of others")
    func background() throws {
        let seen = Mailbox<Int32> {}
        for isInBackground in [true, false] {
            let thread = try WorkThread(name: "nice", isInBackground: isInBackground) {
                seen.post(getpriority(.init(PRIO_PROCESS.rawValue), 0))
            }
            thread.join()
        }
        let own = getpriority(.init(PRIO_PROCESS.rawValue), 0)
        let raised = max(own, WorkThread.backgroundNice)
        #expect(seen.drain() == [raised, own])
    }

    @Test("an error names the thread and the reason")
    func describesItself() {
        let error = WorkThreadError(name: "journal", code: EAGAIN)
        #expect(error.description.hasPrefix("pthread_create of thread journal: Resource"))
    }
}
