#if os(Linux)
  import CCurl
  import Foundation
  import Testing

  @testable import Errand

  @Suite(.timeLimit(.minutes(1))) struct CurlHeaderListTests {
    private func content(
      _ headers: HTTPHeaders, sendsBody: Bool = false, decodesBody: Bool = false
    ) throws -> CurlHeaderList.Content {
      let url = try #require(URL(string: "https://shop.test/"))
      var request = HTTPRequest(.get, url, headers: headers)
      request.options.decodesBody = decodesBody
      return CurlHeaderList.Content(request, sendsBody: sendsBody)
    }

    private func lines(_ list: UnsafeMutablePointer<ccurl_slist>?) -> [String] {
      var lines: [String] = []
      var line = list
      while let present = line {
        if let text = present.pointee.data { lines.append(String(cString: text)) }
        line = present.pointee.next
      }
      return lines
    }

    private func makeHandle() throws -> CurlHandle {
      try #require(CurlLibrary.problem == nil)  // Loads libcurl.
      return CurlHandle(try #require(ccurl_easy_init()))
    }

    @Test func `reuses the header list for equal fields`() throws {
      let handle = try makeHandle()
      let first = handle.headerList(for: try content(["A": "1", "Accept": "b"]))
      #expect(handle.headerList(for: try content(["A": "1", "Accept": "b"])) == first)
      #expect(lines(first) == ["A: 1", "Accept: b"])
    }

    @Test func `drops every Expect field`() throws {
      var headers: HTTPHeaders = ["Expect": "100-continue", "A": "1"]
      headers.add("again", for: .expect)
      let list = CurlHeaderList(try content(headers))
      #expect(lines(list.pointer) == ["Expect: 100-continue", "A: 1", "Expect: again", "Accept:"])
      list.dropExpectation()
      #expect(lines(list.pointer) == ["Expect:", "A: 1", "Expect:", "Accept:"])
    }

    @Test func `overwrites only the trace context of the previous list`() throws {
      let handle = try makeHandle()
      func header(_ trace: String, _ value: String = "1") -> HTTPHeaders { ["A": value, "traceparent": trace] }
      let kept = try content(header("00-aa-01"))
      let first = handle.headerList(for: kept)
      #expect(handle.headerList(for: try content(header("00-bb-00"))) == first)
      #expect(lines(first) == ["A: 1", "traceparent: 00-bb-00", "Accept:"])
      #expect(handle.headerList(for: kept) == first && lines(first)[1] == "traceparent: 00-aa-01")
      let others = lines(handle.headerList(for: try content(header("00-cc-00", "2"))))
      #expect(others == ["A: 2", "traceparent: 00-cc-00", "Accept:"])
      for trace in ["00-cccc-00", "        "] {
        let line = trace.hasPrefix(" ") ? "traceparent;" : "traceparent: \(trace)"
        #expect(lines(handle.headerList(for: try content(header(trace, "2"))))[1] == line)
      }
      for (one, two) in [("1", "2"), ("3", "4")] {
        var twice = header(one)
        twice.add(two, for: .traceparent)
        let sent = lines(handle.headerList(for: try content(twice)))
        #expect(sent == ["A: 1", "traceparent: \(one)", "traceparent: \(two)", "Accept:"])
      }
    }

    @Test(arguments: [["a": "1"], ["A": "2"], ["A": "1", "B": "1"], [:]] as [HTTPHeaders])
    func `creates another header list for a different field, value or capitalization`(headers: HTTPHeaders) throws {
      let handle = try makeHandle()
      _ = handle.headerList(for: try content(["A": "1"]))
      let expected = headers.map { "\($0.name): \($0.value)" } + ["Accept:"]
      #expect(lines(handle.headerList(for: try content(headers))) == expected)
    }

    @Test func `reuses the header list for copied fields, but not for another body`() throws {
      let handle = try makeHandle()
      let headers: HTTPHeaders = ["A": "1", "Accept": "b"]
      let first = handle.headerList(for: try content(headers))
      #expect(handle.headerList(for: try content(headers)) == first)
      #expect(lines(handle.headerList(for: try content(headers, sendsBody: true))).count == 4)
      #expect(lines(handle.headerList(for: try content(headers))) == ["A: 1", "Accept: b"])
    }

    @Test func `adds the fields for a request body and for decompression to the list`() throws {
      let handle = try makeHandle()
      #expect(lines(handle.headerList(for: try content(["Accept": "b"]))) == ["Accept: b"])
      let upload = handle.headerList(for: try content(["Accept": "b"], sendsBody: true))
      #expect(lines(upload) == ["Accept: b", "Expect:", "Content-Type:"])
      let compressed = lines(handle.headerList(for: try content(["Accept": "b"], decodesBody: true)))
      #expect(compressed.count == 2 && compressed[1].hasPrefix("Accept-Encoding: "))
    }
  }
#endif
