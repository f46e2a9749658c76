#if os(Linux)
  import Errand
  import Foundation

  /// A trace collector in Python with Flask and opentelemetry-proto.
  final class TraceReceiver: Sendable {
    let url: URL
    private let server: LocalServer

    static let isExpected = interpreter != nil || ProcessInfo.processInfo.environment["CI"] == "true"

    private static let interpreter = Python.interpreter(
      with: "flask, google.protobuf, opentelemetry.proto.collector.trace.v1.trace_service_pb2")

    init() async throws {
      guard let interpreter = Self.interpreter else {
        throw LocalServer.Failure(reason: "python3 with the packages flask and opentelemetry-proto is not installed")
      }
      server = try await LocalServer(interpreter) { port, _ in
        Self.script.replacingOccurrences(of: "PORT", with: "\(port)")
      } arguments: {
        ["\($0)/configuration"]
      }
      url = try server.url("http")
    }

    /// A span as read by the collector.
    struct Span: Decodable {
      let service: String
      let scope: String
      let trace: String
      let span: String
      let parent: String
      let state: String
      let name: String
      let kind: String
      let start: Int
      let end: Int
      let status: String
      let attributes: [String: String]
      let events: [String]
    }

    private let plain = Server(.none, environment: [:])

    /// Returns all received spans in order.
    func spans() async throws -> [Span] {
      try JSONDecoder().decode([Span].self, from: try await data("spans"))
    }

    /// Returns the `traceparent` header of each request, or an empty string if it has none.
    func requests() async throws -> [String] {
      try JSONDecoder().decode([String].self, from: try await data("requests"))
    }

    /// Makes the collector answer the next requests with these statuses and then accept spans again.
    func fail(with statuses: Int...) async throws {
      let list = statuses.map { "\($0)" }.joined(separator: ",")
      try await URLTask(url.appendingPathComponent("fail/\(list)"), method: .post).on(plain).run()
    }

    private func data(_ path: String) async throws -> Data {
      try await URLTask(url.appendingPathComponent(path)).on(plain).downloadData()
    }

    // OTLP/JSON uses hexadecimal IDs, while protobuf's JSON uses base64.
    private static let script = #"""
      import base64, json, logging, threading
      from flask import Flask, jsonify, request
      from google.protobuf import json_format
      from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
          ExportTraceServiceRequest, ExportTraceServiceResponse)
      from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
      from werkzeug.serving import WSGIRequestHandler

      WSGIRequestHandler.protocol_version = "HTTP/1.1"
      logging.getLogger("werkzeug").disabled = True
      app = Flask(__name__)
      lock = threading.Lock()
      spans, requests, failures = [], [], []

      def converted(value):
          if isinstance(value, list):
              return [converted(each) for each in value]
          if not isinstance(value, dict):
              return value
          def part(name, each):
              if name in ("traceId", "spanId", "parentSpanId"):
                  return base64.b64encode(bytes.fromhex(each)).decode()
              return converted(each)
          return {name: part(name, each) for name, each in value.items()}

      def text(value):
          return str(getattr(value, value.WhichOneof("value")))

      def read(message):
          for resource in message.resource_spans:
              service = {each.key: text(each.value) for each in resource.resource.attributes}["service.name"]
              for scope in resource.scope_spans:
                  for span in scope.spans:
                      assert len(span.trace_id) == 16 and len(span.span_id) == 8 and len(span.parent_span_id) in (0, 8)
                      yield {
                          "service": service, "scope": scope.scope.name, "trace": span.trace_id.hex(),
                          "span": span.span_id.hex(), "parent": span.parent_span_id.hex(), "state": span.trace_state,
                          "name": span.name, "kind": Span.SpanKind.Name(span.kind),
                          "start": span.start_time_unix_nano, "end": span.end_time_unix_nano,
                          "status": Status.StatusCode.Name(span.status.code) + " " + span.status.message,
                          "attributes": {each.key: text(each.value) for each in span.attributes},
                          "events": [event.name for event in span.events]}

      @app.post("/v1/traces")
      def take():
          with lock:
              requests.append(request.headers.get("traceparent", ""))
              if failures:
                  return ("not now", failures.pop(0), {"Retry-After": "0"})
              assert request.content_type == "application/json"
              message = json_format.ParseDict(converted(json.loads(request.data)), ExportTraceServiceRequest())
              spans.extend(read(message))
          return app.response_class(json_format.MessageToJson(ExportTraceServiceResponse()), mimetype="application/json")

      @app.get("/spans")
      def all_spans():
          with lock:
              return jsonify(spans)

      @app.get("/requests")
      def all_requests():
          with lock:
              return jsonify(requests)

      @app.post("/fail/<statuses>")
      def fail(statuses):
          with lock:
              failures.extend(int(each) for each in statuses.split(","))
          return ""

      app.run("127.0.0.1", int("PORT"), threaded=True)
      """#
  }
#endif
