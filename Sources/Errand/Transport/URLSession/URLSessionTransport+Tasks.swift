#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    import Errand
    import Foundation
    import FoundationNetworking
  #else
    import Foundation
  #endif

  extension URLSessionTransport {
    /// A timeout long enough to disable URLSession's own timeouts, which share one error code and are truncated to
    /// whole seconds on Linux.
    private static let farOut: TimeInterval = 7 * 24 * 3600

    @concurrent static func task(for request: HTTPRequest, in session: URLSession) async throws -> URLSessionTask {
      if request.method == .get, !request.body.isEmpty {
        throw TaskError(
          .transportUnavailable, "URLSession can't send a body with GET: use QUERY or POST", phase: .preparing,
          wasNotSent: true)
      }
      if request.body.trailers != nil {
        throw TaskError(
          .transportUnavailable, "URLSession can't send trailer fields: send them as header fields", phase: .preparing,
          wasNotSent: true)
      }
      let head = try head(of: request)
      switch request.body.storage {
      case .empty: return session.dataTask(with: head)
      case .bytes(let data): return session.uploadTask(with: head, from: data)
      case .file(let file) where try request.body.length() != nil: return session.uploadTask(with: head, fromFile: file)
      // URLSession would send a file of unknown size without its content.
      case .file, .stream: return try await streamTask(head, request.body, in: session)
      }
    }

    private static func head(of request: HTTPRequest) throws -> URLRequest {
      var request = request
      // The transport sets the framing fields.
      request.headers.remove(.contentLength)
      request.headers.remove(.transferEncoding)
      if !request.body.isEmpty {
        // Without a content type, URLSession declares the body to be a form.
        request.headers.setDefault((request.body.mediaType ?? .octetStream).rawValue, for: .contentType)
        do {
          let length = try request.body.length()
          // URLSession knows the length of bytes and files.
          if case .stream = request.body.storage, let length { request.headers[.contentLength] = String(length) }
        } catch {
          throw TaskError.ofTransfer(error)
        }
      }
      // URLSession requests compressed bodies by default, and always decodes them.
      if !request.options.decodesBody { request.headers.setDefault("identity", for: .acceptEncoding) }
      var head = URLRequest(head: request)
      head.timeoutInterval = farOut
      head.cachePolicy = .reloadIgnoringLocalCacheData
      head.httpShouldHandleCookies = false
      head.obey(request.options)
      return head
    }
  }

  #if canImport(Darwin)
    extension URLSessionTransport {
      /// URLSession requests the stream when the task starts: see ``URLSessionExchange/newBodyStream()``.
      private static func streamTask(
        _ head: URLRequest, _ body: HTTPBody, in session: URLSession
      ) async throws -> URLSessionTask {
        session.uploadTask(withStreamedRequest: head)
      }
    }

    extension URLRequest {
      fileprivate mutating func obey(_ options: TransferOptions) {
        allowsExpensiveNetworkAccess = options.allowsExpensiveNetworkAccess
        allowsConstrainedNetworkAccess = options.allowsConstrainedNetworkAccess
      }
    }
  #else
    extension URLSessionTransport {
      /// FoundationNetworking has no bound streams, so the body is read into memory first.
      private static func streamTask(
        _ head: URLRequest, _ body: HTTPBody, in session: URLSession
      ) async throws -> URLSessionTask {
        let gathered = Lock(Data())
        do {
          try await body.forEachCountedChunk { chunk in gathered.withLock { $0.append(chunk) } }
        } catch {
          throw TaskError.ofUpload(error)
        }
        return session.uploadTask(with: head, from: gathered.withLock { $0 })
      }
    }

    extension URLRequest {
      /// FoundationNetworking does not distinguish network types.
      fileprivate mutating func obey(_ options: TransferOptions) {}
    }
  #endif
#endif
