// What ties list, diagram and panel together: buttons, keys, search.

(function () {
  const model = JSON.parse(document.getElementById("model").textContent);
  copyButtons();
  // From here on it is said below whether the list is shown; nothing is laid out before that.
  document.getElementById("list").classList.remove("early");
  if (!model.steps.length) return;

  const items = document.querySelectorAll("#list ol > li");
  const texts = textsOf(items);
  const diagram = new Diagram(model, texts, select);
  const panel = new Panel(diagram);
  const [section, list] = ["diagram", "list"].map((id) => document.getElementById(id));
  const panes = element("div", { class: "panes" });
  panes.append(diagram.scroll, panel.aside);
  const { tools, search, count, who, hits } = toolbar();
  section.before(tools);
  section.append(panes);
  section.hidden = false;
  list.hidden = true;
  items.forEach((item, at) => item.classList.toggle("outside", !diagram.led[at]));
  diagram.layout();
  select(model.steps.length - 1);
  showNearest();

  function textsOf(items) {
    return (step) => {
      const item = items[step];
      return { name: item.querySelector("b").textContent, lines: Array.from(item.querySelectorAll("li"), (line) => line.textContent) };
    };
  }

  // The nearest schedule that does not fail has a diagram of its own, at the first difference.
  function showNearest() {
    if (!model.nearest) return;
    const place = document.getElementById("nearest");
    const other = new Diagram(model.nearest, textsOf(place.querySelectorAll("ol > li")), (step) => {
      other.chosen = step;
      other.draw();
    });
    place.querySelector("details").before(other.scroll);
    other.layout();
    if (model.difference < model.nearest.steps.length) other.onSelect(model.difference);
    other.reveal(Math.min(model.difference, model.nearest.steps.length - 1));
  }

  function button(text, pressed, title, act) {
    const made = element("button", { "aria-pressed": String(pressed), title }, text);
    made.addEventListener("click", () => act(made));
    return made;
  }

  function toolbar() {
    const tools = element("div", { class: "tools", role: "toolbar", "aria-label": "View" });
    const press = (made, on) => made.setAttribute("aria-pressed", String(on));
    const view = (shown) => {
      section.hidden = shown === list;
      list.hidden = shown === section;
      press(asDiagram, shown === section);
      press(asList, shown === list);
      if (shown === section) diagram.draw();
    };
    const asDiagram = button("Diagram", true, "Lanes of workers, time downwards", () => view(section));
    const asList = button("List", false, "All steps as text", () => view(list));
    const led = diagram.led.reduce((sum, step) => sum + step, 0);
    const outside = model.steps.length - led;
    const only = button(`Only what led to the bug (${led} of ${model.steps.length} steps)`, diagram.onlyPast, `${outside} of ${model.steps.length} steps are not in the past of the bug, or without a consequence`, (made) => {
      diagram.onlyPast = !diagram.onlyPast;
      diagram.opened.clear();
      press(made, diagram.onlyPast);
      diagram.layout();
    });
    only.disabled = outside === 0;
    only.id = "only";
    const causes = button("Causes and effects", false, "Dim what is neither before nor after the chosen step (c)", () => toggleFocus());
    causes.id = "causes";
    const search = element("input", { type: "search", placeholder: "Search (/)", "aria-label": "Search in the steps" });
    const count = element("span", { class: "hint", "aria-live": "polite" });
    search.addEventListener("input", find);
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") nextHit(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") search.blur();
      event.stopPropagation();
    });
    const who = element("select", { id: "who", "aria-label": "Steps of which workers" });
    who.append(new Option("All workers", ""));
    const kinds = Array.from(new Set(model.lanes.map((lane) => lane.kind)));
    // A kind of one worker is that worker.
    kinds.forEach((kind) => model.lanes.filter((lane) => lane.kind === kind).length > 1 && who.append(new Option(`All of kind ${kind}`, `kind ${kind}`)));
    model.lanes.forEach((lane, at) => who.append(new Option(lane.name, `lane ${at}`)));
    who.addEventListener("change", filter);
    who.addEventListener("keydown", (event) => event.stopPropagation());
    const hits = button("Only hits", false, "Only steps with the text that is searched for", (made) => {
      press(made, made.getAttribute("aria-pressed") !== "true");
      filter();
    });
    hits.id = "hits";
    const hint = element("span", { class: "hint" }, "↑ ↓ steps · c causes · p only the past · / search · Esc");
    tools.append(asDiagram, asList, only, causes, who, search, hits, count, hint);
    return { tools, search, count, who, hits };
  }

  function select(step) {
    diagram.chosen = step;
    if (diagram.focus) setFocus(true);
    panel.show(step);
    diagram.reveal(step);
    diagram.draw();
  }

  function setFocus(on) {
    diagram.focus = null;
    if (on && diagram.chosen >= 0) {
      const [past, future] = [diagram.order.past([diagram.chosen]), diagram.order.future([diagram.chosen])];
      diagram.focus = past.map((step, at) => step | future[at]);
    }
    document.getElementById("causes").setAttribute("aria-pressed", String(Boolean(diagram.focus)));
  }

  function toggleFocus() {
    if (diagram.chosen < 0) select(model.steps.length - 1);
    setFocus(!diagram.focus);
    diagram.draw();
  }

  function find() {
    const wanted = search.value.toLowerCase();
    diagram.hits = new Set();
    if (wanted) {
      items.forEach((item, at) => {
        if (item.textContent.toLowerCase().includes(wanted)) diagram.hits.add(at);
      });
    }
    count.textContent = wanted ? `${diagram.hits.size} found` : "";
    if (hits.getAttribute("aria-pressed") === "true") filter();
    else diagram.draw();
  }

  // Only steps of some workers, only those with what is searched for: in the diagram and in the list.
  function filter() {
    const onlyHits = hits.getAttribute("aria-pressed") === "true" && search.value !== "";
    const [what, of] = [who.value.slice(0, 4), who.value.slice(5)];
    const isOf = (lane) => !what || (what === "kind" ? model.lanes[lane].kind === of : lane === Number(of));
    const shown = (step) => isOf(model.steps[step].w) && (!onlyHits || diagram.hits.has(step));
    diagram.filter = what || onlyHits ? shown : null;
    diagram.opened.clear();
    items.forEach((item, at) => (item.hidden = Boolean(diagram.filter) && !shown(at)));
    diagram.layout();
  }

  function nextHit(direction) {
    const hits = Array.from(diagram.hits);
    if (!hits.length) return;
    const from = diagram.chosen;
    const next = direction > 0 ? hits.find((hit) => hit > from) : hits.reverse().find((hit) => hit < from);
    select(next === undefined ? hits[0] : next);
  }

  function move(by) {
    let step = diagram.chosen < 0 ? model.steps.length - 1 : diagram.chosen + by;
    while (step >= 0 && step < model.steps.length && !diagram.shows(step)) step += by;
    if (step >= 0 && step < model.steps.length) select(step);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || section.hidden) return;
    const keys = {
      ArrowDown: () => move(1), j: () => move(1), ArrowUp: () => move(-1), k: () => move(-1),
      Home: () => select(0), End: () => select(model.steps.length - 1),
      c: toggleFocus, p: () => document.getElementById("only").click(), "/": () => search.focus(),
      Escape: () => { setFocus(false); diagram.draw(); },
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  function copyButtons() {
    if (!navigator.clipboard) return;
    for (const command of document.querySelectorAll(".command")) {
      const copy = element("button", {}, "copy");
      copy.addEventListener("click", () => {
        navigator.clipboard.writeText(command.textContent).then(() => (copy.textContent = "copied"), () => (copy.textContent = "not copied"));
      });
      command.after(copy);
    }
  }
})();
