#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    import Errand
    import Foundation
    import FoundationNetworking
  #else
    import Foundation
  #endif

  final class URLSessionLane: Sendable {
    private let session: URLSession
    private let router: URLSessionRouter

    private init(_ configuration: URLSessionConfiguration, trust: ServerTrust) {
      router = URLSessionRouter(trust: trust)
      session = URLSession(configuration: configuration, delegate: router, delegateQueue: nil)
    }

    deinit {
      // A session stays alive until it is invalidated. Running tasks finish first.
      session.finishTasksAndInvalidate()
    }

    /// Copies the configuration without the features that the pipeline implements: cookies, cache and credentials.
    static func copy(of configuration: URLSessionConfiguration) -> URLSessionConfiguration {
      let copy = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
      copy.httpCookieStorage = nil
      copy.httpShouldSetCookies = false
      copy.httpCookieAcceptPolicy = .never
      copy.urlCache = nil
      copy.requestCachePolicy = .reloadIgnoringLocalCacheData
      copy.urlCredentialStorage = nil
      return copy
    }

    func begin(_ exchange: URLSessionExchange) async throws -> HTTPURLResponse {
      let task = try await URLSessionTransport.task(for: exchange.request, in: session)
      try Task.checkCancellation()
      router.register(exchange, for: task)
      exchange.start(task)
      return try await exchange.head()
    }
  }

  #if canImport(Darwin)
    extension URLSessionLane {
      /// Returns two sessions, because whether a session waits for a network is fixed when it is created.
      static func pair(
        _ configuration: URLSessionConfiguration, trust: ServerTrust
      ) -> (ordinary: URLSessionLane, patient: URLSessionLane) {
        let ordinary = copy(of: configuration)
        ordinary.waitsForConnectivity = false
        let patient = copy(of: configuration)
        patient.waitsForConnectivity = true
        return (URLSessionLane(ordinary, trust: trust), URLSessionLane(patient, trust: trust))
      }
    }
  #else
    extension URLSessionLane {
      /// Returns the same session twice, because FoundationNetworking does not wait for networks.
      static func pair(
        _ configuration: URLSessionConfiguration, trust: ServerTrust
      ) -> (ordinary: URLSessionLane, patient: URLSessionLane) {
        let lane = URLSessionLane(copy(of: configuration), trust: trust)
        return (lane, lane)
      }
    }
  #endif
#endif
