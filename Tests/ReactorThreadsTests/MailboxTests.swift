import ReactorThreads
import Testing

@Suite struct MailboxTests {
    @Test("the bell rings for the first element, and then only after the queue was emptied")
    func ringsWhenEmptyOnly() {
        let rings = Counter()
        let mailbox = Mailbox<Int> { rings.increment() }
        mailbox.post(1)
        mailbox.post(2)
        #expect(rings.value == 1)
        #expect(mailbox.drain() == [1, 2])
        #expect(mailbox.drain() == [])
        mailbox.post(3)
        #expect(rings.value == 2)
        #expect(mailbox.drain() == [3])
    }

    @Test("draining into an emptied array gives its capacity to the next posts")
    func drainsBySwapping() {
        let mailbox = Mailbox<Int> {}
        var taken: [Int] = []
        taken.reserveCapacity(1_000)
        mailbox.drain(into: &taken)
        #expect(taken.capacity == 0)
        mailbox.post(1)
        mailbox.drain(into: &taken)
        #expect(taken == [1])
        #expect(taken.capacity >= 1_000)
    }

    @Test("100,000 posts from 4 threads all arrive, in each thread's order")
    func losesNothing() throws {
        let bell = Bell()
        let mailbox = Mailbox<(thread: Int, number: Int)> { bell.ring() }
        let threads = try (0..<4).map { thread in
            try WorkThread(name: "post-\(thread)") {
                for number in 0..<25_000 { mailbox.post((thread, number)) }
            }
        }
        var next = [0, 0, 0, 0]
        while next.reduce(0, +) < 100_000 {
            bell.wait()
            for (thread, number) in mailbox.drain() {
                #expect(number == next[thread])
                next[thread] += 1
            }
        }
        for thread in threads { thread.join() }
        #expect(next == [25_000, 25_000, 25_000, 25_000])
        #expect(mailbox.drain().isEmpty)
    }
}
