public import ErrandFoundation

/// A form with files, `multipart/form-data` (RFC 7578).
///
///     struct AddPhoto: ServerPOSTTask, MultipartUploadingTask {
///       let title: String
///       let photo: URL
///       var uploadForm: MultipartForm { MultipartForm([.text("title", title), .file("photo", photo)]) }
///     }
///
/// The complete form is never held in memory: files are read as they are sent. The form's length is known if the length
/// of every part is known, and the form can be resent if every part can be resent.
public struct MultipartForm: Sendable {
  /// A named part of a form.
  public struct Part: Sendable {
    let name: String
    let fileName: String?
    let type: MediaType?
    let body: HTTPBody

    private init(_ name: String, _ body: HTTPBody, fileName: String?, type: MediaType?) {
      self.name = name
      self.fileName = fileName
      self.type = type
      self.body = body
    }

    /// Creates a text part in UTF-8. Unlike in browsers, line breaks are not converted to CRLF.
    public static func text(_ name: String, _ value: String) -> Part {
      Part(name, .bytes(Data(value.utf8)), fileName: nil, type: nil)
    }

    /// Creates a part with binary data. If it has a file name, servers treat it as a file.
    public static func data(
      _ name: String, _ data: Data, fileName: String? = nil, type: MediaType = .octetStream
    ) -> Part { Part(name, .bytes(data), fileName: fileName, type: type) }

    /// Creates a part with a file, which is read as it is sent.
    ///
    /// - Parameters:
    ///   - name: The name of the part.
    ///   - file: The file. It is opened for every attempt.
    ///   - fileName: The file name to send. Defaults to the name of the file.
    ///   - type: The media type. Defaults to the type for the file's extension, or `application/octet-stream`.
    public static func file(_ name: String, _ file: URL, fileName: String? = nil, type: MediaType? = nil) -> Part {
      Part(
        name, .file(file), fileName: fileName ?? file.lastPathComponent,
        type: type ?? MediaType(fileExtension: file.pathExtension) ?? .octetStream)
    }

    /// Creates a part with any body, such as a stream. The media type is the body's, or `application/octet-stream` if
    /// it has none.
    public static func body(_ name: String, _ body: HTTPBody, fileName: String? = nil) -> Part {
      Part(name, body, fileName: fileName, type: body.mediaType ?? .octetStream)
    }

    /// Returns the part's header (RFC 7578 §4.2).
    func head(after boundary: String) -> Data {
      var text = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(FormName.escapedField(name))\""
      if let fileName { text += "; filename=\"\(FormName.escaped(fileName))\"" }
      if let type { text += "\r\nContent-Type: \(FormName.escaped(type.rawValue, quotes: false))" }
      return Data((text + "\r\n\r\n").utf8)
    }
  }

  /// The parts, in order. Names can be repeated.
  public var parts: [Part]
  /// The delimiter between the parts. It has 128 random bits, so no part contains it by chance.
  public let boundary: String

  /// Creates a form.
  public init(_ parts: [Part] = []) {
    self.init(parts, boundary: Self.boundaries?.next() ?? BoundarySequence.drawn())
  }

  /// The boundaries for forms in a request body. If `nil`, they are random.
  @TaskLocal static var boundaries: BoundarySequence?

  init(_ parts: [Part], boundary: String) {
    self.parts = parts
    self.boundary = boundary
  }

  /// `multipart/form-data` with the boundary.
  public var mediaType: MediaType { MediaType("multipart/form-data; boundary=\(boundary)") }

  /// Returns the form as a body. Throws ``TaskError`` with code `.unreadableBody` if a file can't be read.
  public func body() throws -> HTTPBody {
    let parts = parts.map { (head: $0.head(after: boundary), body: $0.body) }
    let end = Data("--\(boundary)--\r\n".utf8)
    var length: Int64? = Int64(end.count)
    for part in parts {
      let own = try part.body.checkedLength()
      length = try length.flatMap { length in try own.map { try Self.sum(length, $0, Int64(part.head.count) + 2) } }
    }
    return .composed(
      length: length, isReplayable: parts.allSatisfy(\.body.isReplayable), type: mediaType,
      isProduced: parts.contains(where: \.body.isProduced)
    ) { sink in
      for part in parts {
        try await sink(part.head)
        try await part.body.forEachCountedChunk(sink)
        try await sink(Data("\r\n".utf8))
      }
      try await sink(end)
    }
  }

  private static func sum(_ numbers: Int64...) throws -> Int64 {
    try numbers.reduce(0) { sum, number in
      let (sum, overflows) = sum.addingReportingOverflow(number)
      guard number >= 0, !overflows else {
        throw TaskError(
          .bodyLengthMismatch, "a form part has an invalid length: \(number)",
          phase: .preparing,
          wasNotSent: true)
      }
      return sum
    }
  }
}
