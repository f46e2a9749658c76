import Errand
import ErrandFoundation

extension UploadAnswer {
  init(_ answer: TaskResponse<Data>) {
    self.init(answer.status, headers: answer.headers, url: answer.response.url)
  }

  /// Whether a retry would receive the same response.
  var isFinal: Bool {
    status.kind == .success || (status.kind == .clientError && ![408, 425, 429].contains(status.code))
  }
}

extension HTTPStatus {
  /// Whether the server may accept different credentials.
  var isRefusal: Bool { self == .unauthorized || self == .forbidden }
}

extension TaskError {
  static func refused(_ answer: TaskResponse<Data>, _ settings: ServerSnapshot) -> TaskError {
    let configuration = settings.configuration
    let summary = configuration.redaction.summary(of: answer.data, type: answer.response.mediaType)
    let error = TaskError.badStatus(answer.response, redaction: configuration.redaction, summary: summary)
    return error.after(answer, configuration)
  }

  /// Returns the error for a response that violates the protocol.
  static func contradicted(_ reason: String, _ answer: TaskResponse<Data>, _ settings: ServerSnapshot) -> TaskError {
    TaskError(.badResponse, reason, phase: .finishing).after(answer, settings.configuration)
  }

  private func after(_ answer: TaskResponse<Data>, _ configuration: ServerConfiguration) -> TaskError {
    var error = with(answer.response, answer.data, configuration)
    error.url = configuration.redaction(answer.response.url)
    error.record = answer.record
    return (answer.response.call as? Call)?.explained(error) as? TaskError ?? error
  }
}
