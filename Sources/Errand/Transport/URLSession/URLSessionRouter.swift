#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    import Errand
    import Foundation
    import FoundationNetworking
  #else
    import Foundation
  #endif

  /// Forwards a session's events to their exchanges. Exchanges are held weakly, so an abandoned exchange is released
  /// and cancels its task.
  final class URLSessionRouter: NSObject, Sendable {
    private struct Entry {
      weak var exchange: URLSessionExchange?
    }

    private let entries = Lock<[Int: Entry]>([:])
    let trust: ServerTrust

    init(trust: ServerTrust) {
      self.trust = trust
      super.init()
    }

    func register(_ exchange: URLSessionExchange, for task: URLSessionTask) {
      entries.withLock { $0[task.taskIdentifier] = Entry(exchange: exchange) }
    }

    func exchange(for task: URLSessionTask) -> URLSessionExchange? {
      entries.withLock { $0[task.taskIdentifier]?.exchange }
    }

    func remove(_ task: URLSessionTask) -> URLSessionExchange? {
      entries.withLock { $0.removeValue(forKey: task.taskIdentifier)?.exchange }
    }
  }

  extension URLSessionRouter: URLSessionDataDelegate {
    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping DelegateAnswer<URLSession.ResponseDisposition>
    ) {
      if let head = response as? HTTPURLResponse { exchange(for: dataTask)?.respond(head) }
      completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      exchange(for: dataTask)?.receive(data)
    }
  }

  #if canImport(Darwin)
    /// `@Sendable` in Apple's declarations, but not in FoundationNetworking's.
    typealias DelegateAnswer<Value> = @Sendable (Value) -> Void
  #else
    typealias DelegateAnswer<Value> = (Value) -> Void
  #endif
#endif
