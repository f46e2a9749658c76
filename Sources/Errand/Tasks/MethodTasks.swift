// Aliases that combine a method with its payloads, for use in a task's inheritance clause. `NoContent` stands for a
// missing payload.

/// A GET task that decodes `Download` from the response.
///
///     struct GetWidget: GET<Widget> {
///       let id: Int
///       var path: String { "widgets/\(id)" }
///     }
///     let widget = try await shop.send(GetWidget(id: 7))
///
/// You can combine it with other protocols: `struct GetWidget: ShopTask, GET<Widget>`.
public typealias GET<Download> = ServerGETTask & PayloadDownloadingTask<Download>

/// A POST task that sends `Upload` and decodes `Download` from the response.
///
///     struct AddWidget: POST<NewWidget, Widget> {
///       let uploadPayload: NewWidget
///       let path = "widgets"
///     }
///
/// Use ``NoContent`` to send no body or to ignore the response's body: `POST<NoContent, Receipt>`,
/// `POST<Order, NoContent>`. For other bodies, such as files and forms, combine ``ServerPOSTTask`` with the protocol
/// for that body: `ServerPOSTTask, MultipartUploadingTask, PayloadDownloadingTask<Photo>`.
public typealias POST<Upload, Download> =
  ServerPOSTTask & PayloadUploadingTask<Upload> & PayloadDownloadingTask<Download>

/// A PUT task that sends `Upload` and decodes `Download` from the response.
///
///     struct ReplaceWidget: PUT<Widget, NoContent> {
///       let uploadPayload: Widget
///       var path: String { "widgets/\(uploadPayload.id)" }
///     }
public typealias PUT<Upload, Download> =
  ServerPUTTask & PayloadUploadingTask<Upload> & PayloadDownloadingTask<Download>

/// A PATCH task that sends `Upload` and decodes `Download` from the response.
///
///     struct ChangePrice: PATCH<Price, Widget> {
///       let uploadPayload: Price
///       let path = "widgets/7"
///     }
public typealias PATCH<Upload, Download> =
  ServerPATCHTask & PayloadUploadingTask<Upload> & PayloadDownloadingTask<Download>

/// A DELETE task without a body that decodes `Download` from the response.
///
///     struct RemoveWidget: DELETE<NoContent> {
///       let path = "widgets/7"
///     }
///     try await shop.send(RemoveWidget())
public typealias DELETE<Download> = ServerDELETETask & PayloadDownloadingTask<Download>

/// A QUERY task that sends `Upload` and decodes `Download` from the response.
///
///     struct FindWidgets: QUERY<Filter, [Widget]> {
///       let uploadPayload: Filter
///       let path = "widgets"
///     }
public typealias QUERY<Upload, Download> =
  ServerQUERYTask & PayloadUploadingTask<Upload> & PayloadDownloadingTask<Download>

/// A HEAD task.
///
///     struct CheckWidget: HEAD {
///       let path = "widgets/7"
///     }
public typealias HEAD = ServerHEADTask
