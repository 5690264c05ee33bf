// Two plans side by side: each accelerator with its job before and after, what changed hands stands out.

const tileNodes = [];
const holdersBefore = Array.from({ length: devicesInAll }, () => null);
data.jobs.forEach((job, index) => {
  job.before = expandRuns(job.before);
  job.before.forEach((device, rank) => device >= 0 && (holdersBefore[device] ??= []).push([index, rank]));
});
const KINDS = {
  starts: ["good", "starts"], stops: ["bad", "stops"], moves: ["warn", "moves"], rewired: ["warn", "is rewired in place"], stays: ["", "stays"],
};
const jobOn = (held, device) => held[device]?.[0][0] ?? null;
const devicesAfter = (job) => (job.plan ? job.plan.devices : []);

function drawDiffTop() {
  const [first, second] = data.plans;
  const sum = (name, side) => data.jobs.reduce((all, job) => all + job[name][side], 0);
  const beside = (name, write) => [write(sum(name, 1)), `${write(sum(name, 0))} before`];
  const text = el("div", { class: "what" }, el("h1", {}, data.name), el("p", { class: "soft" }, `${first} → ${second}`),
    el("p", { class: "headline" }, el("b", {}, `${data.headline}.`)));
  const running = (side) => data.jobs.filter((job) => (side ? job.plan : job.before.length)).length;
  part("top").append(el("div", { class: "title" }, text, themeButton()), el("dl", { class: "facts" },
    fact("Jobs", number(running(1)), `${number(running(0))} before`),
    fact("Value", ...beside("value", (value) => number(value, 4))), fact("Power", ...beside("power_w", (value) => quantity(value, "W")))));
}

function diffTile(held, other, kind) {
  return (tile, x, y) => {
    const [job, was] = [jobOn(held, tile.device), jobOn(other, tile.device)];
    const isFailed = tile.state === "failed";
    const node = tileNode(isFailed ? "failed" : job === null ? "free" : "taken", tile.name, x, y, job);
    node.dataset.device = tile.device;
    if (job !== was && job !== null) node.classList.add(kind);
    else if (job !== null) node.classList.add("same");
    if (job !== null) {
      node.dataset.job = job;
      on(node, "click", () => select(job));
    }
    tileNodes.push(node);
    const named = (index) => (index === null ? "free" : `${index + 1} ${data.jobs[index].name}`);
    const [before, after] = kind === "left" ? [job, was] : [was, job];
    return describe(node, [tile.name, isFailed ? "failed" : "", before === after ? named(after) : `${named(before)} before, ${named(after)} after`]);
  };
}

function drawSide(title, held, other, kind) {
  const figures = shownRacks().map((rack) => {
    const { picture } = drawRack(rack, data.fabric, {
      label: `${title}: accelerators by job; arrow keys move, Enter selects the job`,
      tile: diffTile(held, other, kind),
      act: (node) => node.dataset.job && select(Number(node.dataset.job)),
    });
    picture.style.minWidth = "0";
    watchText(picture);
    return el("div", { class: "rack" }, rack.name && isWhole ? el("p", { class: "soft small" }, rack.name) : null, picture);
  });
  return el("figure", {}, el("figcaption", {}, title), ...figures);
}

function watchText(picture) {
  new ResizeObserver(() => requestAnimationFrame(() => {
    const scale = picture.clientWidth / picture.viewBox.baseVal.width;
    picture.classList.toggle("unnumbered", TILE * scale < 14);
    picture.classList.toggle("unnamed", LABEL * scale < 6);
  })).observe(picture);
}

function drawDiffFloor() {
  const both = el("div", { class: "both" });
  const fill = () => {
    tileNodes.length = 0;
    both.replaceChildren(drawSide(`Before: ${data.plans[0]}`, holdersBefore, holders, "left"), drawSide(`After: ${data.plans[1]}`, holders, holdersBefore, "entered"));
    markTiles();
  };
  const mark = (kind, text) => {
    const picture = tileMark("taken");
    picture.querySelector(".tile").classList.add(kind);
    picture.querySelector("rect").style.fill = "var(--free)";
    return el("span", {}, picture, text);
  };
  on(both, "keydown", (event) => (event.key === "Escape" || event.key === "-") && zoomOut());
  part("floor").append(el("div", { class: "floor-head" }, el("h2", { id: "floor-title" }, "Floor plans"), searchField()),
    drawOverview() ?? "", crumbs(), both, el("div", { class: "key" }, mark("left", "left to another job, or free"), mark("entered", "taken over"), isWhole ? null : "small maps: after"));
  view.listeners.push(fill);
  listeners.push(() => {
    const devices = [...devicesAfter(data.jobs[state.job]), ...data.jobs[state.job].before].filter((device) => device >= 0);
    if (devices.length && !devices.some((device) => tileNodes.some((node) => Number(node.dataset.device) === device))) lookAt({ section: sectionOf(serverOf(devices[0])) });
    markTiles();
  });
  fill();
}

function markTiles() {
  for (const node of tileNodes) node.classList.toggle("selected", state.job !== null && Number(node.dataset.job) === state.job && node.dataset.job !== undefined);
}

function focusTile(device) {
  tileNodes.find((node) => Number(node.dataset.device) === device)?.focus();
}

const whereText = (devices) => whereOf(devices).map(([server, taken]) => `${server}: ${taken}`).join("; ") || "–";

function drawChanges() {
  const rank = Object.keys(KINDS);
  const order = data.jobs.map((_, index) => index).sort((a, b) => rank.indexOf(data.jobs[a].kind) - rank.indexOf(data.jobs[b].kind) || a - b);
  const body = el("tbody");
  const mark = () => body.querySelectorAll("tr").forEach((row) => row.classList.toggle("selected", Number(row.dataset.job) === state.job));
  const page = pages(200, (from, to) => {
    body.replaceChildren(...order.slice(from, to).map(changeRow));
    mark();
  });
  const titles = ["#", "job", "change", "before", "after", "circuits torn down", "set up"];
  part("table").append(el("h2", { id: "table-title" }, "What becomes of each job"), page.node,
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...titles.map((title) => el("th", { scope: "col" }, title)))), body)));
  listeners.push(mark);
  page.show(order.length);
}

function badge(kind) {
  return el("span", { class: `badge ${KINDS[kind][0]}` }, KINDS[kind][1]);
}

function changeRow(index) {
  const job = data.jobs[index];
  const servers = (devices) => whereOf(devices).map(([server]) => server).join(" ") || "–";
  const button = el("button", { type: "button", "aria-label": `Show ${index + 1} ${job.name}` }, job.name);
  const cells = [[swatch(index)], [button, "name"], [badge(job.kind)], [servers(job.before), "where"], [servers(devicesAfter(job)), "where"],
    [number(job.torn_down.length), "right"], [number(job.set_up.length), "right"]];
  return on(el("tr", { "data-job": index }, ...cells.map(([cell, kind]) => el("td", { class: kind ?? null }, cell))), "click", () => select(index));
}

function drawChange() {
  const job = data.jobs[state.job];
  const list = (title, circuits) => (circuits.length ? el("details", { open: circuits.length <= 24 }, el("summary", {}, `${title}: ${plural(circuits.length, "circuit")}`),
    el("div", { class: "scroll" }, el("ul", { class: "out" }, ...circuits.map((circuit) => el("li", {}, circuit))))) : null);
  const rows = [["Before", whereText(job.before)], ["After", whereText(devicesAfter(job))],
    ["Value", job.value.map((value) => number(value, 4)).join(" → ")], ["Power", job.power_w.map((value) => quantity(value, "W")).join(" → ")]];
  part("job").replaceChildren(el("div", { class: "job-title" }, swatch(state.job), el("h2", { id: "job-title" }, job.name)), el("p", {}, badge(job.kind)),
    el("dl", { class: "pairs" }, ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    ...[list("Torn down", job.torn_down), list("Set up", job.set_up)].filter(Boolean));
}

drawDiffTop();
drawDiffFloor();
drawChanges();
listeners.push(drawChange);
if (data.jobs.length) select(Math.max(0, data.jobs.findIndex(({ kind }) => kind !== "stays")));
