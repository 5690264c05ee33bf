// The floor plan: drawn once, then only tiles that change are painted again; light of the selected job lies over it.

const floorPlan = { tiles: new Map(), panels: new Map(), painted: new Map(), racks: [], light: null, inside: null };

function drawPlan() {
  const { fabric, server_names: names } = live.body;
  const text = `${fabric.kind}, ${fabric.racks > 1 ? `${fabric.racks} racks of ` : ""}${plural(fabric.servers, "server")} of ${fabric.devices_per_server} × ${fabric.device}`;
  const zoom = (sign, label, change) => on(el("button", { type: "button", "aria-label": label }, sign), "click", () => {
    live.zoom = change(live.zoom);
    fitPlan();
  });
  const buttons = el("div", { class: "zoom" }, zoom("−", "Smaller", (z) => Math.max(1, z / 1.5)), zoom("Fit", "Fit into the window", () => 1), zoom("+", "Larger", (z) => Math.min(12, z * 1.5)));
  const inside = floorPlan.inside = el("div", { class: "inside" });
  floorPlan.light = svg("svg", { class: "links", "aria-hidden": "true" });
  const chooser = drawParts(() => {
    drawRacks();
    paintPlan();
    fitPlan();
    markPlan();
  });
  drawRacks();
  const marks = [["free", "free"], ["failed", "failed"], ["dark", "failed port"]].map(([kind, word]) => el("span", {}, tileMark(kind), word));
  const servers = [["drained", "drained server"], ["kept", "kept for the first in the queue"]].map(([kind, word]) => el("span", {}, el("i", { class: `mark ${kind}` }), word));
  const light = fabric.has_circuits ? el("span", {}, lightMark(), `light of the selected job between servers, wider: more ${fabric.light.channels}`) : null;
  part("floor").append(el("div", { class: "floor-head" }, el("h2", { id: "floor-title" }, "Floor plan"), el("span", { class: "soft small" }, text), buttons),
    chooser ?? "", el("div", { class: "plan" }, inside), el("div", { class: "key" }, ...marks, ...servers, light));
  listenToPlan(inside);
  new ResizeObserver(() => requestAnimationFrame(fitPlan)).observe(part("floor"));
  on(window, "resize", fitPlan);
}

// The racks, or of a large floor the part that is chosen.
function drawRacks() {
  for (const known of [floorPlan.tiles, floorPlan.panels, floorPlan.painted]) known.clear();
  floorPlan.racks.length = 0;
  const shown = parts.minis.length ? [parts.all[parts.chosen]] : parts.all;
  floorPlan.inside.replaceChildren(...shown.map(drawLiveRack), floorPlan.light);
}

function drawLiveRack({ name: title, first, count }) {
  const { fabric, server_names: names } = live.body;
  const servers = names.slice(first, first + count).map((name) => ({
    name, tiles: Array.from({ length: fabric.devices_per_server }, (_, slot) => `${name}.${fabric.device_letter}${slot}`),
  }));
  const { picture, nodes } = drawRack({ servers }, fabric, {
    label: `${title}: accelerators by job; arrow keys move, Enter selects the job`,
    tile: (name, x, y) => tileNode("free", name, x, y, null),
    act: (node) => chooseTile(node),
  });
  nodes.forEach((node, i) => {
    node.dataset.index = first * fabric.devices_per_server + i;
    floorPlan.tiles.set(Number(node.dataset.index), node);
  });
  [...picture.querySelectorAll(".panel")].forEach((panel, i) => floorPlan.panels.set(first + i, panel));
  const { width, height } = picture.viewBox.baseVal;
  Object.assign(picture.style, { minWidth: "0", maxWidth: "none" });
  floorPlan.racks.push({ picture, width, height });
  return el("figure", {}, parts.all.length > 1 ? el("figcaption", {}, title) : null, picture);
}

function lightMark() {
  return svg("svg", { width: 18, height: 18, "aria-hidden": "true" }, svg("g", { class: "circuit fiber" }, svg("path", { class: "light", d: "M1 13 Q8 0 16 9", "stroke-width": 2, "marker-end": "url(#head-fiber)" })));
}

// The largest scale at which all racks fit into the window, times the zoom; small tiles lose their numbers.
function fitPlan() {
  const [{ width, height }] = floorPlan.racks, count = floorPlan.racks.length;
  const caption = count > 1 ? 20 : 0, gap = 12;
  const box = document.querySelector(".plan");
  const room = { width: box.clientWidth - 8, height: Math.max(420, window.innerHeight * 0.7) };
  const fits = (scale) => {
    const across = Math.floor((room.width + gap) / (width * scale + gap));
    return across > 0 && Math.ceil(count / across) * (height * scale + caption + gap) <= room.height;
  };
  let scale = 1.5;
  while (scale > 0.08 && !fits(scale)) scale *= 0.97;
  scale *= live.zoom;
  for (const { picture } of floorPlan.racks) picture.style.width = `${width * scale}px`;
  part("floor").classList.toggle("unnumbered", TILE * scale < 18);
  part("floor").classList.toggle("unnamed", LABEL * scale < 7);
  drawLinks();
}

function tileState(index) {
  const { owner, jobs } = live.body;
  return { job: owner[index] < 0 ? null : jobs[owner[index]], isFailed: live.failed.has(index), isDark: live.dark.has(index) };
}

function paintPlan() {
  live.failed = new Set(live.body.failed);
  live.dark = new Set(live.body.dark);
  floorPlan.tiles.forEach((node, index) => {
    const { job, isFailed, isDark } = tileState(index);
    const look = `${job === null ? "" : `${job.number} ${job.name}`}|${isFailed}|${isDark}`;
    if (floorPlan.painted.get(index) === look) return;
    floorPlan.painted.set(index, look);
    paintTile(node, isFailed ? "failed" : job === null ? "free" : "taken", job && job.number);
    if (isDark) node.append(...darkMark(Number(node.dataset.x), Number(node.dataset.y)));
    node.setAttribute("aria-label", tileLines(node).join(", "));
  });
  const [drained, kept] = [new Set(live.body.drained), new Set(live.body.reserved.servers)];
  floorPlan.panels.forEach((panel, server) => {
    panel.classList.toggle("drained", drained.has(server));
    panel.classList.toggle("kept", kept.has(server));
  });
}

function tileLines(node) {
  const index = Number(node.dataset.index);
  const { job, isFailed, isDark } = tileState(index);
  const server = Math.floor(index / live.body.fabric.devices_per_server);
  return [node.dataset.name, isFailed ? "failed: runs nothing" : isDark ? "port failed: jobs of one accelerator only" : "",
    job ? `${job.number + 1} ${job.name}, tenant ${job.tenant}` : isFailed ? "" : "free",
    live.body.drained.includes(server) ? "its server is drained" : "",
    live.body.reserved.servers.includes(server) ? `its server is kept for ${live.body.reserved.job}` : ""].filter(Boolean);
}

// What its server has left of a pool.
function poolLines(node) {
  const { pool, fabric } = live.body, server = Math.floor(Number(node.dataset.index) / fabric.devices_per_server);
  return pool ? [`its server: ${number(pool.held[server])} of ${plural(pool.units[server], "memory unit")} held`] : [];
}

function chooseTile(node) {
  const { job } = tileState(Number(node.dataset.index));
  if (job) choose(job.name);
}

function listenToPlan(inside) {
  on(inside, "mouseover focusin", ({ target }) => {
    const node = target.closest(".tile");
    if (!node) return;
    showTip(node, [...tileLines(node), ...poolLines(node)]);
    point(tileState(Number(node.dataset.index)).job?.name ?? null);
  });
  on(inside, "mouseout focusout", () => {
    hideTip();
    point(null);
  });
  on(inside, "click", ({ target }) => target.closest(".tile") && chooseTile(target.closest(".tile")));
}

function point(name) {
  if (live.pointed === name) return;
  live.pointed = name;
  markPlan();
}

// Bring out the job that is pointed at, else the selected one; the others step back for a selected job.
function markPlan() {
  const shown = shownJob();
  const isSelected = live.body.jobs.some((job) => job.name === live.selected);
  part("floor").classList.toggle("has-selection", isSelected);
  floorPlan.tiles.forEach((node, index) => node.classList.toggle("selected", shown >= 0 && live.body.owner[index] === shown));
  paintParts();
  drawLinks();
}

function drawLinks() {
  const job = live.body.jobs[shownJob()], { light } = floorPlan;
  light.replaceChildren();
  if (!job || !job.links.length) return;
  const inside = light.parentNode.getBoundingClientRect();
  light.setAttribute("width", light.parentNode.scrollWidth);
  light.setAttribute("height", light.parentNode.scrollHeight);
  const head = live.body.fabric.light.is_duplex ? {} : { "marker-end": "url(#head-fiber)" };
  const middle = (server) => {
    const box = floorPlan.panels.get(server).getBoundingClientRect();
    return { x: box.left - inside.left + box.width / 2, y: box.top - inside.top + box.height / 2, size: Math.min(box.width, box.height, TILE) };
  };
  for (const [source, destination, count] of job.links.filter((link) => floorPlan.panels.has(link[0]) && floorPlan.panels.has(link[1]))) {
    const [from, to] = [middle(source), middle(destination)];
    const width = Math.min(7, 0.9 + 0.6 * Math.sqrt(count)) * Math.max(0.45, from.size / TILE), d = arc(from, to, from.size);
    light.append(svg("g", { class: "circuit fiber" }, svg("path", { class: "halo", d, "stroke-width": width + 2.5 }),
      svg("path", { class: "light", d, "stroke-width": width, ...head })));
  }
}
