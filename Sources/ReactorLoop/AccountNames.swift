import Glibc

/// Looks up users and groups by their names.
///
/// *Place*: the configuration names callers by it, at the start. *C*: `getpwnam_r`, `getgrnam_r`,
/// which may ask a directory service.
package enum AccountNames {
    private static let bufferBytes = 1 << 16

    /// The number of a user; nil if there is none of this name.
    package static func uid(ofUser name: String) -> UInt32? {
        var entry = unsafe passwd()
        var buffer = [CChar](repeating: 0, count: bufferBytes)
        var found: UnsafeMutablePointer<passwd>?
        let code = unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found)
        return unsafe code == 0 && found != nil ? entry.pw_uid : nil
    }

    /// The number of a group; nil if there is none of this name.
    package static func gid(ofGroup name: String) -> UInt32? {
        var entry = unsafe group()
        var buffer = [CChar](repeating: 0, count: bufferBytes)
        var found: UnsafeMutablePointer<group>?
        let code = unsafe getgrnam_r(name, &entry, &buffer, buffer.count, &found)
        return unsafe code == 0 && found != nil ? entry.gr_gid : nil
    }
}
