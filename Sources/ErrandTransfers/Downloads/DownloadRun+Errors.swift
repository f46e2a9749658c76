import Errand
import ErrandFoundation

extension DownloadRun {
  /// Returns the error for a response without usable content.
  func unusable(_ response: HTTPResponse, as kind: String) -> any Error {
    guard response.status == .notModified else {
      return failure(.badResponse, "\(response.status) is not a valid response to \(kind)", response)
    }
    return failure(.notModified, "\(response.status): \(response.unexpected ?? HTTPResponse.currentCopy)", response)
  }

  func check(_ length: Int64, _ response: HTTPResponse) throws {
    guard length > aim.maximumSize else { return }
    throw explained(tooLarge(.receiving), response)
  }

  func tooLarge(_ phase: TaskError.Phase) -> TaskError {
    TaskError(
      .bodyTooLarge, "the file exceeds the download's maximumSize of \(aim.maximumSize) bytes", phase: phase)
  }

  /// Returns an error about a response's content, with the details of its call.
  func failure(_ code: TaskError.Code, _ reason: String, _ response: HTTPResponse) -> any Error {
    explained(TaskError(code, reason, phase: .receiving), response)
  }

  private func explained(_ error: TaskError, _ response: HTTPResponse) -> any Error {
    response.body.explained(error.with(response, Data(), settings.configuration))
  }
}
