/// Commands and messages of Redis's protocol, as bytes.
enum RedisCommand {
    /// Encodes a command as clients send it: an array of strings.
    static func bytes(_ words: String...) -> [UInt8] {
        var text = "*\(words.count)\r\n"
        for word in words { text += "$\(word.utf8.count)\r\n\(word)\r\n" }
        return Array(text.utf8)
    }

    static let increment = bytes("INCR", "counter")
    static let subscribe = bytes("SUBSCRIBE", "counter")
    /// Sends subscribers the content of a delta: the counter's increment.
    static let publish = bytes("PUBLISH", "counter", "1")
    static let ping = bytes("PING")
    /// Length of the reply to ``subscribe``, and of a message that ``publish`` causes.
    static let subscribedByteCount = "*3\r\n$9\r\nsubscribe\r\n$7\r\ncounter\r\n:1\r\n".utf8.count
    static let messageByteCount = bytes("message", "counter", "1").count
}
