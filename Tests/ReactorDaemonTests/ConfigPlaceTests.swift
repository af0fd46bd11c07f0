import ReactorDaemon
import Testing

struct ConfigPlaceTests {
    @Test("a place is written so that an editor finds it, as far as it is known")
    func description() {
        #expect(ConfigPlace(file: "r.yaml", line: 3, column: 9).description == "r.yaml:3:9")
        #expect(ConfigPlace(file: "r.yaml", line: 3).description == "r.yaml:3")
        #expect(ConfigPlace(file: "r.yaml").description == "r.yaml")
    }
}
