// The floor plan: whose tile each is, circuits, and what the marks mean.

const tileNodes = [];
const placeOfDevice = new Map();
const panelOfDevice = new Map();

function drawPlanRack(rack, index) {
  const drawn = drawRack(rack, data.fabric, {
    label: `Rack ${rack.name || "floor plan"}: accelerators by job; arrow keys move, Enter selects the job`,
    tile: drawTile,
    act: (node) => node.dataset.job && select(Number(node.dataset.job)),
  });
  const { picture, nodes } = drawn;
  picture.dataset.rack = index;
  picture.append(svg("g", { class: "circuits", role: "group", "aria-label": "Circuits of the selected job" }));
  for (const node of nodes) placeOfDevice.set(node.dataset.name, { x: Number(node.dataset.x) + TILE / 2, y: Number(node.dataset.y) + TILE / 2, picture });
  tileNodes.push(...nodes);
  [...picture.querySelectorAll(".panel")].forEach((panel, i) => {
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(panel.getAttribute(name)));
    for (const { name } of rack.servers[i].tiles) panelOfDevice.set(name, { x: x + width / 2, y: y + height / 2, picture, server: rack.servers[i].name });
  });
  watchScale(picture);
  const caption = rack.name ? el("figcaption", {}, `Rack ${rack.name}`) : null;
  return el("figure", {}, caption, el("div", { class: "rack" }, picture));
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
  describe(node, [tile.name, health[tile.state], ...who, !who.length && tile.state !== "failed" ? "free" : ""]);
  on(node, "mouseenter focus", () => pointCircuits(tile.name));
  on(node, "mouseleave blur", () => pointCircuits(null));
  return node;
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
  return tileMark(kind);
}

function floorKey() {
  const marks = [["free", "free"], ["failed", "failed accelerator"], ["dark", "failed port"]];
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
  const head = el("div", { class: "floor-head" }, el("h2", { id: "floor-title" }, "Floor plan"), el("span", { class: "soft small" }, shape));
  const above = data.rack_links ? drawRackLinks(data.rack_links) : null;
  const beside = el("div", { class: "beside" }, above, ...data.matrices.map(drawMatrix), floorKey(), failedParts());
  const racks = el("div", { class: "racks" }, ...data.racks.map(drawPlanRack), beside);
  part("floor").append(head, jobChips(), configurationChooser(), racks, ...circuitTables());
  listeners.push(markTiles, drawCircuits, markMatrices, markRackLinks);
}
