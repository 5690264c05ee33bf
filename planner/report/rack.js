// A rack: servers as panels, devices as tiles with the number of their job; arrow keys lead from tile to tile.

const TILE = 40, GAP = 4, PAD = 7, SPACE = 15, LABEL = 13;

function panelSize(rack, fabric) {
  const columns = fabric.columns;
  const rows = Math.ceil(fabric.devices_per_server / columns);
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

// `look.tile(tile, x, y)` gives the node of a tile, `look.act(node)` is what Enter does.
function drawRack(rack, fabric, look) {
  const panel = panelSize(rack, fabric);
  const across = panelColumns(panel, rack.servers.length);
  const width = across * (panel.label + panel.width + SPACE) - SPACE + 4;
  const height = Math.ceil(rack.servers.length / across) * (panel.height + SPACE) - SPACE + 24;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, role: "group", "aria-label": look.label });
  picture.style.minWidth = `${Math.round(Math.min(width * 0.56, 420))}px`;
  picture.style.maxWidth = "100%";
  const nodes = rack.servers.flatMap((server, i) => {
    const x = (i % across) * (panel.label + panel.width + SPACE) + panel.label;
    const y = Math.floor(i / across) * (panel.height + SPACE) + 12;
    return drawServer(picture, server, panel, x, y, look);
  });
  roving(nodes, (node, key) => nearest(nodes, node, key), look.act);
  return { picture, nodes };
}

function drawServer(picture, server, panel, x, y, look) {
  const label = svg("text", { class: "server", x: x - 7, y: y + panel.height / 2, "font-size": LABEL }, server.name);
  picture.append(label, svg("rect", { class: "panel", x, y, width: panel.width, height: panel.height, rx: 7 }));
  return server.tiles.map((tile, slot) => {
    const left = x + PAD + (slot % panel.columns) * (TILE + GAP);
    const top = y + PAD + Math.floor(slot / panel.columns) * (TILE + GAP);
    const node = look.tile(tile, left, top);
    picture.append(node);
    return node;
  });
}

// `kind` is free, failed or taken; a taken tile has the colour and the number of its job.
function tileNode(kind, name, x, y, job) {
  const node = svg("g", { class: "tile", role: "button", "data-name": name, "data-x": x, "data-y": y }, svg("rect", { x, y, width: TILE, height: TILE, rx: 5 }));
  paintTile(node, kind, job);
  return node;
}

function paintTile(node, kind, job) {
  const [square, ...marks] = node.children;
  marks.forEach((mark) => mark.remove());
  node.setAttribute("class", `tile ${kind}`);
  square.removeAttribute("fill");
  if (job === null) return;
  const { x, y } = node.dataset;
  const text = svg("text", { x: Number(x) + TILE / 2, y: Number(y) + TILE / 2 + 1, "font-size": { 3: 15, 4: 12.5, 5: 10.5 }[String(job + 1).length] ?? 17 }, String(job + 1));
  if (kind === "taken") {
    square.setAttribute("fill", colour(job));
    text.setAttribute("fill", inkOn(colour(job)));
  }
  node.append(text);
}

// The number of a job as its tiles show it; of one without tiles it is only framed.
function numberSwatch(job, isPlaced) {
  const node = el("span", { class: isPlaced ? "swatch" : "swatch none", "aria-hidden": "true" }, String(job + 1));
  if (isPlaced) {
    node.style.background = colour(job);
    node.style.color = inkOn(colour(job));
  }
  return node;
}

function darkMark(x, y) {
  return [svg("circle", { class: "dark-port", cx: x + TILE - 8, cy: y + 8, r: 5 }),
    svg("path", { class: "dark-port", d: `M${x + TILE - 11.5} ${y + 11.5} l7 -7` })];
}

function nearest(nodes, node, key) {
  const [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key];
  const { x, y } = node.dataset;
  let best = null, least = Infinity;
  for (const other of nodes) {
    const [right, down] = [other.dataset.x - x, other.dataset.y - y];
    const along = right * dx + down * dy;
    const cost = along + 3 * Math.abs(right * dy + down * dx);
    if (along > 1 && cost < least) [best, least] = [other, cost];
  }
  return best;
}

// What a mark on the floor plan means.
function tileMark(kind) {
  const mark = svg("svg", { width: 18, height: 18, "aria-hidden": "true" });
  const classes = kind === "dark" ? "tile free" : `tile ${kind}`;
  mark.append(svg("g", { class: classes }, svg("rect", { x: 1, y: 1, width: 16, height: 16, rx: 3 })));
  if (kind === "dark") mark.append(svg("circle", { class: "dark-port", cx: 11, cy: 7, r: 4 }), svg("path", { class: "dark-port", d: "M8 10 l6 -6" }));
  return mark;
}

// An arc that leaves and enters at an angle, so that the two directions between tiles of this size do not overlap.
function arc(from, to, size = TILE) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const turn = length > 3 * size ? 0.55 : 0.95;
  const along = Math.atan2(dy, dx);
  const radius = size * 0.44;
  const pull = Math.max(size / 4, length * 0.28);
  const point = (base, angle, reach) => [base.x + Math.cos(angle) * reach, base.y + Math.sin(angle) * reach].map((v) => v.toFixed(1)).join(" ");
  const [out, back] = [along - turn, along + Math.PI + turn];
  return `M${point(from, out, radius)} C${point(from, out, radius + pull)} ${point(to, back, radius + pull)} ${point(to, back, radius)}`;
}
