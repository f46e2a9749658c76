#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    public import Errand
    import Foundation
    public import FoundationNetworking
  #else
    public import Foundation
  #endif

  extension URLRequest {
    /// Creates a `URLRequest` from the request.
    ///
    /// Repeated header fields are joined with commas (RFC 9110 §5.3), and `Cookie` fields with semicolons. A body that
    /// consists of bytes or a file is included. The transfer options are omitted, because they don't match those of
    /// `URLRequest`.
    ///
    /// - Throws: ``TaskError`` with code `.unreadableBody` if the body is a stream, which a `URLRequest` can't hold
    ///   without a task that feeds it, or a file that can't be read.
    public init(_ request: HTTPRequest) throws(TaskError) {
      self.init(head: request)
      switch request.body.storage {
      case .empty: break
      case .bytes(let data): httpBody = data
      case .file(let file):
        guard FileManager.default.isReadableFile(atPath: file.path), let stream = InputStream(url: file) else {
          throw TaskError(
            .unreadableBody, "the file \(file.path) cannot be read", phase: .preparing, wasNotSent: true)
        }
        httpBodyStream = stream
      case .stream:
        throw TaskError(
          .unreadableBody, "a URLRequest cannot have a streamed body: use .bytes or .file", phase: .preparing,
          wasNotSent: true)
      }
    }

    init(head request: HTTPRequest) {
      self.init(url: request.url)
      httpMethod = request.method.rawValue
      for field in request.headers {
        let name = field.name.rawName
        // RFC 6265 §5.4: one Cookie field, with the pairs separated by semicolons.
        if field.name == .cookie, let cookies = value(forHTTPHeaderField: name) {
          setValue("\(cookies); \(field.value)", forHTTPHeaderField: name)
        } else if let earlier = value(forHTTPHeaderField: name) {
          setValue("\(earlier), \(field.value)", forHTTPHeaderField: name)
        } else {
          setValue(field.value, forHTTPHeaderField: name)
        }
      }
    }
  }

  extension HTTPRequest {
    /// Creates a request from a `URLRequest`.
    ///
    /// The header fields are sorted by name, because `URLRequest` does not keep their order. The timeout and the cache
    /// policy of the `URLRequest` are ignored: timeouts are set in ``TransferOptions/timeouts``, and the transport does
    /// not cache.
    ///
    /// - Throws: ``TaskError`` with code `.badURL` if there is no URL, and `.unreadableBody` if the body is a stream,
    ///   which can only be read once. Use ``HTTPBody/stream(length:_:)`` instead.
    public init(_ request: URLRequest) throws(TaskError) {
      guard let url = request.url else {
        throw TaskError(.badURL, "the URLRequest has no URL", phase: .preparing, wasNotSent: true)
      }
      if request.httpBody == nil, request.httpBodyStream != nil {
        throw TaskError(
          .unreadableBody, "the body of the URLRequest is a stream: pass HTTPBody.stream or HTTPBody.file instead",
          phase: .preparing, wasNotSent: true)
      }
      self.init(
        HTTPMethod(request.httpMethod ?? "GET"), url,
        headers: HTTPHeaders(unordered: request.allHTTPHeaderFields ?? [:]),
        body: request.httpBody.map { .bytes($0) } ?? .empty)
    }
  }
#endif
