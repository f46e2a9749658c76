import Errand
import ErrandTesting
import Foundation

extension MockServer {
  /// Creates a server object that sends its requests to this mock, without retries.
  func client(_ configure: (inout ServerConfiguration) -> Void = { _ in }) -> Server {
    var configuration = ServerConfiguration()
    configuration.retryPolicy = .never
    configuration.log = .discard
    configure(&configuration)
    return Server(Remote(url), configuration: configuration, manager: TaskManager(), asDefault: false)
  }
}
