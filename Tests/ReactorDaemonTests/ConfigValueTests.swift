import ReactorWire
import Testing

@testable import ReactorDaemon

struct ConfigValueTests {
    private func value(_ yaml: String) throws -> WireValue? {
        let config = try DaemonConfig(
            yaml: "reactors: { v: { kind: k, option: \(yaml) } }", file: "r.yaml")
        return config.reactors[0].options["option"]
    }

    @Test(
        "plain scalars have the types of YAML 1.2",
        arguments: [
            ("", WireValue.null), ("~", .null), ("null", .null), ("true", .bool(true)),
            ("False", .bool(false)), ("0", .integer(0)), ("-12", .integer(-12)),
            ("+7", .integer(7)), ("007", .integer(7)), ("0x1f", .integer(31)),
            ("0o17", .integer(15)), ("9223372036854775807", .integer(9_223_372_036_854_775_807)),
            ("18446744073709551615", .integer(18_446_744_073_709_551_615)), ("1.5", .float(1.5)),
            ("1.", .float(1)),
            (".5", .float(0.5)), ("1e3", .float(1_000)), ("-.inf", .float(-.infinity)),
            (".inf", .float(.infinity)),
        ])
    func scalars(yaml: String, expected: WireValue) throws {
        #expect(try value(yaml) == expected)
    }

    @Test(
        "scalars that are special only in YAML 1.1 are text, and so are quoted ones",
        arguments: [
            ("yes", "yes"), ("NO", "NO"), ("on", "on"), ("12:30", "12:30"), ("1_000", "1_000"),
            ("2001-01-01", "2001-01-01"), ("'5'", "5"), ("\"true\"", "true"), ("''", ""),
            ("'~'", "~"), ("!!str 5", "5"), ("! 5", "5"), ("0b1", "0b1"), ("e5", "e5"),
            (".", "."), ("1.2.3", "1.2.3"), ("inf", "inf"),
        ])
    func text(yaml: String, expected: String) throws {
        #expect(try value(yaml) == .text(expected))
    }

    @Test(".nan is read as not a number")
    func notANumber() throws {
        guard case .float(let float) = try value(".nan") else {
            Issue.record("expected a float")
            return
        }
        #expect(float.isNaN)
    }

    @Test("lists, mappings, base64 and aliases are read to any depth")
    func collections() throws {
        #expect(try value("[1, [x], {}]") == [1, ["x"], [:]])
        #expect(try value("{ a: 1, b: { c: [] } }") == ["a": 1, "b": ["c": []]])
        #expect(try value("!!binary aGk=") == .bytes([0x68, 0x69]))
        #expect(try value("[&x [1], *x]") == [[1], [1]])
    }

    @Test(
        "an invalid value is reported with its location",
        arguments: [
            ("18446744073709551616", "reactors.v.option: expected an integer of 64 bits"),
            ("[1, 0x1ffffffffffffffff]", "reactors.v.option[1]: expected an integer of 64 bits"),
            ("{ a: 99999999999999999999 }", "reactors.v.option.a: expected an integer"),
            ("!!binary '%'", "reactors.v.option: expected base64 after !!binary"),
            ("!!set {}", "reactors.v.option: tag \"tag:yaml.org,2002:set\" has no meaning here"),
            ("!Local x", "reactors.v.option: tag \"!Local\" has no meaning here"),
            ("{ <<: { a: 1 } }", "merge keys are not supported"),
        ])
    func impossible(yaml: String, message: String) {
        let lines = refusals("reactors: { v: { kind: k, option: \(yaml) } }")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("r.yaml:1:") == true)
        #expect(lines.first?.contains(message) == true, "\(lines)")
    }
}
