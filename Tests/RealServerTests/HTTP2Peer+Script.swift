#if os(Linux)
  extension HTTP2Peer {
    /// The Python program. The first component of a path names the method that handles the stream.
    static let script = #"""
      import select, socket, ssl, struct, threading, time

      from h2.config import H2Configuration
      from h2.connection import H2Connection
      from h2.errors import ErrorCodes
      from h2.events import DataReceived, PingAckReceived, RequestReceived, StreamEnded, StreamReset
      from hyperframe.frame import GoAwayFrame

      seen, noted, peers = [], [], []
      lock = threading.Lock()


      class Peer:
          """A connection. The first component of a path is the name of the method to call."""

          # The paths of uploads whose window is opened as their bytes arrive.
          open_paths = ("/count", "/echo", "/hello")

          def __init__(self, sock):
              self.sock = sock
              self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
              self.requests = {}
              self.received = 0
              self.counts = {}
              self.backlog = []
              peers.append(self)

          def serve(self):
              self.h2.initiate_connection()
              self.flush()
              while data := self.more():
                  for event in self.h2.receive_data(data):
                      if isinstance(event, RequestReceived):
                          self.requests[event.stream_id] = dict(event.headers)
                          if self.requests[event.stream_id][":path"].startswith("/early"):
                              self.take(event.stream_id)
                      if isinstance(event, (StreamReset, PingAckReceived)):
                          stream = getattr(event, "stream_id", None)
                          noted.append("RESET %d" % stream if stream else "PONG")
                      if isinstance(event, DataReceived):
                          self.receive(event)
                      if isinstance(event, StreamEnded) and event.stream_id in self.requests:
                          self.take(event.stream_id)
                  self.flush()

          def more(self):
              # Read from the client before sending more, so that the backlog overlaps with what the client sends.
              while self.backlog and not self.sock.pending() and not select.select([self.sock], [], [], 0)[0]:
                  self.sock.sendall(self.backlog.pop(0))
              return self.sock.recv(65536)

          def take(self, stream):
              headers = self.requests.pop(stream)
              path = headers[":path"]
              words = path.strip("/").split("/")
              with lock:
                  isFirst = not any(path in line for line in seen)
                  if words[0] not in ("seen", "noted", "nudge"):
                      seen.append("%s %s %d" % (headers[":method"], path, stream))
              if words[0] == "once":
                  words = words[1:] if isFirst else ["hello"]
              getattr(self, words[0])(stream, *words[1:])

          def receive(self, event):
              # For /pause, wait once the first window is used up.
              self.received += len(event.data)
              path = self.requests.get(event.stream_id, {}).get(":path")
              if path == "/echo" and event.data and event.stream_id not in self.counts:
                  self.h2.send_headers(event.stream_id, [(":status", "200")])
              if path in self.open_paths and event.data:
                  self.counts[event.stream_id] = self.counts.get(event.stream_id, 0) + len(event.data)
              if path and (path in self.open_paths or path.startswith("/once")) and event.data:
                  self.h2.increment_flow_control_window(len(event.data))
                  self.h2.increment_flow_control_window(len(event.data), event.stream_id)
                  self.flush()
              if self.requests.get(event.stream_id, {}).get(":path", "").startswith("/amid"):
                  self.take(event.stream_id)
              if self.received == 65_535 and self.requests.get(event.stream_id, {}).get(":path") == "/pause":
                  time.sleep(2)
                  self.h2.increment_flow_control_window(2**30)
                  self.h2.increment_flow_control_window(2**30, event.stream_id)

          def count(self, stream):
              self.answer(stream, str(self.counts.pop(stream)))

          def echo(self, stream):
              # The head was sent when the first bytes of the request arrived.
              self.h2.send_data(stream, b"all of %d" % self.counts.pop(stream), end_stream=True)

          def pause(self, stream):
              self.answer(stream, str(self.received))

          def flush(self):
              self.sock.sendall(self.h2.data_to_send())

          def answer(self, stream, text):
              self.h2.send_headers(stream, [(":status", "200"), ("content-length", str(len(text)))])
              self.h2.send_data(stream, text.encode(), end_stream=True)

          def hello(self, stream, number=""):
              self.answer(stream, "hello")

          def seen(self, stream):
              with lock:
                  self.answer(stream, "\n".join(seen))

          def noted(self, stream):
              self.answer(stream, "\n".join(noted))

          def nudge(self, stream):
              # Send a PING on all other connections.
              for peer in list(peers):
                  if peer is not self:
                      peer.h2.ping(bytes(8))
                      peer.flush()
              self.answer(stream, "")

          def drain(self, stream, size):
              # Send a graceful GOAWAY (RFC 9113 6.8), followed immediately by the response.
              self.flush()
              frame = GoAwayFrame(0)
              frame.last_stream_id = stream
              self.h2.send_headers(stream, [(":status", "200")])
              for start in range(0, int(size), 16_000):
                  count = min(16_000, int(size) - start)
                  self.h2.send_data(stream, b"x" * count, end_stream=start + count == int(size))
              self.sock.sendall(frame.serialize() + self.h2.data_to_send())

          def burst(self, stream, count):
              # Send frames of 1,000 bytes, 16 per record. Each frame repeats its eight-digit number.
              self.h2.send_headers(stream, [(":status", "200")])
              self.flush()
              head = b"\0\3\xe8\0%c" + stream.to_bytes(4, "big")
              frames = [head % (number == int(count) - 1) + b"%08d" % number * 125 for number in range(int(count))]
              self.backlog = [b"".join(frames[start : start + 16]) for start in range(0, len(frames), 16)]

          def bighead(self, stream, count, size):
              # Send a head with `count` fields of `size` bytes each.
              self.fields(stream, count, size, [(":status", "200")])

          def bigtrailer(self, stream, count, size):
              self.h2.send_headers(stream, [(":status", "200")])
              self.h2.send_data(stream, b"ok")
              self.flush()
              self.fields(stream, count, size, [])

          def fields(self, stream, count, size, fields):
              fields += [("x-large-%d" % number, "x" * int(size)) for number in range(int(count))]
              self.h2.send_headers(stream, fields, end_stream=True)

          def late(self, stream, milliseconds):
              time.sleep(int(milliseconds) / 1000)
              self.answer(stream, "late")

          def unstated(self, stream):
              self.h2.send_headers(stream, [(":status", "200")])
              self.h2.send_data(stream, b"ok", end_stream=True)

          def hold(self, stream, name=""):
              pass

          def reset(self, stream, code):
              self.h2.reset_stream(stream, ErrorCodes[code])

          def partly(self, stream, code):
              self.h2.send_headers(stream, [(":status", "200"), ("content-length", "5")])
              self.h2.send_data(stream, b"he")
              self.reset(stream, code)

          def partial(self, stream):
              self.h2.send_headers(stream, [(":status", "200")])
              self.h2.send_data(stream, b"part")

          def cut(self, stream):
              self.partial(stream)
              self.flush()
              self.die(stream)

          def broken(self, stream):
              self.partial(stream)
              self.violate(stream)

          def violate(self, stream):
              # Send an invalid PING of seven bytes (RFC 9113 6.7).
              self.flush()
              self.sock.sendall(b"\0\0\7\6\0\0\0\0\0" + bytes(7))

          def goaway(self, stream, last, end="stay"):
              # Bypass the library, which would send nothing more on the connection.
              self.flush()
              frame = GoAwayFrame(0)
              frame.last_stream_id = stream if last == "this" else int(last)
              self.sock.sendall(frame.serialize())
              if end == "close":
                  self.die(stream)

          def both(self, stream, code):
              self.reset(stream, code)
              self.goaway(stream, "this")

          def early(self, stream, reading, body, end):
              # Send a complete response before the end of the request (RFC 9113 8.1), each frame in its own record.
              # "reset-along" and "reset-pinged" put DATA and RST_STREAM in one record. "reset-pinged" adds a PING, and
              # its answer shows that the client has read the entire record.
              if reading != "window":
                  self.h2.increment_flow_control_window(2**30)
                  self.h2.increment_flow_control_window(2**30, stream)
              fields = [(":status", "204" if body == "none" else "200")]
              if body == "length":
                  fields.append(("content-length", "2"))
              self.h2.send_headers(stream, fields, end_stream=body == "none")
              self.flush()
              if body != "none":
                  self.h2.send_data(stream, b"ok", end_stream=True)
              if not end.startswith("reset-"):
                  self.flush()
              if end.startswith("reset"):
                  self.reset(stream, "NO_ERROR")
              if end == "reset-pinged":
                  self.h2.ping(bytes(8))
              self.flush()
              if reading == "nothing":
                  self.wait_for_hang_up()

          def amid(self, stream, act):
              # Act in the middle of the request body.
              if act == "answer":
                  self.answer(stream, "ok")
              elif act == "stop":
                  self.h2.send_headers(stream, [(":status", "200"), ("content-length", "10")])
                  self.h2.send_data(stream, b"12345")
              elif act == "close":
                  self.die(stream)
              elif act == "reset":
                  self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                  self.sock.close()

          def wait_for_hang_up(self):
              poll = select.poll()
              poll.register(self.sock, select.POLLRDHUP)
              poll.poll(40_000)

          def flood(self, stream, size):
              # Send PINGs as fast as possible for 30 seconds, and read and discard all replies.
              if size != "nothing":
                  self.h2.send_headers(stream, [(":status", "200")])
                  for _ in range(int(size) // 16_384):
                      self.h2.send_data(stream, bytes(16_384))
              self.flush()
              pings = memoryview((b"\0\0\x08\6\0\0\0\0\0" + b"floodping"[:8]) * 10_000)
              self.sock.setblocking(False)
              poll = select.poll()
              poll.register(self.sock, select.POLLIN | select.POLLOUT)
              sent, end = 0, time.monotonic() + 30
              while time.monotonic() < end:
                  poll.poll()
                  try:
                      sent += self.sock.send(pings[sent:])
                      sent %= len(pings)
                  except ssl.SSLWantWriteError:
                      pass
                  self.drop_what_comes()

          def drop_what_comes(self):
              try:
                  while self.sock.recv(65536):
                      pass
              except ssl.SSLWantReadError:
                  pass

          def die(self, stream):
              # Keep reading, because closing with unread bytes sends a reset, which discards the GOAWAY.
              self.sock.shutdown(socket.SHUT_WR)


      def serve_http1(sock):
          # Send one response over HTTP/1.1. Later connections can negotiate HTTP/2.
          context.set_alpn_protocols(["h2", "http/1.1"])
          head = b""
          while b"\r\n\r\n" not in head:
              head += sock.recv(65536)
          sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")


      def secured(sock):
          return context.wrap_socket(sock, server_side=True) if SECURE else sock


      def serve(sock):
          try:
              with secured(sock) as secure:
                  if SECURE and secure.selected_alpn_protocol() != "h2":
                      return serve_http1(secure)
                  peer = Peer(secure)
                  try:
                      peer.serve()
                  finally:
                      peers.remove(peer)
          except OSError:
              pass
          finally:
              sock.close()


      context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
      context.load_cert_chain("FOLDER/server.pem", "FOLDER/server.key")
      context.set_alpn_protocols(["http/1.1"] if BEGINS_WITH_HTTP1 else ["h2"])
      listener = socket.create_server(("127.0.0.1", PORT))
      while True:
          connection, _ = listener.accept()
          connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
          threading.Thread(target=serve, args=(connection,), daemon=True).start()
      """#
  }
#endif
