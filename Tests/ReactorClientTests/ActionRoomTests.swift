import ReactorThreads
import Testing

@testable import ReactorClient

@Suite("ActionRoom", .timeLimit(.minutes(10)))
struct ActionRoomTests {
    /// Enters in a task, and returns once that waits.
    private func waiter(
        _ room: ActionRoom, _ byteCount: Int, _ entered: Notes<Int>
    ) async -> Task<Bool, Never> {
        let count = room.waitingCount
        let task = Task {
            let isIn = await room.enter(byteCount)
            if isIn { entered.add(byteCount) }
            return isIn
        }
        while room.waitingCount == count { await Task.yield() }
        return task
    }

    @Test("who finds no room waits, first come first served")
    func order() async {
        let room = ActionRoom(bytesMax: 10)
        let entered = Notes<Int>()
        #expect(room.tryEnter(6))
        let large = await waiter(room, 8, entered)
        let small = await waiter(room, 2, entered)
        // because the small one would fit, but has come later
        #expect(entered.all == [])
        room.leave(6)
        #expect(await large.value)
        #expect(await small.value)
        #expect(!room.tryEnter(1))
        room.leave(2)
        room.leave(8)
        #expect(room.tryEnter(10))
    }

    @Test("nobody overtakes who waits")
    func queue() async {
        let room = ActionRoom(bytesMax: 10)
        let entered = Notes<Int>()
        #expect(room.tryEnter(6))
        let large = await waiter(room, 8, entered)
        #expect(!room.tryEnter(1))
        room.leave(6)
        #expect(await large.value)
        #expect(room.tryEnter(1))
    }

    @Test("what is larger than all the room passes alone")
    func oversized() async {
        let room = ActionRoom(bytesMax: 10)
        let entered = Notes<Int>()
        #expect(room.tryEnter(99))
        let next = await waiter(room, 1, entered)
        room.leave(99)
        #expect(await next.value)
    }

    @Test("who is cancelled takes no room")
    func cancellation() async {
        let room = ActionRoom(bytesMax: 10)
        let entered = Notes<Int>()
        #expect(room.tryEnter(6))
        let waiting = await waiter(room, 8, entered)
        waiting.cancel()
        #expect(await !waiting.value)
        room.leave(6)
        #expect(room.tryEnter(10))
    }

    @Test("when the first in line is cancelled, those behind who fit come in")
    func cancelledFirst() async {
        let room = ActionRoom(bytesMax: 10)
        let entered = Notes<Int>()
        #expect(room.tryEnter(6))
        let large = await waiter(room, 8, entered)
        let small = await waiter(room, 2, entered)
        large.cancel()
        #expect(await small.value)
        #expect(await !large.value)
    }

    @Test("a cancellation that meets the admission leaves no room taken")
    func race() async {
        let room = ActionRoom(bytesMax: 10)
        let entered = Notes<Int>()
        for _ in 0..<200 {
            #expect(room.tryEnter(10))
            let waiting = await waiter(room, 10, entered)
            async let left: Void = room.leave(10)
            waiting.cancel()
            await left
            if await waiting.value { room.leave(10) }
            #expect(room.tryEnter(10))
            room.leave(10)
        }
    }
}
