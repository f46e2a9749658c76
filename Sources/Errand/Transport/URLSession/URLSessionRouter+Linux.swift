#if HAS_URLSESSION && !canImport(Darwin)
  import Errand
  import Foundation
  import FoundationNetworking

  extension URLSessionRouter: URLSessionTaskDelegate {
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
      completionHandler(nil)  // the pipeline follows redirects
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
      totalBytesExpectedToSend: Int64
    ) {
      exchange(for: task)?.sent(totalBytesSent, of: totalBytesExpectedToSend)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      remove(task)?.complete(error)
    }

    // FoundationNetworking asks for credentials once a 401 with a challenge is complete and hangs if it gets none. The
    // pipeline expects the 401 as the response, so complete the exchange here and cancel the task.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      remove(task)?.complete(nil)
      completionHandler(.cancelAuthenticationChallenge, nil)
    }
  }
#endif
