extension LogPage {
  /// The page's script. It never builds markup from data and renders only visible rows to handle 10,000 calls.
  static let script = #"""
    "use strict";
    addEventListener("DOMContentLoaded", () => {
      const $ = id => document.getElementById(id), height = 26;
      const list = $("list"), axis = $("axis"), space = $("space"), details = $("details"), filter = $("filter"), follow = $("follow");
      const items = [];
      for (const block of document.querySelectorAll("script.call")) {
        try { items.push(JSON.parse(block.textContent)); } catch { /* the last block may be incomplete */ }
        block.remove();
      }
      items.sort((a, b) => a.call.startedAt - b.call.startedAt || a.call.id - b.call.id);
      const start = items.reduce((least, item) => Math.min(least, item.call.startedAt), Infinity);
      // If all calls have the same origin, the rows omit it.
      const origin = url => { try { return new URL(url).origin; } catch { return ""; } };
      const origins = new Set(items.filter(item => item.call.url).map(item => origin(item.call.url)));
      const common = origins.size === 1 ? [...origins][0] : "";
      const address = call => call.url && common && call.url.startsWith(common + "/") ? call.url.slice(common.length) : call.url || call.task;
      for (const item of items) {
        const call = item.call;
        item.text = [call.method, call.url, call.task, call.tag, call.comment, call.failure, call.status].filter(Boolean).join(" ").toLowerCase();
      }
      let shown = items, picked = null;
      // Session storage may be disabled.
      const kept = (() => { try { return JSON.parse(sessionStorage.getItem(location.pathname) || "{}"); } catch { return {}; } })();

      const element = (name, className, text) => {
        const node = document.createElement(name);
        if (className) node.className = className;
        if (text !== undefined && text !== null) node.textContent = text;
        return node;
      };
      const seconds = value => value === undefined || value === null ? "" : value < 1 ? (value * 1000).toFixed(value < 0.1 ? 1 : 0) + " ms" : value.toFixed(2) + " s";

      // The time scale covers all calls in the list, or only the visible ones if there are many.
      const many = 200;
      const scale = { from: 0, step: 0.001, count: 4 };
      const measure = calls => {
        let from = Infinity, to = 0;
        for (const { call } of calls) {
          from = Math.min(from, call.startedAt - start);
          to = Math.max(to, call.startedAt - start + call.duration);
        }
        if (to - from < 0.001) to = from + 0.001;
        const rough = (to - from) / 4, power = 10 ** Math.floor(Math.log10(rough));
        scale.step = [1, 2, 5, 10].map(factor => factor * power).find(step => step >= rough * 0.999);
        scale.from = Math.floor(from / scale.step + 1e-9) * scale.step;
        scale.count = Math.max(1, Math.ceil((to - scale.from) / scale.step - 1e-9));
        list.style.setProperty("--tick", 100 / scale.count + "%");
        const ticks = [];
        for (let index = 0; index < scale.count; index++) {
          const tick = element("b", "", moment(scale.from + index * scale.step));
          tick.style.left = 100 * index / scale.count + "%";
          ticks.push(tick);
        }
        axis.querySelector(".bars").replaceChildren(...ticks);
      };
      const moment = value => {
        const digits = Math.max(0, -Math.floor(Math.log10(scale.step) + 1e-9));
        return scale.step < 1 && value < 0.9999 ? (value * 1000).toFixed(Math.max(0, digits - 3)) + " ms" : value.toFixed(digits) + " s";
      };

      // Returns the phases of a request, each with its name, start and length.
      const parts = (call, exchange) => {
        const at = exchange.sent, times = exchange.timings, queued = exchange.queued || 0;
        const ended = Math.max(exchange.ended ?? at, exchange.answered ?? at);
        if (!times || !times.firstByte) return [["queue", at, queued], ["wait", at + queued, Math.max(0, (exchange.answered ?? ended) - at - queued)],
          ["body", exchange.answered ?? ended, ended - (exchange.answered ?? ended)]];
        const begin = at + queued, ready = Math.max(times.connect, times.secureConnect);
        return [["queue", at, queued], ["name", begin, times.nameLookup], ["connect", begin + times.nameLookup, times.connect - times.nameLookup],
          ["tls", begin + times.connect, Math.max(0, times.secureConnect - times.connect)], ["wait", begin + ready, times.firstByte - ready],
          ["body", begin + times.firstByte, times.lastByte - times.firstByte]];
      };
      const attempts = call => call.attempts + (call.attempts === 1 ? " attempt" : " attempts");
      const bars = call => {
        const node = element("span", "bars"), base = call.startedAt - start - scale.from, whole = scale.count * scale.step;
        const bar = (name, from, length) => {
          const part = element("i", name);
          part.style.left = 100 * (base + from) / whole + "%";
          part.style.width = 100 * Math.max(0, length) / whole + "%";
          node.append(part);
        };
        bar("attempt", 0, call.duration);
        const words = [attempts(call)];
        for (const exchange of call.exchanges) {
          const times = parts(call, exchange).filter(part => part[2] > 0);
          for (const [name, from, length] of times) bar(name, from, length);
          words.push(times.map(([name, , length]) => name + " " + seconds(length)).join(", "));
        }
        node.title = words.join("\n");
        return node;
      };
      const row = index => {
        const item = shown[index], call = item.call, node = element("div", "row");
        node.style.top = index * height + "px";
        node.setAttribute("role", "option");
        node.setAttribute("aria-selected", item === picked);
        node.id = "call" + call.id;
        const place = element("span", "address", address(call));
        place.title = call.task + "\n" + (call.url || "");
        node.append(element("span", "number", call.id), element("span", "method", call.method),
          element("span", "status " + call.outcome, call.status || (call.outcome === "succeeded" ? "" : "—")), place, bars(call),
          element("span", "time", seconds(call.duration)));
        node.addEventListener("click", () => pick(item));
        return node;
      };
      const draw = () => {
        const first = Math.max(0, Math.floor(list.scrollTop / height) - 5);
        const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / height) + 5);
        measure(shown.length > many ? shown.slice(first, last) : shown);
        const rows = [];
        for (let index = first; index < last; index++) rows.push(row(index));
        space.style.height = shown.length * height + "px";
        space.replaceChildren(...rows);
      };
      const test = (call, text, word) => {
        const [, name, value] = /^(status|outcome|method|task):(.*)$/.exec(word) || [];
        return name ? String(call[name] ?? "").toLowerCase().startsWith(value) : text.includes(word);
      };
      const choose = () => {
        const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
        shown = items.filter(item => words.every(word => test(item.call, item.text, word)));
        const failed = shown.filter(item => item.call.outcome === "failed").length;
        $("count").textContent = shown.length + " of " + items.length + " calls" + (failed ? ", " + failed + " failed" : "");
        draw();
      };

      const copy = async text => {
        try { await navigator.clipboard.writeText(text); } catch {
          const area = element("textarea");
          area.value = text;
          document.body.append(area);
          area.select();
          document.execCommand("copy");
          area.remove();
        }
      };
      // Returns a POSIX shell command that resends a request with curl. If the body is binary, the block has the command.
      const isPlain = text => !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(text);
      const printf = text => {
        let format = "";
        for (const byte of new TextEncoder().encode(text)) {
          format += byte === 37 ? "%%" : byte < 32 || byte > 126 || [39, 45, 92].includes(byte) ? "\\" + byte.toString(8).padStart(3, "0") : String.fromCharCode(byte);
        }
        return "printf '" + format + "'";
      };
      const quoted = text => isPlain(text) ? "'" + text.replaceAll("'", "'\\''") + "'" : '"$(' + printf(text) + ')"';
      const curl = exchange => {
        if ("curl" in exchange) return exchange.curl;
        const [first, ...header] = exchange.request.split("\n"), blank = first.indexOf(" ");
        const method = first.slice(0, blank), url = first.slice(blank + 1);
        if (url === "<hidden>" || (exchange.requestBody && exchange.requestBody.cut)) return "";
        const headers = header.map(line => ({ name: line.slice(0, line.indexOf(":")), value: line.slice(line.indexOf(":") + 2) }));
        const lines = ["curl " + quoted(url)], content = exchange.requestBody && exchange.requestBody.text;
        const sends = content !== undefined || ["POST", "PUT", "PATCH"].includes(method);
        if (/[[\]{}]/.test(url)) lines.push("--globoff");
        if (/\/\.|\/%2/.test(url)) lines.push("--path-as-is");
        if (method === "HEAD") lines.push("--head");
        else if (method !== (sends ? "POST" : "GET")) lines.push("--request " + quoted(method));
        const names = headers.map(field => field.name.toLowerCase()), unwanted = ["Accept", "User-Agent"];
        if (sends) unwanted.push("Content-Type");
        headers.forEach((field, number) => {
          if (["content-length", "transfer-encoding"].includes(names[number])) return;
          lines.push("--header " + quoted(/^[ \t]*$/.test(field.value) ? field.name + ";" : field.name + ": " + field.value));
        });
        for (const name of unwanted) if (!names.includes(name.toLowerCase())) lines.push("--header '" + name + ":'");
        let input = "";
        if (content === undefined) { if (sends) lines.push("--data-raw ''"); }
        else if (isPlain(content)) lines.push("--data-raw " + quoted(content));
        else { input = printf(content) + " |\n"; lines.push("--data-binary @-"); }
        return input + lines.join(" \\\n  ");
      };
      const body = value => value ? "\n\n" + value.text + (value.cut ? "\n… " + value.cut + " more bytes are in the text file" : "") : "";
      const pick = item => {
        picked = item;
        const call = item.call, nodes = [element("h2", "", call.method + " " + (call.url || call.task))];
        nodes.push(element("p", call.outcome, call.outcome + (call.status ? " with " + call.status : "") + " after " + seconds(call.duration) + ", " + attempts(call)));
        nodes.push(element("p", "", [call.task, call.tag !== call.task ? call.tag : "", call.comment].filter(Boolean).join(" · ")));
        if (call.failure) nodes.push(element("p", "failed", call.failure));
        if (call.diagnosis) nodes.push(element("p", "advice", call.diagnosis.cause + ": " + call.diagnosis.advice));
        const link = element("a", "", item.file);
        link.href = document.body.dataset.folder + encodeURIComponent(item.file);
        nodes.push(link);
        call.exchanges.forEach((exchange, index) => {
          nodes.push(element("h3", "", "Request " + (index + 1) + " of " + call.exchanges.length + ", attempt " + exchange.attempt + (exchange.version ? ", " + exchange.version : "")));
          const button = element("button", "", "Copy as cURL"), command = curl(exchange);
          button.addEventListener("click", () => copy(command));
          button.title = command;
          if (command) nodes.push(button);
          nodes.push(element("pre", "", exchange.request + body(exchange.requestBody)));
          nodes.push(element("pre", "", exchange.response + body(exchange.responseBody) + (exchange.trailers ? "\n\n" + exchange.trailers : "")));
        });
        if (call.timeline) {
          nodes.push(element("h3", "", "Flight record"));
          nodes.push(element("pre", "", call.timeline.replace(/^ +/gm, "")));
        }
        details.replaceChildren(...nodes);
        details.scrollTop = 0;
        list.setAttribute("aria-activedescendant", "call" + call.id);
        draw();
      };
      const step = count => {
        if (!shown.length) return;
        const index = Math.min(shown.length - 1, Math.max(0, shown.indexOf(picked) + count));
        const top = index * height;
        const room = list.clientHeight - axis.offsetHeight;
        if (top < list.scrollTop) list.scrollTop = top;
        if (top + height > list.scrollTop + room) list.scrollTop = top + height - room;
        pick(shown[index]);
      };
      addEventListener("keydown", event => {
        if (event.target === filter) { if (event.key === "Escape") { filter.value = ""; typed(); list.focus(); } return; }
        if (event.metaKey || event.ctrlKey || event.altKey) return;
        const page = Math.max(1, Math.floor(list.clientHeight / height) - 1);
        const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9 };
        if (event.target !== details && event.key in steps) { event.preventDefault(); step(steps[event.key]); }
        if (event.key === "/") { event.preventDefault(); filter.focus(); }
        if (event.key === "Escape") { picked = null; details.replaceChildren(); draw(); }
        if (event.key === "c" && picked && picked.call.exchanges.length) copy(curl(picked.call.exchanges.at(-1)));
      });
      // Update the filter in the URL, because reloading the page would restore the old one.
      const typed = () => { if (location.hash) history.replaceState(null, "", "#" + encodeURIComponent(filter.value)); choose(); };
      filter.addEventListener("input", typed);
      list.addEventListener("scroll", draw, { passive: true });
      addEventListener("resize", draw);
      // The program may still be running, so reload the page and restore its state.
      const keep = () => { try { sessionStorage.setItem(location.pathname, JSON.stringify({ filter: filter.value, follow: follow.checked, id: picked && picked.call.id, top: list.scrollTop })); } catch {} };
      addEventListener("pagehide", keep);
      setInterval(() => { if (follow.checked && !document.hidden) { keep(); location.reload(); } }, 2000);
      const asked = () => { try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; } };
      filter.value = asked() || kept.filter || "";
      addEventListener("hashchange", () => { filter.value = asked(); choose(); });
      follow.checked = kept.follow || false;
      $("origin").textContent = common;
      choose();
      list.scrollTop = follow.checked ? shown.length * height : kept.top || 0;
      const last = items.find(item => item.call.id === kept.id);
      if (last) pick(last); else if (shown.length === 1) pick(shown[0]); else draw();
      list.focus();
    });
    """#
}
