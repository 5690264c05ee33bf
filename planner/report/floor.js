// The racks: servers as panels, tiles as squares with the number of their job.

const TILE = 40, GAP = 4, PAD = 7, SPACE = 15, LABEL = 13;
const tileNodes = [];
const placeOfDevice = new Map();

function panelSize(rack) {
  const columns = data.fabric.columns;
  const rows = Math.ceil(data.fabric.devices_per_server / columns);
  const label = 10 + LABEL * 0.62 * Math.max(...rack.servers.map((server) => server.name.length));
  const width = columns * (TILE + GAP) - GAP + 2 * PAD;
  return { columns, rows, label, width, height: rows * (TILE + GAP) - GAP + 2 * PAD };
}

// Panels side by side so that the rack comes close to the shape of a page.
function panelColumns(panel, count) {
  let best = 1, least = Infinity;
  for (let across = 1; across <= count; across++) {
    const down = Math.ceil(count / across);
    const shape = (across * (panel.label + panel.width + SPACE)) / (down * (panel.height + SPACE));
    const empty = (across * down - count) / count;
    const cost = Math.abs(Math.log(shape / 1.1)) + 2 * empty;
    if (cost < least) [best, least] = [across, cost];
  }
  return best;
}

function drawRack(rack, index) {
  const panel = panelSize(rack);
  const across = panelColumns(panel, rack.servers.length);
  const width = across * (panel.label + panel.width + SPACE) - SPACE + 4;
  const height = Math.ceil(rack.servers.length / across) * (panel.height + SPACE) - SPACE + 24;
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, width, role: "group", "data-rack": index,
    "aria-label": `Rack ${rack.name || "floor plan"}: tiles by job; arrow keys move, Enter selects the job`,
  });
  picture.style.minWidth = `${Math.round(width * Math.min(1, 0.56))}px`;
  picture.style.maxWidth = "100%";
  const nodes = rack.servers.flatMap((server, i) => {
    const x = (i % across) * (panel.label + panel.width + SPACE) + panel.label;
    const y = Math.floor(i / across) * (panel.height + SPACE) + 12;
    return drawServer(picture, server, panel, x, y);
  });
  picture.append(svg("g", { class: "circuits", role: "group", "aria-label": "Circuits of the selected job" }));
  roving(nodes, nearest, (node) => node.dataset.job && select(Number(node.dataset.job)));
  const caption = rack.name ? el("figcaption", {}, `Rack ${rack.name}`) : null;
  return el("figure", {}, caption, el("div", { class: "rack" }, picture));
}

function drawServer(picture, server, panel, x, y) {
  const label = svg("text", { class: "server", x: x - 7, y: y + panel.height / 2, "font-size": LABEL }, server.name);
  picture.append(label, svg("rect", { class: "panel", x, y, width: panel.width, height: panel.height, rx: 7 }));
  return server.tiles.map((tile, slot) => {
    const left = x + PAD + (slot % panel.columns) * (TILE + GAP);
    const top = y + PAD + Math.floor(slot / panel.columns) * (TILE + GAP);
    const node = drawTile(tile, left, top);
    placeOfDevice.set(tile.name, { x: left + TILE / 2, y: top + TILE / 2, picture });
    picture.append(node);
    tileNodes.push(node);
    return node;
  });
}

function drawTile(tile, x, y) {
  const [job, rank] = tile.jobs[0] || [null, null];
  const kind = tile.state === "failed" ? "failed" : job === null ? "free" : "taken";
  const square = svg("rect", { x, y, width: TILE, height: TILE, rx: 5 });
  const node = svg("g", { class: `tile ${kind}`, role: "button", "data-name": tile.name, "data-x": x, "data-y": y }, square);
  if (tile.jobs.length > 1 || (tile.state === "failed" && job !== null)) node.classList.add("clash");
  if (job !== null) {
    node.dataset.job = job;
    const text = svg("text", { x: x + TILE / 2, y: y + TILE / 2 + 1, "font-size": 17 }, String(job + 1));
    if (kind === "taken") {
      square.setAttribute("fill", colour(job));
      text.setAttribute("fill", inkOn(colour(job)));
    }
    node.append(text);
    on(node, "click", () => select(job));
  }
  if (tile.state === "dark") {
    node.append(svg("circle", { class: "dark-port", cx: x + TILE - 8, cy: y + 8, r: 5 }));
    node.append(svg("path", { class: "dark-port", d: `M${x + TILE - 11.5} ${y + 11.5} l7 -7` }));
  }
  const who = tile.jobs.map(([owner, place]) => `${owner + 1} ${data.jobs[owner].name}, rank ${place}`);
  const health = { failed: "failed: runs nothing", dark: "port failed: no light, single-device jobs only", ok: "" };
  describe(node, [tile.name, health[tile.state], ...who, !who.length && tile.state !== "failed" ? "free" : ""]);
  on(node, "mouseenter focus", () => pointCircuits(tile.name));
  on(node, "mouseleave blur", () => pointCircuits(null));
  return node;
}

function nearest(node, key) {
  const [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key];
  const { x, y } = node.dataset;
  let best = null, least = Infinity;
  for (const other of tileNodes) {
    if (other.ownerSVGElement !== node.ownerSVGElement) continue;
    const [right, down] = [other.dataset.x - x, other.dataset.y - y];
    const along = right * dx + down * dy;
    const cost = along + 3 * Math.abs(right * dy + down * dx);
    if (along > 1 && cost < least) [best, least] = [other, cost];
  }
  return best;
}

function markTiles() {
  const plan = state.job === null ? null : data.jobs[state.job].plan;
  part("floor").classList.toggle("has-selection", plan !== null);
  const mine = new Set(plan ? plan.devices : []);
  for (const node of tileNodes) node.classList.toggle("selected", mine.has(node.dataset.name));
}

function jobChips() {
  const chips = el("fieldset", { class: "chips", "aria-label": "Selected job" });
  data.jobs.forEach((job, index) => {
    const input = el("input", { type: "radio", name: "job", value: index, "aria-label": `${index + 1} ${job.name}, ${job.state}` });
    on(input, "change", () => select(index));
    chips.append(el("label", { class: "chip", title: job.name }, input, swatch(index), el("span", {}, job.name)));
  });
  listeners.push(() => {
    const label = chips.children[state.job];
    label.querySelector("input").checked = true;
    chips.scrollTop = Math.min(Math.max(chips.scrollTop, label.offsetTop + label.offsetHeight - chips.offsetTop - chips.clientHeight), label.offsetTop - chips.offsetTop);
  });
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
  const classes = kind === "dark" ? "tile free" : `tile ${kind}`;
  mark.append(svg("g", { class: classes }, svg("rect", { x: 1, y: 1, width: 16, height: 16, rx: 3 })));
  if (kind === "dark") mark.append(svg("circle", { class: "dark-port", cx: 11, cy: 7, r: 4 }), svg("path", { class: "dark-port", d: "M8 10 l6 -6" }));
  return mark;
}

function floorKey() {
  const marks = [["free", "free"], ["failed", "failed device"], ["dark", "failed port"]];
  if (data.fabric.failed_fibers.length) marks.push(["broken", "failed fiber"]);
  if (data.fabric.has_circuits) marks.push(["light", "circuit inside a server"], ["fiber", "circuit over a fiber"]);
  return el("div", { class: "key" }, ...marks.map(([kind, text]) => el("span", {}, keyMark(kind), text)),
    data.fabric.has_circuits ? el("span", {}, "wider line: more wavelengths") : null);
}

function drawFloor() {
  const fabric = data.fabric;
  const shape = `${fabric.kind}, ${fabric.racks > 1 ? `${fabric.racks} racks of ` : ""}${fabric.servers} servers of ${fabric.devices_per_server} × ${fabric.device}`;
  const head = el("div", { class: "floor-head" }, el("h2", { id: "floor-title" }, "Floor plan"), el("span", { class: "soft small" }, shape));
  const beside = el("div", { class: "beside" }, ...data.matrices.map(drawMatrix), floorKey(), failedParts());
  const racks = el("div", { class: "racks" }, ...data.racks.map(drawRack), beside);
  part("floor").append(head, jobChips(), configurationChooser(), racks, circuitTable() ?? "");
  listeners.push(markTiles, drawCircuits, markMatrices);
}
