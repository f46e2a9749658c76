#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// A request's header fields as a libcurl list, which libcurl reads during the request. A handle keeps its last list,
  /// because most requests to a server have the same fields.
  final class CurlHeaderList {
    struct Content {
      var fields: [HTTPHeaders.Field]
      var acceptEncoding: String?
      var trailers: String?
      var sendsBody = false
      var expectsContinue = false

      /// Whether both produce the same list, ignoring the value of `traceparent` if `isTraced`. Names are compared
      /// case-sensitively.
      func matches(_ other: Content, butForTrace isTraced: Bool) -> Bool {
        sendsBody == other.sendsBody && expectsContinue == other.expectsContinue
          && acceptEncoding == other.acceptEncoding && trailers == other.trailers
          && (isCopy(of: other)
            || fields.elementsEqual(other.fields) { mine, its in
              mine.name.rawName == its.name.rawName
                && (mine.value == its.value || (isTraced && mine.name == .traceparent && mine.isReplaceable(by: its)))
            })
      }

      /// Whether both share one array. This is the case for requests without their own header fields.
      private func isCopy(of other: Content) -> Bool {
        fields.withUnsafeBufferPointer { mine in
          other.fields.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress && mine.count == $0.count }
        }
      }
    }

    private let content: Content
    let pointer: UnsafeMutablePointer<ccurl_slist>?
    /// The value of `traceparent`, which changes with each request, or `nil` unless the header has exactly one.
    private let trace: UnsafeMutablePointer<CChar>?

    init(_ content: Content) {
      self.content = content
      pointer = content.block.withUnsafeBytes { bytes in
        ccurl_header_list(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
      }
      let isTraced = content.fields.count { $0.name == .traceparent } == 1
      var line = pointer
      trace = isTraced ? Self.value(of: "traceparent: ", from: &line) : nil
    }

    deinit { ccurl_header_list_free(pointer) }

    /// Whether the list can be used for `other`. Updates the value of `traceparent`, the only field that usually
    /// differs between requests to a server. The previous request must have ended.
    func serves(_ other: Content) -> Bool {
      guard content.matches(other, butForTrace: trace != nil) else { return false }
      guard let trace, var value = other.fields.first(where: { $0.name == .traceparent })?.value else { return true }
      value.withUTF8 { bytes in
        if let start = bytes.baseAddress { memcpy(trace, start, bytes.count) }
      }
      return true
    }

    func dropExpectation() {
      var line = pointer
      // libcurl omits the field if the list has an empty "Expect:".
      while let value = Self.value(of: "Expect:", from: &line) { value.pointee = 0 }
    }

    /// Returns the text after `start` in the next matching line and advances `line` past that line.
    private static func value(
      of start: String, from line: inout UnsafeMutablePointer<ccurl_slist>?
    ) -> UnsafeMutablePointer<CChar>? {
      while let present = line {
        line = present.pointee.next
        if let text = present.pointee.data, strncasecmp(text, start, start.utf8.count) == 0 {
          return text + start.utf8.count
        }
      }
      return nil
    }
  }

  extension CurlHeaderList.Content {
    init(_ request: HTTPRequest, sendsBody: Bool) {
      fields = request.headers.fields
      acceptEncoding = request.decompressesBody ? request.acceptEncoding : nil
      trailers = request.body.trailers?.announcement
      self.sendsBody = sendsBody
      expectsContinue = sendsBody && request.options.continueTimeout != nil && !request.body.isEmpty
    }

    /// The lines of the list, each followed by a NUL. Some lines only keep libcurl from adding its own fields.
    fileprivate var block: [UInt8] {
      var block: [UInt8] = []
      block.reserveCapacity(256)
      for field in isFirstAsByCurl ? fields.dropFirst() : fields[...] {
        // The transport sets the framing fields.
        if field.name == .contentLength || field.name == .transferEncoding { continue }
        if field.name == "Trailer", trailers != nil { continue }
        block.append(contentsOf: field.name.rawName.utf8)
        // libcurl omits a field that is written as "Name:" but sends "Name;" as a field without a value.
        let isBlank = field.value.utf8.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        block.append(contentsOf: isBlank ? ";".utf8 : ": ".utf8)
        if !isBlank { block.append(contentsOf: field.value.utf8) }
        block.append(0)
      }
      if let acceptEncoding {
        block.append(contentsOf: "Accept-Encoding: ".utf8)
        block.append(contentsOf: acceptEncoding.utf8)
        block.append(0)
      }
      if let trailers {
        block.append(contentsOf: "Trailer: ".utf8)
        block.append(contentsOf: trailers.utf8)
        block.append(0)
      }
      if !has(.accept) { block.append(contentsOf: "Accept:\0".utf8) }
      if expectsContinue {
        block.append(contentsOf: "Expect: 100-continue\0".utf8)
      } else if sendsBody, !has(.expect) {
        block.append(contentsOf: "Expect:\0".utf8)
      }
      if sendsBody, !has(.contentType) { block.append(contentsOf: "Content-Type:\0".utf8) }
      return block
    }

    /// Whether the first field is the `Accept` that libcurl would add there itself. Omitting it is faster, because
    /// libcurl compares each field in the list with fourteen names. If the list has another `Accept`, libcurl doesn't
    /// add its own.
    private var isFirstAsByCurl: Bool {
      guard let first = fields.first, first.name.rawName == "Accept", first.value == "*/*" else { return false }
      return !fields.dropFirst().contains { $0.name == .accept }
    }

    private func has(_ name: HTTPHeaderName) -> Bool { fields.contains { $0.name == name } }
  }

  extension HTTPHeaders.Field {
    /// Whether the value of `other` can overwrite this value in place.
    fileprivate func isReplaceable(by other: HTTPHeaders.Field) -> Bool {
      value.utf8.count == other.value.utf8.count
        && other.value.utf8.first.map { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") } ?? false
    }
  }
#endif
