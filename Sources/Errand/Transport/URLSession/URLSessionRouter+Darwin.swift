#if HAS_URLSESSION && canImport(Darwin)
  import Foundation

  extension URLSessionRouter: URLSessionTaskDelegate {
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping DelegateAnswer<URLRequest?>
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

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
      exchange(for: task)?.waitForNetwork()
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      needNewBodyStream completionHandler: @escaping DelegateAnswer<InputStream?>
    ) {
      completionHandler(exchange(for: task)?.newBodyStream())
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
      let transactions = metrics.transactionMetrics.filter { $0.resourceFetchType == .networkLoad }
      guard let last = transactions.last else { return }
      var moments = TransferMoments(last)
      moments.transactions = transactions.count
      exchange(for: task)?.measured(
        URLSessionExchange.Measurements(
          timings: moments.timings, version: last.networkProtocolName.flatMap { HTTPVersion(protocolName: $0) },
          isConnectionReused: last.isReusedConnection))
    }

    // Also receives server trust and client certificate challenges, because the session-level method is not
    // implemented.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let space = challenge.protectionSpace
      switch space.authenticationMethod {
      case NSURLAuthenticationMethodServerTrust:
        if let refusal = trust.refusal(of: space, adding: exchange(for: task)?.request.options.pins ?? [:]) {
          exchange(for: task)?.fail(refusal)
          completionHandler(.cancelAuthenticationChallenge, nil)
        } else {
          // Not `.useCredential`: the system's own checks, including App Transport Security, must still run.
          completionHandler(.performDefaultHandling, nil)
        }
      case NSURLAuthenticationMethodClientCertificate:
        let credential = trust.clientCredential?(space.host)
        completionHandler(credential == nil ? .performDefaultHandling : .useCredential, credential)
      default:
        // Without credential storage, a 401 arrives as a normal response.
        completionHandler(.performDefaultHandling, nil)
      }
    }
  }

  extension TransferMoments {
    init(_ transaction: URLSessionTaskTransactionMetrics) {
      self.init()
      fetchStart = transaction.fetchStartDate
      domainLookupEnd = transaction.domainLookupEndDate
      connectEnd = transaction.connectEndDate
      secureConnectionStart = transaction.secureConnectionStartDate
      secureConnectionEnd = transaction.secureConnectionEndDate
      requestStart = transaction.requestStartDate
      responseStart = transaction.responseStartDate
      responseEnd = transaction.responseEndDate
      bytesSent = transaction.countOfRequestHeaderBytesSent + transaction.countOfRequestBodyBytesSent
      bytesReceived = transaction.countOfResponseHeaderBytesReceived + transaction.countOfResponseBodyBytesReceived
      bytesDecoded = transaction.countOfResponseBodyBytesAfterDecoding
      remoteAddress = transaction.remoteAddress ?? ""
      remotePort = transaction.remotePort ?? 0
    }
  }
#endif
