#if HAS_URLSESSION && canImport(Darwin)
  import Foundation

  extension URLSessionRouter: URLSessionTaskDelegate {
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping DelegateAnswer<URLRequest?>
    ) {
      completionHandler(nil)  // redirects are the pipeline's business
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

    // Server trust and client certificates come here too, because there is no method for the whole session.
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
          // Not `.useCredential`: the system's own rules, App Transport Security included, still have their say.
          completionHandler(.performDefaultHandling, nil)
        }
      case NSURLAuthenticationMethodClientCertificate:
        let credential = trust.clientCredential?(space.host)
        completionHandler(credential == nil ? .performDefaultHandling : .useCredential, credential)
      default:
        // There is no credential storage, so a 401 comes through as the response that it is.
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
