// The map of the states around: a column for each depth, a circle for each state, an arrow for each step.

const ACROSS = 150;
const DOWN = 34;
// Of the names beside the circles: the most letters, and room for so many.
const LETTERS = 18;
const NAME = 7 * LETTERS;

function drawMap(section, map, go) {
  section.replaceChildren();
  section.hidden = !map;
  if (!map) return;
  const columns = [];
  const at = map.states.map((state) => {
    const column = (columns[state.depth] = columns[state.depth] || []);
    column.push(state);
    return { x: 30 + state.depth * ACROSS, y: 24 + (column.length - 1) * DOWN };
  });
  const many = map.states.length === 1 ? "1 state" : `${map.states.length} states`;
  const steps = map.depth === 1 ? "1 step" : `${map.depth} steps`;
  section.append(element("h2", {}, `${many} within ${steps}${map.cut ? ", and more that are not drawn" : ""}`));
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("width", 50 + NAME + map.depth * ACROSS);
  svg.setAttribute("height", 20 + Math.max(...columns.map((column) => (column || []).length)) * DOWN);
  const part = (tag, attributes, title) => {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (title) {
      const hover = document.createElementNS(SVG, "title");
      hover.textContent = title;
      made.append(hover);
    }
    svg.append(made);
    return made;
  };
  for (const step of map.steps) {
    const [from, to] = [at[step.from], at[step.to]];
    const back = to.x <= from.x;
    const bend = back ? 40 : 0;
    const d = `M${from.x} ${from.y} C${from.x + 50 + bend} ${from.y + bend} ${to.x - 50 + 2 * bend} ${to.y + bend} ${to.x} ${to.y}`;
    part("path", { d, class: back ? "back" : "on" }, `${step.worker}: ${step.does.join("; ")}`);
  }
  map.states.forEach((state, index) => {
    const led = map.steps.find((step) => step.to === index && map.states[step.from].depth < state.depth);
    const how = state.bug ? `BUG ${state.bug}` : state.enabled ? `${state.enabled} can step` : "the end";
    const look = index === 0 ? "first" : state.bug ? "bug" : state.enabled ? "state" : "end";
    const text = `${led ? `${led.worker}: ${led.does.join("; ")}\n` : ""}${how}`;
    const circle = part("circle", { cx: at[index].x, cy: at[index].y, r: 8, class: look, tabindex: "0", role: "button", "aria-label": text }, text);
    circle.addEventListener("click", () => go(state.choices));
    circle.addEventListener("keydown", (event) => event.key === "Enter" && go(state.choices));
    if (led) part("text", { x: at[index].x + 12, y: at[index].y + 4 }).textContent = led.worker.slice(0, LETTERS);
  });
  section.append(svg);
}
