// The floor plan: whose tile each is, circuits, and what the marks mean.

const tileNodes = [];
const placeOfDevice = new Map();
const panelOfServer = new Map();

function drawPlanRack(rack) {
  const { picture, nodes } = drawRack(rack, data.fabric, {
    label: `${rack.name || "Floor plan"}: accelerators by job; arrow keys move, Enter selects the job, + and − zoom`,
    tile: drawTile,
    act: (node) => node.dataset.job && select(Number(node.dataset.job)),
  });
  picture.classList.add("plan");
  picture.whole = [picture.viewBox.baseVal.width, picture.viewBox.baseVal.height];
  picture.append(svg("g", { class: "circuits", role: "group", "aria-label": "Circuits of the selected job" }));
  for (const node of nodes) placeOfDevice.set(Number(node.dataset.device), { x: Number(node.dataset.x) + TILE / 2, y: Number(node.dataset.y) + TILE / 2, picture });
  tileNodes.push(...nodes);
  const names = [...picture.querySelectorAll(".server")];
  [...picture.querySelectorAll(".panel")].forEach((panel, i) => {
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(panel.getAttribute(name)));
    const server = serverOf(rack.servers[i].tiles[0].device);
    panelOfServer.set(server, { x: x + width / 2, y: y + height / 2, picture });
    zoomsTo(server, names[i]);
  });
  watchScale(picture);
  return el("figure", {}, rack.name && isWhole && view.server === null ? el("figcaption", {}, rack.name) : null, el("div", { class: "rack" }, picture));
}

// The name of a server leads to it alone, and back.
function zoomsTo(server, name) {
  if (data.fabric.racks * data.fabric.servers === 1) return;
  name.classList.add("zoom");
  on(name, "click", () => (view.server === null ? lookAt({ section: sectionOf(server), server }) : zoomOut()));
}

// What is looked at, drawn anew when that changes.
function drawDetail() {
  const detail = el("div", { class: "racks" });
  const fill = () => {
    for (const known of [placeOfDevice, panelOfServer]) known.clear();
    tileNodes.length = 0;
    detail.replaceChildren(...shownRacks().map(drawPlanRack));
    markTiles();
    drawCircuits();
  };
  on(detail, "keydown", (event) => {
    const device = event.target.dataset?.device;
    if (event.key === "+" && device && view.server === null && data.fabric.servers * data.fabric.racks > 1) {
      lookAt({ section: sectionOf(serverOf(device)), server: serverOf(device) });
      focusTile(Number(device));
    } else if (event.key === "-" || event.key === "−" || event.key === "Escape") {
      zoomOut();
      if (device) focusTile(Number(device));
    }
  });
  fill();
  view.listeners.push(fill);
  return detail;
}

// Tiles that are drawn small lose their numbers, and servers their names: pointing at a tile tells both.
function watchScale(picture) {
  const fit = () => {
    const scale = picture.clientWidth / picture.viewBox.baseVal.width;
    picture.classList.toggle("unnumbered", TILE * scale < 14);
    picture.classList.toggle("unnamed", LABEL * scale < 6);
  };
  new ResizeObserver(() => requestAnimationFrame(fit)).observe(picture);
}

function drawTile(tile, x, y) {
  const [job, rank] = tile.jobs[0] || [null, null];
  const kind = tile.state === "failed" ? "failed" : job === null ? "free" : "taken";
  const node = tileNode(kind, tile.name, x, y, job);
  if (tile.jobs.length > 1 || (tile.state === "failed" && job !== null)) node.classList.add("clash");
  if (job !== null) {
    node.dataset.job = job;
    on(node, "click", () => select(job));
  }
  if (tile.state === "dark") node.append(...darkMark(x, y));
  const who = tile.jobs.map(([owner, place]) => `${owner + 1} ${data.jobs[owner].name}, rank ${place}`);
  const health = { failed: "failed: runs nothing", dark: "port failed: jobs of one accelerator only", ok: "" };
  node.dataset.device = tile.device;
  describe(node, [tile.name, health[tile.state], ...who, !who.length && tile.state !== "failed" ? "free" : "", ...fabricLines(tile.device)]);
  on(node, "mouseenter focus", () => pointCircuits(tile.device));
  on(node, "mouseleave blur", () => pointCircuits(null));
  return node;
}

function markTiles() {
  const plan = state.job === null ? null : data.jobs[state.job].plan;
  part("floor").classList.toggle("has-selection", plan !== null);
  const mine = new Set(plan ? plan.devices : []);
  for (const node of tileNodes) node.classList.toggle("selected", mine.has(Number(node.dataset.device)));
}

const MOST_CHIPS = 60;

// All jobs; of many those of the racks that are drawn, and the selected one.
function jobsInView() {
  if (data.jobs.length <= MOST_CHIPS) return data.jobs.map((_, index) => index);
  const found = new Set(state.job === null ? [] : [state.job]);
  const shown = view.server === null ? sections[view.section] : { first: view.server, count: 1 };
  for (const device of devicesIn(shown)) for (const [job] of holders[device] ?? []) found.add(job);
  return [...found].sort((a, b) => a - b);
}

function jobChip(index) {
  const job = data.jobs[index];
  const input = el("input", { type: "radio", name: "job", value: index, "aria-label": `${index + 1} ${job.name}, ${job.state}` });
  input.checked = index === state.job;
  on(input, "change", () => select(index));
  return el("label", { class: "chip", title: job.name }, input, swatch(index), el("span", {}, job.name));
}

function jobChips() {
  const chips = el("fieldset", { class: "chips", "aria-label": "Selected job" });
  let shown = "";
  const fill = () => {
    const jobs = jobsInView();
    if (shown !== jobs.join()) chips.replaceChildren(...jobs.map(jobChip));
    shown = jobs.join();
    const label = chips.children[jobs.indexOf(state.job)];
    if (!label) return;
    label.querySelector("input").checked = true;
    chips.scrollTop = Math.min(Math.max(chips.scrollTop, label.offsetTop + label.offsetHeight - chips.offsetTop - chips.clientHeight), label.offsetTop - chips.offsetTop);
  };
  listeners.push(fill);
  view.listeners.push(fill);
  return chips;
}

function keyMark(kind) {
  const mark = svg("svg", { width: 18, height: 18, "aria-hidden": "true" });
  if (kind === "light" || kind === "fiber") {
    mark.append(svg("g", { class: `circuit ${kind}` }, svg("path", {
      class: "light", d: "M1 13 Q8 0 16 9", "stroke-width": 2, "marker-end": `url(#head${kind === "fiber" ? "-fiber" : ""})`,
    })));
    return mark;
  }
  if (kind === "broken") {
    mark.append(svg("g", { class: "matrix" }, svg("path", { class: "broken", d: "M6 1 h11 v11 z" })));
    return mark;
  }
  return tileMark(kind);
}

function floorKey() {
  const marks = [["free", "free"], ["failed", "failed accelerator"]];
  if (darkDevices.size || data.fabric.has_circuits) marks.push(["dark", "failed port"]);
  if (data.fabric.failed_fibers.length) marks.push(["broken", "failed fiber"]);
  const { inside, beyond, channels } = data.fabric.light;
  if (inside) marks.push(["light", inside]);
  if (beyond) marks.push(["fiber", beyond]);
  return el("div", { class: "key" }, ...marks.map(([kind, text]) => el("span", {}, keyMark(kind), text)),
    channels ? el("span", {}, `wider line: more ${channels}`) : null);
}

function drawFloor() {
  const fabric = data.fabric;
  const shape = `${fabric.kind}, ${fabric.racks > 1 ? `${fabric.racks} racks of ` : ""}${plural(fabric.servers, "server")} of ${fabric.devices_per_server} × ${fabric.device}`;
  const head = el("div", { class: "floor-head" }, el("h2", { id: "floor-title" }, "Floor plan"), el("span", { class: "soft small" }, shape), searchField());
  const above = data.rack_links ? drawRackLinks(data.rack_links) : null;
  const beside = el("div", { class: "beside" }, above, drawMatrices(), drawWavelengths(), ownView(), floorKey(), failedParts());
  const overview = drawOverview(), way = crumbs(), matrix = circuitMatrix();
  const chips = jobChips(), chooser = configurationChooser();
  const detail = drawDetail();
  part("floor").append(head, chips, chooser, overview ?? "", way, el("div", { class: "racks" }, detail, beside), matrix.details, ...circuitTables());
  listed.push(matrix.fill);
  listeners.push(showSelected, markTiles, drawCircuits, markMatrices, markRackLinks);
}

// A job that is selected elsewhere is brought into view.
function showSelected() {
  const devices = state.job === null ? [] : data.jobs[state.job].plan?.devices ?? [];
  const known = devices.filter((device) => device >= 0);
  if (!known.length || known.some((device) => placeOfDevice.has(device))) return;
  lookAt({ section: sectionOf(serverOf(known[0])) });
}
