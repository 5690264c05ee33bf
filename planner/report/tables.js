// All jobs in a table that sorts, what was left out and why, and how to repeat the run.

const COLUMNS = [
  { title: "#", key: (job, i) => i, cell: (job, i) => swatch(i) },
  { title: "job", key: (job) => job.name, cell: (job, i) => jobButton(job, i), kind: "name" },
  { title: "tenant", key: (job) => job.tenant, cell: (job) => job.tenant },
  { title: "state", key: (job) => job.state, cell: (job) => job.state },
  { title: "accelerators", key: (job) => placed(job, (p) => p.devices.length), cell: (job) => placed(job, (p) => number(p.devices.length)), kind: "right" },
  { title: "where", key: (job) => placed(job, serversOf), cell: (job) => placed(job, serversOf), kind: "where" },
  { title: "mapping", key: (job) => placed(job, (p) => shortMapping(p.mapping)), cell: (job) => placed(job, (p) => shortMapping(p.mapping)) },
  { title: "collectives", key: (job) => placed(job, collectiveText), cell: (job) => placed(job, collectiveText), kind: "wrap" },
  { title: "step", key: (job) => placed(job, (p) => p.step_s), cell: (job) => placed(job, (p) => quantity(p.step_s, "s")), kind: "right" },
  { title: "speed", key: (job) => placed(job, (p) => p.speed), cell: (job) => placed(job, (p) => quantity(p.speed, p.speed_unit)), kind: "right" },
  { title: "energy", key: (job) => placed(job, (p) => p.energy_per_work_j), cell: (job) => placed(job, (p) => `${quantity(p.energy_per_work_j, "J")}/${workUnit(p)}`), kind: "right" },
  { title: "power", key: (job) => placed(job, (p) => p.power_w), cell: (job) => placed(job, (p) => quantity(p.power_w, "W")), kind: "right" },
  { title: "mostly", key: (job) => placed(job, bottleneck), cell: (job) => placed(job, bottleneck), kind: "wrap" },
  { title: "value", key: (job) => placed(job, (p) => p.value), cell: (job) => placed(job, (p) => number(p.value)), kind: "right" },
];
const order = { column: 0, isDown: false };

function placed(job, read) {
  return job.plan ? read(job.plan) : null;
}

function serversOf(plan) {
  return whereOf(plan.devices).map(([server]) => server).join(" ");
}

function collectiveText(plan) {
  return plan.collectives.map(({ name }) => name.replaceAll(" ", "\u00a0")).join(", ") || "–";
}

function bottleneck(plan) {
  if (!plan.time_s) return "–";
  return plan.time_s.reduce((most, entry) => (entry[1] > most[1] ? entry : most))[0];
}

function jobButton(job, index) {
  return el("button", { type: "button", "aria-label": `Show ${index + 1} ${job.name}` }, job.name);
}

function sortedJobs() {
  const { key } = COLUMNS[order.column];
  const entries = data.jobs.map((job, index) => ({ index, value: key(job, index) }));
  const sign = order.isDown ? -1 : 1;
  entries.sort((a, b) => {
    if (a.value === null || b.value === null) return (a.value === null) - (b.value === null) || a.index - b.index;
    const least = typeof a.value === "string" ? a.value.localeCompare(b.value, "en", { numeric: true }) : a.value - b.value;
    return sign * least || a.index - b.index;
  });
  return entries.map((entry) => entry.index);
}

function tableHead(refill) {
  const cells = COLUMNS.map(({ title, kind }, i) => {
    const button = on(el("button", { type: "button" }, title), "click", () => {
      order.isDown = order.column === i && !order.isDown;
      order.column = i;
      refill();
    });
    return el("th", { scope: "col", class: kind === "right" ? "right" : null }, button);
  });
  return { row: el("tr", {}, ...cells), cells };
}

function drawTable() {
  const body = el("tbody");
  let jobs = [];
  const markRows = () => body.querySelectorAll("tr").forEach((row) => row.classList.toggle("selected", Number(row.dataset.job) === state.job));
  const page = pages(ROWS_A_PAGE, (from, to) => {
    body.replaceChildren(...jobs.slice(from, to).map(tableRow));
    markRows();
  });
  const refill = () => {
    head.cells.forEach((cell, i) => {
      if (i === order.column) cell.setAttribute("aria-sort", order.isDown ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    jobs = sortedJobs();
    page.show(jobs.length);
  };
  const head = tableHead(refill);
  part("table").append(el("h2", { id: "table-title" }, "All jobs"), page.node,
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, head.row), body)));
  listeners.push(() => {
    page.showRow(jobs.indexOf(state.job));
    markRows();
  });
  refill();
}

function tableRow(index) {
  const job = data.jobs[index];
  const cells = COLUMNS.map(({ cell, kind }) => el("td", { class: kind || null }, cell(job, index) ?? "–"));
  const row = el("tr", { "data-job": index }, ...cells);
  return on(row, "click", () => {
    select(index);
    part("job").scrollIntoView({ block: "nearest" });
  });
}

function drawLeftOut() {
  const item = ({ job, name, reason }) => el("li", {}, job === null ? null : swatch(job), " ", el("b", {}, name),
    el("p", {}, reason || "no reason was recorded; `planner explain` finds one"));
  const list = el("ul", { class: "out" });
  const page = pages(ROWS_A_PAGE, (from, to) => list.replaceChildren(...data.left_out.slice(from, to).map(item)));
  part("left-out").append(el("h2", { id: "left-out-title" }, "Left out, and why"), page.node,
    data.left_out.length ? list : el("p", { class: "soft" }, "Nothing: every job runs."));
  page.show(data.left_out.length);
}

function drawRun() {
  const { command, policy, versions, seed, wall_time_s: wall, statistics } = data.run;
  const entries = [["policy", policy], ["seed", String(seed)], ["wall time", quantity(wall, "s")],
    ...versions, ...statistics.map(([name, value]) => [name, number(value)])];
  part("run").append(el("h2", { id: "run-title" }, "How to repeat this"), el("pre", {}, el("code", {}, command)),
    el("dl", { class: "inline" }, ...entries.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", { class: "num" }, value)))));
}
