import ReactorLoop
import ReactorThreads
import Testing

@Suite struct LoopHandleTests {
    @Test("100,000 posts from 4 threads all run on the loop, in each thread's order, in few turns")
    func losesNoPost() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let handle = loop.handle
        let progress = Confined(Progress())
        let threads = try (0..<4).map { thread in
            try WorkThread(name: "post-\(thread)") {
                for number in 0..<25_000 {
                    handle.post { progress.open().note(number, of: thread, on: handle) }
                }
            }
        }
        try loop.turn { progress.open().next == [25_000, 25_000, 25_000, 25_000] }
        for thread in threads { thread.join() }
        #expect(progress.open().isInOrder)
        #expect(progress.open().isOnLoop)
        #expect(loop.turnCount < 100_000)
    }

    @Test("jobs that post others share a turn, which ends even if they post without end")
    func postsFromWithin() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let handle = loop.handle
        let log = Mailbox<String> {}
        loop.onTurnEnd = { log.post("end") }
        @Sendable func step(_ number: Int) {
            log.post("\(number)")
            if number < 20 { handle.post { step(number + 1) } }
        }
        handle.post { step(1) }
        loop.turn(.wait)
        #expect(log.drain() == (1...16).map { "\($0)" } + ["end"])
        loop.turn(.wait)
        #expect(log.drain() == ["17", "18", "19", "20", "end"])
    }

    @Test("a handle recognises its loop's thread only inside a turn")
    func knowsItsThread() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let handle = loop.handle
        #expect(!handle.isOnLoop)
        let answers = Mailbox<Bool> {}
        handle.post { answers.post(handle.isOnLoop) }
        loop.turn(.wait)
        #expect(answers.drain() == [true])
        #expect(!handle.isOnLoop)
    }

    @Test("posting while the loop closes neither crashes nor loses an accepted job")
    func postsAgainstClose() throws {
        for _ in 0..<50 {
            let loop = try EventLoop()
            let handle = loop.handle
            let ran = Mailbox<Int> {}
            let taken = Mailbox<Int> {}
            let thread = try WorkThread(name: "poster") {
                var number = 0
                while handle.post({ [number] in ran.post(number) }) {
                    taken.post(number)
                    number += 1
                }
            }
            loop.turn(.wait)
            loop.close()
            thread.join()
            #expect(ran.drain() == taken.drain())
        }
    }

    /// The jobs that have run so far; used on the loop's thread only.
    final class Progress {
        var next = [0, 0, 0, 0]
        var isInOrder = true
        var isOnLoop = true

        func note(_ number: Int, of thread: Int, on handle: LoopHandle) {
            isInOrder = isInOrder && next[thread] == number
            isOnLoop = isOnLoop && handle.isOnLoop
            next[thread] += 1
        }
    }
}
