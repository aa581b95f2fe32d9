// A session in a tab: what is asked of it, and what it shows.

(function () {
  const at = (id) => document.getElementById(id);
  let session = null;
  let busy = false;

  async function post(path, body) {
    const answer = await fetch(path, { method: "POST", body });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  }

  function say(text, error) {
    at("said").textContent = text;
    at("said").classList.toggle("error", Boolean(error));
  }

  // Asks the session; while it works, nothing else can be asked.
  async function ask(request, working) {
    if (busy) return null;
    busy = true;
    document.body.setAttribute("aria-busy", "true");
    if (working) say(working);
    try {
      const reply = await post(`ask/${session}`, JSON.stringify(request));
      if (reply.error) say(reply.error, true);
      else say(reply.said.join("\n"));
      if (reply.view) show(reply.view);
      drawMap(at("map"), reply.map, (choices) => ask({ do: "follow", choices }));
      return reply;
    } catch (why) {
      say(why.message, true);
      return null;
    } finally {
      busy = false;
      document.body.removeAttribute("aria-busy");
    }
  }

  function show(view) {
    document.title = `${view.program}: dally explore`;
    at("program").textContent = view.program;
    const same = view.same_as.map((step) => ` · the same state as after step ${step}`).join("");
    const left = view.left_at ? ` · the program does not fit the path: ${view.left_at}` : "";
    at("where").textContent = `after ${view.at} of ${view.of} steps (granularity ${view.granularity})${same}${left}`;
    at("back").disabled = view.at === 0;
    at("forward").disabled = view.at >= view.of;
    showMarks(view.marks);
    showChoices(view.here);
    const table = element("table");
    for (const [name, words] of view.state) {
      const row = element("tr");
      row.append(element("th", { scope: "row" }, name), element("td", {}, words));
      table.append(row);
    }
    at("state").replaceChildren(element("h2", {}, "State"), table);
    showPath(view.drawing, view.at);
  }

  function showMarks(marks) {
    at("marks").replaceChildren();
    for (const [name, step] of marks) {
      const go = element("button", { title: `Go there: after ${step} steps` }, name);
      go.addEventListener("click", () => ask({ do: "return", name }));
      const compare = element("button", { title: `How the present state differs from ${name}` }, "≠");
      compare.addEventListener("click", () => ask({ do: "compare", one: name, other: "here" }));
      at("marks").append(go, compare);
    }
  }

  function showChoices(here) {
    const list = element("ol");
    const add = (text, title, request) => {
      const item = element("li");
      const button = element("button", { class: "choice" });
      button.append(element("b", {}, text), title ? `  ${title}` : "");
      button.addEventListener("click", () => ask(request));
      item.append(button);
      list.append(item);
    };
    let heading = "The execution is over: nothing is left to do";
    if (here.is === "between") {
      heading = "Who steps?";
      for (const offer of here.workers) add(offer.name, offer.does.join("; "), { do: "step", worker: offer.worker });
    } else if (here.is === "inside") {
      heading = `Worker ${here.worker} asks for ${here.question}`;
      here.answers.forEach((answer, value) => add(answer, "", { do: "answer", value }));
      if (here.range) {
        // A number may be greater than a number of JavaScript, so it is written as text.
        const input = element("input", { id: "input", value: here.range[2], "aria-label": "Number" });
        const give = element("button", {}, "give this number");
        give.addEventListener("click", () => {
          if (/^-?\d+$/.test(input.value.trim())) ask({ do: "answer", value: input.value.trim() });
          else say("a number should stand here", true);
        });
        list.append(input, give);
      }
    } else if (here.is === "failed") heading = `bug[${here.kind}]: ${here.bug}`;
    else if (here.is === "stopped") heading = here.why;
    const title = element("h2", { class: here.is === "failed" ? "bug" : "" }, heading);
    at("choices").replaceChildren(title, list);
  }

  function showPath(drawing, steps) {
    at("diagram").replaceChildren();
    if (!steps) return;
    const texts = (step) => ({ name: drawing.steps[step][0], lines: drawing.steps[step][1] });
    const select = (step) => {
      diagram.chosen = step;
      panel.show(step);
      const here = element("button", { id: "go" }, `go to the state after step ${step + 1}`);
      here.addEventListener("click", () => ask({ do: "to", step: step + 1 }));
      panel.aside.prepend(here);
      diagram.reveal(step);
      diagram.draw();
    };
    const diagram = new Diagram(drawing.model, texts, select);
    const panel = new Panel(diagram);
    const panes = element("div", { class: "panes" });
    panes.append(diagram.scroll, panel.aside);
    at("diagram").append(panes);
    diagram.layout();
    select(steps - 1);
  }

  const on = (id, event, act) => at(id).addEventListener(event, (told) => {
    told.preventDefault();
    act();
  });
  on("back", "click", () => ask({ do: "back", steps: 1 }));
  on("forward", "click", () => ask({ do: "forward", steps: 1 }));
  on("start", "click", () => ask({ do: "to", step: 0 }));
  on("run", "submit", () => ask({ do: "run", strategy: at("strategy").value, seed: Number(at("seed").value), steps: Number(at("steps").value) }, "running…"));
  on("search", "submit", () => {
    const until = at("until").value.trim() || null;
    ask({ do: "search", by: at("by").value, seed: Number(at("seed").value), schedules: 10000, seconds: 60, until }, "searching…");
  });
  on("mark", "submit", () => ask({ do: "mark", name: at("name").value.trim() }));
  on("map-of", "submit", () => ask({ do: "map", depth: Number(at("depth").value) }, "drawing…"));
  on("save", "click", async () => {
    const reply = await ask({ do: "save" });
    if (!reply || !reply.schedule) return;
    const link = element("a", { download: "explored.schedule", href: URL.createObjectURL(new Blob([reply.schedule])) });
    link.click();
    URL.revokeObjectURL(link.href);
  });
  on("open", "change", async () => {
    const [file] = at("open").files;
    if (file) ask({ do: "open", schedule: await file.text() });
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "BUTTON"].includes(event.target.tagName)) return;
    if (event.key === "b") at("back").click();
    if (event.key === "f") at("forward").click();
    const number = Number(event.key);
    if (number >= 1) document.querySelectorAll(".choice")[number - 1]?.click();
  });

  post("open", "").then((opened) => {
    session = opened.session;
    return ask({ do: "look" });
  }).catch((why) => say(why.message, true));
})();
