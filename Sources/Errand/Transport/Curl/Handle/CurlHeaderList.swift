#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// The header of a request as libcurl takes it.
  ///
  /// libcurl reads the list while the request is under way. A handle keeps its last one, for most requests of a server have
  /// the same fields.
  final class CurlHeaderList {
    /// The content of a list.
    struct Content {
      var fields: [HTTPHeaders.Field]
      /// The codings of packed bodies, where the transport unpacks them.
      var acceptEncoding: String?
      /// The names of the fields after the body.
      var trailers: String?
      var sendsBody = false
      var expectsContinue = false

      /// True where both make the same list, perhaps but for the place in a trace: names count as they are written.
      func matches(_ other: Content, butForTrace isTraced: Bool) -> Bool {
        sendsBody == other.sendsBody && expectsContinue == other.expectsContinue
          && acceptEncoding == other.acceptEncoding && trailers == other.trailers
          && (isCopy(of: other)
            || fields.elementsEqual(other.fields) { mine, its in
              mine.name.rawName == its.name.rawName
                && (mine.value == its.value || (isTraced && mine.name == .traceparent && mine.isReplaceable(by: its)))
            })
      }

      /// True where both have the same array, as the requests of a server with its header alone do.
      private func isCopy(of other: Content) -> Bool {
        fields.withUnsafeBufferPointer { mine in
          other.fields.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress && mine.count == $0.count }
        }
      }
    }

    private let content: Content
    let pointer: UnsafeMutablePointer<ccurl_slist>?
    /// The value of `traceparent`, another with each request; nil where there is none, or more than one.
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

    /// True where it is the list of another content too, or was made so: but for their places in a trace, the requests of a server are
    /// mostly the same. The request before must have ended.
    func serves(_ other: Content) -> Bool {
      guard content.matches(other, butForTrace: trace != nil) else { return false }
      guard let trace, var value = other.fields.first(where: { $0.name == .traceparent })?.value else { return true }
      value.withUTF8 { bytes in
        if let start = bytes.baseAddress { memcpy(trace, start, bytes.count) }
      }
      return true
    }

    /// Has the next request go out without its expectation.
    func dropExpectation() {
      var line = pointer
      // "Expect:" alone has libcurl send none.
      while let value = Self.value(of: "Expect:", from: &line) { value.pointee = 0 }
    }

    /// The text behind such a start of a line, from `line` on, which is then the line behind it.
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
    /// The header of `request`.
    init(_ request: HTTPRequest, sendsBody: Bool) {
      fields = request.headers.fields
      acceptEncoding = request.unpacksBody ? request.acceptEncoding : nil
      trailers = request.body.trailers?.announcement
      self.sendsBody = sendsBody
      expectsContinue = sendsBody && request.options.continueTimeout != nil && !request.body.isEmpty
    }

    /// The lines, each with a NUL behind it; for what libcurl would add of its own accord, that it must not.
    fileprivate var block: [UInt8] {
      var block: [UInt8] = []
      block.reserveCapacity(256)
      for field in isFirstAsByCurl ? fields.dropFirst() : fields[...] {
        // Framing is the transport's business.
        if field.name == .contentLength || field.name == .transferEncoding { continue }
        if field.name == "Trailer", trailers != nil { continue }
        block.append(contentsOf: field.name.rawName.utf8)
        // libcurl takes "Name:" for the wish to leave a header out; a semicolon sends it empty.
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

    /// True where the first line is the one that libcurl writes by itself, in that place: each that it is given it compares with
    /// fourteen names.
    /// With another `Accept` in its list, libcurl writes none.
    private var isFirstAsByCurl: Bool {
      guard let first = fields.first, first.name.rawName == "Accept", first.value == "*/*" else { return false }
      return !fields.dropFirst().contains { $0.name == .accept }
    }

    private func has(_ name: HTTPHeaderName) -> Bool { fields.contains { $0.name == name } }
  }

  extension HTTPHeaders.Field {
    /// True where the value of another can be written over this one's.
    fileprivate func isReplaceable(by other: HTTPHeaders.Field) -> Bool {
      value.utf8.count == other.value.utf8.count
        && other.value.utf8.first.map { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") } ?? false
    }
  }
#endif
