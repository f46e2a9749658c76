"""Judges whether the outcome of an exchange, as reported by the client, is acceptable."""

import os

import answers
import reading
import streams
from plans import Ledger


class Outcome:
    """The outcome reported by the client: `status` and `body` of a success, or `error`, with the code and text."""

    def __init__(self, fields, body):
        self.protocol = fields["X-Protocol"]
        self.method = fields["X-Method"]
        self.is_wild = fields["X-Wild"] == "true"
        self.is_after_wild = fields["X-After-Wild"] == "true"
        self.decodes = fields["X-Decodes"] == "true"
        self.started = int(fields["X-Started"])
        self.status = int(fields["X-Status"])
        self.answer_id = fields["X-Answer-Id"].encode("latin-1", "replace")
        self.error = fields["X-Error"]
        self.body = body

    @property
    def is_success(self):
        return self.status > 0


class Judge:
    def __init__(self, plans, ledger: Ledger):
        self.plans, self.ledger = plans, ledger

    def verdict(self, number, outcome):
        """Returns the name of the mutation, a verdict (good, collateral, known or finding), and an explanation."""
        entry = self.ledger.entry(number)
        expected, name, once = self._expected(entry, number, outcome)
        verdict = ("good", "")
        if outcome.is_success:
            verdict = self._success(number, outcome, expected)
        elif name is None and not outcome.is_wild:
            verdict = self._failure(entry, outcome, expected)
        # A GOAWAY sent for another stream can also refuse this stream.
        once = once and not any(streams.refuses(connection.sent) for connection in entry.connections)
        if once and outcome.method == "POST" and len(entry.connections) > 1:
            verdict = ("finding", "resent: the POST was read %d times" % len(entry.connections))
        self.ledger.forget(number - 5000)
        return (name or "none",) + verdict

    def _expected(self, entry, number, outcome):
        """Returns the required reading, the name of the mutation, and whether the request must not be resent."""
        if outcome.protocol == "h2":
            course, name = self.plans.http2(number, outcome.method, outcome.is_wild)
            # If a request was resent, its earlier attempt may be read last, so accept the response to either attempt.
            readings = [
                streams.read(connection.sent, course, outcome.method, outcome.decodes, stream, name is None and any(
                    streams.breaks(connection.sent, other) for other in connection.tainted_beside(stream)))
                for connection, stream in zip(entry.connections, entry.streams)
            ] or [streams.read(b"", course, outcome.method, outcome.decodes, 1)]
            fits = [one for one in readings if outcome.is_success and not one.refusal and one.body in (None, outcome.body)]
            return (fits or readings)[-1], name, course.is_processed
        course, name = self.plans.http1(number, outcome.method, outcome.is_wild)
        data, is_closed = b"", False
        for what, value in course.steps:
            if what == "send" or (what == "raw" and outcome.protocol == "tcp"):
                data += value
            elif what == "raw":
                break
            elif what == "close" or (what == "cut" and outcome.protocol == "tcp"):
                is_closed = True
            elif what == "unasked" and course.answer.framing == "close" and course.answer.has_body:
                return reading.Reading(), name, True  # without a length, any bytes after the body are part of it
        return reading.read(data, is_closed, outcome.method, outcome.decodes, course.packed), name, True

    def _success(self, number, outcome, expected):
        is_own = expected.body is not None and expected.body == outcome.body
        for data in (outcome.answer_id, b"" if is_own else outcome.body[:200]):
            other = answers.marked(self.plans.seed, data)
            if other is not None and other != number:
                # Bytes already on their way when the request started are indistinguishable from its response.
                if outcome.started < self.ledger.entry(answers.origin(other)).sent_at:
                    return ("collateral", "the response to exchange %d arrived while the request was sent" % other)
                return ("finding", "mix-up: this is the response to exchange %d" % other)
        if outcome.status == 408 != expected.status and outcome.started < self.ledger.entry(number - 1).sent_at:
            return ("collateral", "a 408 came while the request was sent")  # it does not name its exchange
        if expected.refusal:
            if outcome.is_after_wild and not outcome.is_wild:
                return ("collateral", "")
            return ("known" if expected.is_known else "finding", "accepted although %s: %d with %d bytes" % (
                expected.refusal, outcome.status, len(outcome.body)))
        if expected.body is not None and (expected.status, expected.body) != (outcome.status, outcome.body):
            place = len(os.path.commonprefix([expected.body, outcome.body]))
            return ("finding", "misread: expected %d with %d bytes, got %d with %d bytes, which differ at byte %d" % (
                expected.status, len(expected.body), outcome.status, len(outcome.body), place))
        return ("good", "")

    def _failure(self, entry, outcome, expected):
        """Returns the verdict on a valid response for which the client reported an error."""
        # A 204 is an error for a task that downloads a file.
        is_refused = not 200 <= (expected.status or 0) < 300 or expected.status == 204
        if outcome.error.startswith(("badStatus:", "notModified:")) and is_refused:
            return ("good", "")  # a call throws for these
        if any(not connection.is_tainted for connection in entry.connections):
            return ("finding", "a valid response failed: %s" % outcome.error)
        if outcome.is_after_wild:
            return ("collateral", "")
        return ("finding", "a valid exchange failed: %s" % outcome.error)
