// The panel beside the diagram: one step, what was before it, and what else could have happened.

class Panel {
  constructor(diagram) {
    this.diagram = diagram;
    this.aside = element("aside", { class: "panel", "aria-live": "polite" });
    this.aside.append(element("p", {}, "Choose a step to see its causes, its effects and what else could have been chosen there."));
  }

  link(step) {
    const { name, lines } = this.diagram.texts(step);
    const made = element("a", { href: "#", role: "button" }, `step ${step + 1}, ${name}: ${lines[0] || ""}`);
    made.addEventListener("click", (event) => {
      event.preventDefault();
      this.diagram.onSelect(step);
    });
    return made;
  }

  list(title, items) {
    if (!items.length) return;
    const list = element("ul");
    for (const item of items) {
      const entry = element("li");
      entry.append(item);
      list.append(entry);
    }
    this.facts.append(element("dt", {}, title));
    const value = element("dd");
    value.append(list);
    this.facts.append(value);
  }

  // The text of the span of this lane that holds before a step, and after it.
  around(spans, lane, step) {
    const holds = (at) => spans.filter((span) => span.lane === lane && span.from <= at && (span.to === null || span.to > at)).map((span) => span.text).pop();
    return [step > 0 ? holds(step - 1) : undefined, holds(step)];
  }

  // The fields of a value in Rust's notation: texts such as `votes: 2`, by the commas outside of brackets and quotes.
  parts(text) {
    const open = text.indexOf("{");
    if (open < 0 || !text.endsWith("}")) return [text];
    const parts = [""];
    let depth = 0;
    let quoted = false;
    const inside = text.slice(open + 1, -1);
    for (let at = 0; at < inside.length; at++) {
      const char = inside[at];
      if (quoted && char === "\\") parts[parts.length - 1] += inside[at++];
      else if (char === '"') quoted = !quoted;
      else if (!quoted && "([{".includes(char)) depth += 1;
      else if (!quoted && ")]}".includes(char)) depth -= 1;
      if (char === "," && !quoted && depth === 0) parts.push("");
      else parts[parts.length - 1] += inside[at] === undefined ? "" : inside[at];
    }
    return parts.map((part) => part.trim()).filter(Boolean);
  }

  // What the worker holds after a step; what the step has changed is marked, with what was there before.
  fields(lane, step) {
    const { steps } = this.diagram.model;
    const told = (from) => {
      for (let at = from; at >= 0; at--) if (steps[at].w === lane && steps[at].fields) return this.parts(steps[at].fields);
      return null;
    };
    const after = told(step);
    if (!after) return;
    const before = told(step - 1);
    const old = (part) => before && before.find((other) => other.split(":")[0] === part.split(":")[0]);
    this.list("Fields afterwards", after.map((part) => {
      if (!before || before.includes(part)) return part;
      const mark = element("mark", {}, part);
      mark.title = old(part) ? `before: ${old(part)}` : "new";
      const line = element("span");
      line.append(mark);
      if (old(part)) line.append(` (was ${old(part).slice(part.split(":")[0].length + 1).trim()})`);
      return line;
    }));
  }

  show(step) {
    const { model, order, texts } = this.diagram;
    const { name, lines } = texts(step);
    const me = model.steps[step].w;
    this.facts = element("dl");
    this.aside.replaceChildren(element("h2", {}, `Step ${step + 1} of ${model.steps.length}: ${name}`), this.facts);
    this.list("What happens", lines);
    const [before, after] = this.around(model.states, me, step);
    if (before || after) this.list("State", [before === after || !before ? `${after || before}` : `${before} → ${after || "none"}`]);
    this.fields(me, step);
    const [, waits] = this.around(model.waits, me, step);
    if (waits) this.list("Waits afterwards", [`to ${waits}`]);
    const holds = model.holds.filter((span) => span.lane === me && span.from <= step && (span.to === null || span.to > step));
    this.list("Holds afterwards", holds.map((span) => `${span.text} (since step ${span.from + 1})`));
    const received = model.arrows.filter((arrow) => arrow.lane === me && arrow.how === "received" && arrow.to <= step);
    const last = received.reduce((last, arrow) => (last && last.to > arrow.to ? last : arrow), null);
    if (last) this.list("Last received", [`${last.text} (in step ${last.to + 1})`]);
    const inbox = model.arrows.filter((arrow) => arrow.lane === me && !["creation", "lost", "order"].includes(arrow.how) && arrow.from < step && (arrow.to === null || arrow.to >= step));
    this.list("Inbox before", inbox.map((arrow) => `${arrow.text} (sent in step ${arrow.from + 1})`));
    const monitors = model.monitors.map((monitor) => {
      const span = monitor.spans.filter((span) => span.from <= step).pop();
      return span ? `${monitor.name}: ${span.heat === "neutral" ? "" : `${span.heat} `}${span.state}` : null;
    });
    this.list("Monitors", monitors.filter(Boolean));
    this.list("Could have stepped instead", (model.steps[step].could || []).map((lane) => model.lanes[lane].name));
    this.list("Comes after", order.before[step].slice().sort((a, b) => a - b).map((at) => this.link(at)));
    this.list("Comes before", order.next[step].slice().sort((a, b) => a - b).slice(0, 20).map((at) => this.link(at)));
  }
}
