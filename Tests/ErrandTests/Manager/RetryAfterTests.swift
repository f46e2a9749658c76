import Errand
import Foundation
import Testing

@testable import Errand

@Suite struct RetryAfterTests {
  @Test(arguments: [("0", 0), ("120", 120), (" 7 ", 7)])
  func `seconds are taken as they are`(value: String, seconds: Int) {
    #expect(RetryAfter.delay(in: [.retryAfter: value]) == .seconds(seconds))
  }

  @Test func `a date is counted from the response's own date`() {
    let headers: HTTPHeaders = [
      "Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After": "Sun, 06 Nov 1994 08:51:07 GMT",
    ]
    #expect(RetryAfter.delay(in: headers) == .seconds(90))
  }

  @Test func `a date without the response's own is counted from now`() {
    let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT
    #expect(RetryAfter.delay(in: [.retryAfter: "Sun, 06 Nov 1994 08:49:47 GMT"], now: now) == .seconds(10))
  }

  @Test func `a date that has passed asks for no wait`() {
    let headers: HTTPHeaders = [
      "Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After": "Sun, 06 Nov 1994 08:49:36 GMT",
    ]
    #expect(RetryAfter.delay(in: headers) == .zero)
  }

  @Test(arguments: ["", "-1", "1.5", "soon", "1e3", "Sun, 06 Nov", "99999999999999999999", "NaN"])
  func `nonsense asks for nothing`(value: String) {
    #expect(RetryAfter.delay(in: [.retryAfter: value]) == nil)
  }

  @Test func `without the header nothing is asked for`() { #expect(RetryAfter.delay(in: [:]) == nil) }
}
