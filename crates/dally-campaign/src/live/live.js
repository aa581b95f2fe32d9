// Asks once a second how far the campaign is, and says when the run has ended.

const SECOND = 1000;
const number = new Intl.NumberFormat("en-US");

function cell(row, content, name) {
  const made = document.createElement("td");
  if (content instanceof Node) made.append(content);
  else made.textContent = content;
  if (name) made.className = name;
  row.append(made);
}

function share(part) {
  const meter = document.createElement("meter");
  meter.value = part;
  meter.title = `${(100 * part).toFixed(2)}% of the last schedules showed something new`;
  meter.textContent = `${(100 * part).toFixed(1)}%`;
  return meter;
}

function show(progress) {
  const { seconds, schedules, new_findings: found, cells, next } = progress;
  document.getElementById("sum").textContent =
    `${seconds.toFixed(0)} s in this run, ${number.format(schedules)} schedules in all runs, ${found} new ${found === 1 ? "finding" : "findings"}`;
  const rows = cells.map((of, place) => {
    const row = document.createElement("tr");
    if (of.finished) row.className = "finished";
    else if (place === next) row.className = "now";
    cell(row, of.program);
    cell(row, of.strategy);
    cell(row, number.format(of.schedules));
    cell(row, of.seconds.toFixed(1));
    cell(row, number.format(of.observations));
    cell(row, number.format(of.findings), of.findings ? "bugs" : "");
    cell(row, share(of.newness));
    cell(row, of.risk ?? "-");
    cell(row, of.finished ?? (place === next ? "is under way" : "waits"));
    return row;
  });
  document.getElementById("cells").replaceChildren(...rows);
}

async function ask() {
  try {
    const answer = await fetch("progress");
    if (answer.status === 200) show(await answer.json());
  } catch {
    const sum = document.getElementById("sum");
    sum.textContent += " (the run has ended)";
    sum.className = "ended";
    return;
  }
  setTimeout(ask, SECOND);
}

ask();
