"use strict";
// The space-time diagram: a row for each step, a column for each worker, drawn only where it is visible.

const ROW = 22;
const COLUMN = 26;
const LEFT = 62;
const SVG = "http://www.w3.org/2000/svg";

function element(tag, attributes, text) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "class") made.className = value;
    else made.setAttribute(name, value);
  }
  if (text !== undefined) made.textContent = text;
  return made;
}

// A hue for a name that is the same in every page.
function hue(name) {
  let hash = 7;
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) % 360;
  return `hsl(${hash} 55% 55%)`;
}

// The steps that these depend on (or, backwards, that depend on them), themselves included.
class Order {
  constructor(steps, lanes) {
    const last = new Array(lanes).fill(-1);
    this.before = steps.map((step, at) => {
      const before = (step.after || []).slice();
      if (last[step.w] >= 0) before.push(last[step.w]);
      last[step.w] = at;
      return before;
    });
    this.next = steps.map(() => []);
    this.before.forEach((before, at) => before.forEach((step) => this.next[step].push(at)));
  }

  past(roots) {
    return this.closure(roots, this.before);
  }

  future(roots) {
    return this.closure(roots, this.next);
  }

  closure(roots, edges) {
    const found = new Uint8Array(edges.length);
    const open = roots.slice();
    roots.forEach((root) => (found[root] = 1));
    while (open.length) {
      for (const step of edges[open.pop()]) {
        if (!found[step]) {
          found[step] = 1;
          open.push(step);
        }
      }
    }
    return found;
  }
}

class Diagram {
  constructor(model, texts, selected) {
    this.model = model;
    this.texts = texts;
    this.onSelect = selected;
    this.order = new Order(model.steps, model.lanes.length);
    this.past = this.order.past(model.roots);
    // What led to the bug: its past without the steps that had no consequence.
    this.led = this.past.slice();
    for (const step of model.idle || []) this.led[step] = 0;
    this.onlyPast = model.roots.length > 0 && this.led.includes(0);
    this.opened = new Set();
    if (model.difference < model.steps.length) this.opened.add(model.difference);
    this.rounds = 1;
    this.chosen = -1;
    this.focus = null;
    // Which steps are to be shown at all, if not every one.
    this.filter = null;
    this.hits = new Set();
    this.folded = new Set();
    this.foldWideKinds();
    this.scroll = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Diagram of steps; the list of steps has the same content" });
    this.lanes = element("div", { class: "lanes" });
    this.space = element("div", { class: "space" });
    this.svg = document.createElementNS(SVG, "svg");
    this.rowsAt = element("div");
    this.space.append(this.rowsAt, this.svg);
    this.scroll.append(this.lanes, this.space);
    this.scroll.addEventListener("scroll", () => this.draw());
    window.addEventListener("resize", () => this.draw());
  }

  // Kinds with many lanes begin folded, and so do timers: a diagram is wider than a screen otherwise.
  foldWideKinds() {
    const count = new Map();
    for (const lane of this.model.lanes) count.set(lane.kind, (count.get(lane.kind) || 0) + 1);
    for (const [kind, lanes] of count) {
      if (lanes > 16 || (kind === "timers" && lanes > 3)) this.folded.add(kind);
    }
  }

  // The last step of a failing schedule is where it fails.
  isBug(step) {
    return step === this.model.steps.length - 1 && this.model.stem === undefined && this.model.roots.length > 0;
  }

  shows(step) {
    if (this.opened.has(step)) return true;
    return (!this.onlyPast || this.led[step] === 1) && (!this.filter || this.filter(step));
  }

  // Why these steps are left out.
  why(from, to) {
    const past = this.past.slice(from, to + 1);
    if (this.filter) return "left out";
    if (!past.includes(1)) return "not in the past of the bug";
    return past.includes(0) ? "that did not lead to the bug" : "without a consequence";
  }

  // Rows and columns anew, after what is shown has changed.
  layout() {
    const { steps, lanes, stem } = this.model;
    this.rows = [];
    this.rowOf = new Int32Array(steps.length).fill(-1);
    const used = new Uint8Array(lanes.length);
    let gap = null;
    for (let at = 0; at < steps.length; at++) {
      if (at === stem) this.rows.push({ loop: true });
      if (this.shows(at)) {
        gap = null;
        this.rowOf[at] = this.rows.length;
        this.rows.push({ step: at });
        used[steps[at].w] = 1;
      } else if (gap === null || at === stem) {
        gap = { gap: [at, at] };
        this.rows.push(gap);
      } else {
        gap.gap[1] = at;
      }
    }
    if (stem !== undefined) {
      for (let round = 2; round <= this.rounds; round++) {
        this.rows.push({ round });
        for (let at = stem; at < steps.length; at++) this.rows.push({ step: at, again: true });
      }
      this.rows.push({ end: true });
    }
    // What holds from a step on is drawn from the row of the next step shown.
    this.rowFrom = new Int32Array(steps.length);
    for (let at = steps.length - 1, next = this.rows.length; at >= 0; at--) {
      if (this.rowOf[at] >= 0) next = this.rowOf[at];
      this.rowFrom[at] = next;
    }
    for (const arrow of this.model.arrows) {
      if (this.rowOf[arrow.from] >= 0) used[arrow.lane] = 1;
    }
    this.columns = [];
    this.columnOf = new Int32Array(lanes.length).fill(-1);
    const kinds = new Map();
    lanes.forEach((lane, at) => {
      if (used[at]) {
        if (!kinds.has(lane.kind)) kinds.set(lane.kind, []);
        kinds.get(lane.kind).push(at);
      }
    });
    for (const [kind, members] of kinds) {
      const together = this.folded.has(kind) && members.length > 1;
      members.forEach((lane, position) => {
        if (!together || position === 0) {
          const name = together ? `${kind} (${members.length})` : lanes[lane].name;
          this.columns.push({ name, kind, many: members.length > 1 });
        }
        this.columnOf[lane] = this.columns.length - 1;
      });
    }
    this.width = LEFT + (this.columns.length + this.model.monitors.length) * COLUMN + 20;
    this.drawLanes();
    this.space.style.height = `${(this.rows.length + 16) * ROW}px`;
    this.draw();
  }

  x(lane) {
    return LEFT + this.columnOf[lane] * COLUMN;
  }

  drawLanes() {
    this.lanes.replaceChildren();
    this.lanes.style.minWidth = `${this.width + 120}px`;
    this.columns.forEach((column, at) => {
      const hint = column.many ? `${column.name}: click to fold or unfold all of kind ${column.kind}` : column.name;
      const label = element(column.many ? "button" : "div", { class: "lane", title: hint }, column.name);
      label.style.left = `${LEFT + at * COLUMN}px`;
      if (column.many) {
        label.addEventListener("click", () => {
          if (!this.folded.delete(column.kind)) this.folded.add(column.kind);
          this.layout();
        });
      }
      this.lanes.append(label);
    });
    this.model.monitors.forEach((monitor, at) => {
      const label = element("div", { class: "lane", title: `monitor ${monitor.name}` }, monitor.name);
      label.style.left = `${LEFT + (this.columns.length + at) * COLUMN}px`;
      this.lanes.append(label);
    });
  }

  // The rows of the window, and what of lines and arrows crosses it.
  draw() {
    const top = Math.max(0, Math.floor(this.scroll.scrollTop / ROW) - 10);
    const bottom = Math.min(this.rows.length, top + Math.ceil(this.scroll.clientHeight / ROW) + 20);
    const rows = [];
    for (let at = top; at < bottom; at++) rows.push(this.row(at));
    this.rowsAt.replaceChildren(...rows);
    this.svg.setAttribute("width", this.width);
    this.svg.setAttribute("height", (bottom - top) * ROW);
    this.svg.style.top = `${top * ROW}px`;
    this.svg.setAttribute("viewBox", `0 ${top * ROW} ${this.width} ${(bottom - top) * ROW}`);
    const parts = [];
    this.drawSpans(parts, top, bottom);
    this.drawArrows(parts, top, bottom);
    this.drawNodes(parts, top, bottom);
    this.svg.replaceChildren(...parts);
  }

  row(at) {
    const row = this.rows[at];
    const made = element("div", { class: "row" });
    made.style.top = `${at * ROW}px`;
    made.style.paddingLeft = `${this.width}px`;
    if (row.gap) {
      const [from, to] = row.gap;
      made.classList.add("gap");
      const count = to - from + 1;
      made.textContent = `… ${count} ${count === 1 ? "step" : "steps"} ${this.why(from, to)}`;
      made.addEventListener("click", () => {
        for (let step = from; step <= to; step++) this.opened.add(step);
        this.layout();
      });
      return made;
    }
    if (row.step === undefined) {
      made.classList.add("round");
      if (row.loop) made.textContent = "from here on again and again:";
      else if (row.round) made.textContent = `round ${row.round}`;
      else {
        const more = element("button", {}, "go round once more");
        more.addEventListener("click", () => {
          this.rounds += 1;
          this.layout();
        });
        made.append(more);
      }
      return made;
    }
    const { name, lines } = this.texts(row.step);
    const last = this.isBug(row.step);
    if (row.step === this.chosen && !row.again) made.classList.add("chosen");
    if (this.focus && !this.focus[row.step]) made.classList.add("dim");
    if (this.hits.has(row.step)) made.classList.add("hit");
    if (row.again || row.step >= this.model.stem) made.classList.add("looped");
    if (last) made.classList.add("last");
    if (row.step === this.model.difference && !row.again) made.classList.add("difference");
    const more = lines.length > 1 ? `  (+${lines.length - 1})` : "";
    made.append(element("span", { class: "number" }, String(row.step + 1)), element("b", {}, name), `  ${lines[0] || ""}${more}`);
    made.title = lines.join("\n");
    made.dataset.step = row.step;
    made.addEventListener("click", () => this.onSelect(row.step));
    return made;
  }

  part(parts, tag, attributes, title) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (title) {
      const hover = document.createElementNS(SVG, "title");
      hover.textContent = title;
      made.append(hover);
      made.style.pointerEvents = "stroke";
    }
    parts.push(made);
    return made;
  }

  line(parts, x, from, to, top, bottom, attributes, title) {
    if (to < top || from > bottom) return null;
    const [y1, y2] = [Math.max(from, top - 1), Math.min(to, bottom + 1)].map((row) => row * ROW + ROW / 2);
    return this.part(parts, "line", { x1: x, x2: x, y1, y2, ...attributes }, title);
  }

  drawSpans(parts, top, bottom) {
    const end = this.rows.length;
    this.columns.forEach((_, at) => this.line(parts, LEFT + at * COLUMN, 0, end, top, bottom, { class: "life" }));
    const spans = (list, attributes) => {
      for (const span of list) {
        if (this.columnOf[span.lane] < 0 || this.folded.has(this.model.lanes[span.lane].kind)) continue;
        const [from, to] = [this.rowFrom[span.from], span.to === null ? end : this.rowFrom[span.to]];
        const made = this.line(parts, this.x(span.lane), from, to, top, bottom, attributes(span), span.text);
        if (made && attributes(span).class === "state") made.style.stroke = hue(span.text);
      }
    };
    spans(this.model.states, () => ({ class: "state" }));
    spans(this.model.waits, () => ({ class: "wait" }));
    // Beside the lane, since its worker may wait or be in a state at the same time.
    for (const span of this.model.holds) {
      const [from, to] = [this.rowFrom[span.from], span.to === null ? end : this.rowFrom[span.to]];
      if (this.columnOf[span.lane] >= 0 && to > from) this.line(parts, this.x(span.lane) + 7, from, to, top, bottom, { class: "hold" }, `holds ${span.text}`);
    }
    this.model.monitors.forEach((monitor, at) => {
      const x = LEFT + (this.columns.length + at) * COLUMN;
      monitor.spans.forEach((span, index) => {
        const next = monitor.spans[index + 1];
        const [from, to] = [this.rowFrom[span.from], next ? this.rowFrom[next.from] : end];
        this.line(parts, x, from, to, top, bottom, { class: span.heat }, `${monitor.name}: ${span.heat} ${span.state}`);
      });
    });
  }

  drawArrows(parts, top, bottom) {
    for (const arrow of this.model.arrows) {
      const from = this.rowOf[arrow.from];
      if (from < 0 || from > bottom) continue;
      const to = arrow.to === null ? -1 : this.rowOf[arrow.to];
      if (arrow.to !== null && (to < 0 || to < top)) continue;
      if (arrow.to === null && from < top) continue;
      const [x1, y1] = [this.x(this.model.steps[arrow.from].w), from * ROW + ROW / 2];
      const end = this.x(arrow.lane);
      const lost = arrow.how === "lost" || to < 0;
      const [x2, y2] = lost ? [x1 + (end - x1) * 0.6, y1 + ROW * 0.7] : [end, to * ROW + ROW / 2];
      const kinds = { received: "message", ignored: "ignored", lost: "lost", waiting: "ignored", creation: "creation", order: "order" };
      const near = this.chosen >= 0 && (arrow.from === this.chosen || arrow.to === this.chosen);
      const dim = this.focus && !(this.focus[arrow.from] && (arrow.to === null || this.focus[arrow.to]));
      const look = `${kinds[arrow.how]}${near ? " strong" : ""}${dim ? " dim" : ""}`;
      const words = { lost: "lost: ", waiting: "not received: ", ignored: "not handled: " };
      this.part(parts, "path", { d: `M${x1} ${y1} L${x2} ${y2}`, class: look }, (words[arrow.how] || "") + arrow.text);
      if (arrow.how === "lost") this.part(parts, "path", { d: `M${x2 - 4} ${y2 - 4} l8 8 m0 -8 l-8 8`, class: "cross" });
      else if (!lost && arrow.how !== "creation" && arrow.how !== "order") this.drawHead(parts, x1, y1, x2, y2, dim);
    }
  }

  drawHead(parts, x1, y1, x2, y2, dim) {
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [x, y] = [x2 - dx * 5, y2 - dy * 5];
    const points = `${x},${y} ${x - dx * 7 - dy * 3.5},${y - dy * 7 + dx * 3.5} ${x - dx * 7 + dy * 3.5},${y - dy * 7 - dx * 3.5}`;
    this.part(parts, "polygon", { points, class: dim ? "head dim" : "head" });
  }

  drawNodes(parts, top, bottom) {
    for (let at = top; at < bottom; at++) {
      const { step } = this.rows[at];
      if (step === undefined) continue;
      const bad = this.isBug(step) ? " bad" : "";
      const fault = this.model.steps[step].fault ? " fault" : "";
      const dim = this.focus && !this.focus[step] ? " dim" : "";
      const [cx, cy] = [this.x(this.model.steps[step].w), at * ROW + ROW / 2];
      this.part(parts, "circle", { cx, cy, r: step === this.chosen ? 6 : 4, class: `node${bad}${fault}${dim}` });
    }
  }

  // Scrolls so that a step is in view; shows it if it was left out.
  reveal(step) {
    if (!this.shows(step)) {
      this.opened.add(step);
      this.layout();
    }
    const y = this.rowOf[step] * ROW;
    const [top, height] = [this.scroll.scrollTop, this.scroll.clientHeight - 92];
    if (y < top || y > top + height - 2 * ROW) this.scroll.scrollTop = Math.max(0, y - height / 3);
  }
}
