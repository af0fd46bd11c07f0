import ReactorWire
import Testing

@testable import ReactorServer

/// The tokens of a user, tested without a server.
struct TokenBucketTests {
    private let second: UInt64 = 1_000_000_000

    @Test("a bucket begins full, may owe tokens, and fills at its rate up to its amount")
    func fills() {
        var bucket = TokenBucket(TokenRate(100, in: second), at: 5 * second)
        bucket.withdraw(60, at: 5 * second)
        #expect(bucket.level == 40 && !bucket.isEmpty && !bucket.isFull)
        bucket.withdraw(90, at: 5 * second)
        #expect(bucket.level == -50 && bucket.isEmpty)
        bucket.fill(at: 5 * second + second / 2)
        #expect(bucket.level == 0 && bucket.isEmpty)
        bucket.fill(at: 6 * second)
        #expect(bucket.level == 50)
        bucket.fill(at: 100 * second)
        #expect(bucket.level == 100 && bucket.isFull)
        // The time that a full bucket waits gives no tokens later.
        bucket.withdraw(100, at: 100 * second)
        bucket.fill(at: 100 * second + second / 10)
        #expect(bucket.level == 10)
    }

    @Test("its user may go on with tokens for ten milliseconds, at least one")
    func readyTime() {
        var quick = TokenBucket(TokenRate(5_000, in: second), at: 0)
        #expect(quick.readyTime == 0)
        quick.withdraw(6_000, at: 0)
        #expect(quick.readyTime == second / 5 + second / 100)
        var slow = TokenBucket(TokenRate(3, in: second), at: 0)
        slow.withdraw(3, at: 0)
        #expect(slow.readyTime == 333_333_334)
        slow.fill(at: slow.readyTime - 1)
        #expect(slow.level == 0)
        slow.fill(at: slow.readyTime)
        #expect(slow.level == 1 && slow.readyTime <= 333_333_334)
    }

    @Test("often filled or not, no more tokens are given than the rate has, and none is lost")
    func steps() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<200 {
            let rate = TokenRate(
                Int.random(in: 1...1_000_000, using: &random),
                in: UInt64.random(in: 1...3_600_000_000_000, using: &random))
            var (bucket, now) = (TokenBucket(rate, at: 0), UInt64(0))
            bucket.withdraw(2_000_000_000, at: 0)
            let start = bucket.level
            for _ in 0..<50 {
                now += UInt64.random(in: 1...5_000_000, using: &random)
                bucket.fill(at: now)
            }
            let exact = Double(now) * Double(rate.amount) / Double(rate.nanoseconds)
            let given = Double(bucket.level - start)
            if bucket.isFull { continue }
            // Each of the 50 fills may round its time up by less than a nanosecond.
            let lost = 50 * Double(rate.amount) / Double(rate.nanoseconds) + 1
            #expect(given <= exact && given >= exact - lost, "\(rate) in \(now): \(given)")
        }
    }

    @Test("the largest rates and times do not overflow")
    func extremes() {
        var bucket = TokenBucket(TokenRate(.max, in: 1), at: 0)
        bucket.withdraw(.max, at: 0)
        bucket.fill(at: .max)
        #expect(bucket.isFull)
        var slow = TokenBucket(TokenRate(1, in: .max), at: 0)
        slow.withdraw(1_000, at: 0)
        #expect(slow.readyTime > 1 << 60)
        slow.fill(at: .max / 2)
        #expect(slow.level == -999)
    }

    @Test("another rate keeps what is owed, and a full bucket full")
    func change() {
        var bucket = TokenBucket(TokenRate(100, in: second), at: 0)
        bucket.change(to: TokenRate(300, in: second), at: 0)
        #expect(bucket.level == 300 && bucket.isFull)
        bucket.withdraw(400, at: 0)
        bucket.change(to: TokenRate(10, in: second), at: 0)
        #expect(bucket.level == -100)
        bucket.fill(at: second)
        #expect(bucket.level == -90)
    }
}
