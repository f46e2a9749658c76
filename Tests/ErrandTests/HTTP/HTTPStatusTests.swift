import Errand
import Testing

@Suite(.timeLimit(.minutes(1))) struct HTTPStatusTests {
  @Test(arguments: [
    (200, "200 OK"), (404, "404 Not Found"), (511, "511 Network Authentication Required"), (299, "299"), (599, "599"),
    (600, "600"), (999, "999"), (0, "0"), (-1, "-1"), (.max, "\(Int.max)"),
  ])
  func `describes a status by its code and any reason phrase`(code: Int, expected: String) {
    #expect("\(HTTPStatus(code))" == expected)
  }
}
