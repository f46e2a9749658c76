#if os(Linux)
  import Foundation

  /// A Starlette application that uses sse-starlette for event streams and python-multipart to parse forms.
  final class StarletteServer: Sendable {
    let url: URL
    private let server: LocalServer

    static let isExpected = interpreter != nil || ProcessInfo.processInfo.environment["CI"] == "true"

    private static let interpreter = Python.interpreter(with: "sse_starlette, uvicorn, python_multipart")

    init() async throws {
      guard let interpreter = Self.interpreter else {
        throw LocalServer.Failure(
          reason: "python3 with the packages sse_starlette, uvicorn and python_multipart is not installed")
      }
      server = try await LocalServer(interpreter) { port, _ in
        Self.script.replacingOccurrences(of: "PORT", with: "\(port)")
      } arguments: {
        ["\($0)/configuration"]
      }
      url = try server.url("http")
    }

    /// `events` counts from the given ID to 10, three at a time, and then returns 204. `form` returns the form as
    /// parsed by python-multipart.
    private static let script = #"""
      import hashlib, uvicorn
      from sse_starlette.sse import EventSourceResponse, ServerSentEvent
      from starlette.applications import Starlette
      from starlette.responses import JSONResponse, Response
      from starlette.routing import Route

      async def events(request):
          first = int(request.headers.get("last-event-id", "0")) + 1
          if first > 10:
              return Response(status_code=204)
          async def some():
              for number in range(first, min(first + 3, 11)):
                  yield ServerSentEvent(data='{"n":%d}\nline é' % number, id=str(number), event="count", retry=1, comment="c")
          return EventSourceResponse(some(), sep=request.query_params.get("sep", "\r\n"))

      async def form(request):
          fields = []
          async with request.form() as form:
              for name, value in form.multi_items():
                  if isinstance(value, str):
                      fields.append([name, value])
                  else:
                      data = await value.read()
                      fields.append([name, value.filename, value.content_type, str(len(data)), hashlib.sha256(data).hexdigest()])
          return JSONResponse(fields)

      async def gunzip(request):
          import gzip
          data = gzip.decompress(await request.body())
          coding = request.headers.getlist("content-encoding")
          return JSONResponse([",".join(coding), str(len(data)), hashlib.sha256(data).hexdigest(), request.headers.get("content-length", "")])

      app = Starlette(routes=[Route("/gunzip", gunzip, methods=["POST"]), Route("/events", events, methods=["GET", "POST"]), Route("/form", form, methods=["POST"])])
      uvicorn.run(app, host="127.0.0.1", port=int("PORT"), log_level="critical")
      """#
  }
#endif
