import ReactorTesting
import Testing

/// Reproducible random numbers.
struct SeededRandomTests {
    @Test("the same seed gives the same numbers, another seed others")
    func repeatable() {
        var (first, second, other) = (
            SeededRandom(seed: 1), SeededRandom(seed: 1), SeededRandom(seed: 2)
        )
        let numbers = (0..<10).map { _ in first.next() }
        #expect(numbers == (0..<10).map { _ in second.next() })
        #expect(numbers != (0..<10).map { _ in other.next() })
        #expect(Set(numbers).count == 10)
    }
}
