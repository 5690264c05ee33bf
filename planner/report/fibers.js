// Light between servers: for each ordered pair, the used share of the wavelengths of its healthy fibers.

const cellNodes = [];
const MOST_USUAL = 24;
const lightPairs = new Map();
for (const { rack, from, to, pair } of unpackRows(data.matrices.pairs)) lightPairs.set(`${rack} ${from} ${to}`, pair);

// The pairs of the rack that is looked at, or of every rack where all are.
function drawMatrices() {
  if (!data.matrices.racks) return null;
  const box = el("div", { class: "matrices" });
  const fill = () => {
    const racks = isWhole ? [...Array(data.matrices.racks).keys()] : [sections[view.section].rack];
    if (box.dataset.racks === racks.join()) return;
    box.dataset.racks = racks.join();
    cellNodes.length = 0;
    box.replaceChildren(...racks.map(drawMatrix));
    markMatrices();
  };
  view.listeners.push(fill);
  fill();
  return box;
}

function pairOf(rack, from, to) {
  const key = `${rack} ${from} ${to}`;
  return from === to ? null : lightPairs.has(key) ? lightPairs.get(key) : data.matrices.usual;
}

function drawMatrix(rack) {
  const count = data.fabric.servers;
  const names = Array.from({ length: count }, (_, i) => serverName(rack * count + i));
  const side = count <= 8 ? 32 : count <= 16 ? 24 : count <= 64 ? 15 : Math.max(3, 960 / count);
  const label = 12 + 7.5 * Math.max(...names.map((name) => name.length));
  const size = label + count * side + 6;
  const picture = svg("svg", { class: "matrix", width: size, viewBox: `0 0 ${size} ${size}`, role: "group", "aria-label": "Used wavelengths between servers; arrow keys move, Enter shows the fibers" });
  picture.style.maxWidth = "100%";
  labelMatrix(picture, names, side, label);
  const nodes = [];
  let most = 0;
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < count; j++) {
      const pair = pairOf(rack, i, j);
      most = Math.max(most, pair ? pair.total : 0);
      if (count > MOST_USUAL && !lightPairs.has(`${rack} ${i} ${j}`)) continue;
      const node = drawPair(pair, names[i], names[j], label + j * side, label + i * side, side);
      picture.append(node);
      if (pair) nodes.push(node);
      if (pair) on(node, "click", () => showFibers(rack * count + i, rack * count + j));
    }
  }
  roving(nodes, count > MOST_USUAL ? inOrder(nodes) : (node, key) => nodes[nodes.indexOf(node) + { ArrowRight: 1, ArrowLeft: -1, ArrowDown: count - 1, ArrowUp: 1 - count }[key]],
    (node) => node.dispatchEvent(new Event("click")));
  const caption = `Fibers in use${data.fabric.racks > 1 ? ` of rack r${rack}` : ""}, from row to column: wavelengths used of ${number(most)}`;
  const heading = el("figcaption", {}, caption);
  heading.style.maxWidth = `${Math.max(size, 210)}px`;
  return el("figure", {}, heading, el("div", { class: "rack" }, picture));
}

function labelMatrix(picture, names, side, label) {
  const step = Math.max(1, Math.ceil(14 / side));
  names.forEach((name, i) => {
    if (i % step) return;
    const middle = label + (i + 0.5) * side;
    picture.append(svg("text", { x: label - 6, y: middle, "text-anchor": "end" }, name));
    const turned = name.length * 7.5 > side ? { transform: `rotate(-90 ${middle} ${label - 6})`, "text-anchor": "start" } : { "text-anchor": "middle" };
    picture.append(svg("text", { x: middle, y: label - (turned.transform ? 6 : 9), ...turned }, name));
  });
}

function drawPair(pair, source, destination, x, y, side) {
  const box = { x: x + 1, y: y + 1, width: side - 2, height: side - 2, rx: 3 };
  if (pair === null) return svg("g", { class: "cell none", "aria-hidden": "true" }, svg("rect", { class: "ground", ...box }));
  const share = pair.total ? pair.used / pair.total : 0;
  const node = svg("g", { class: share > 0.55 ? "cell full" : "cell", role: "img", "data-jobs": pair.jobs.join(" ") },
    svg("rect", { class: "ground", ...box }),
    svg("rect", { ...box, "fill-opacity": pair.used ? 0.15 + 0.85 * share : 0 }));
  if (pair.failed.length) {
    const wedge = pair.failed.length === pair.fibers ? side - 2 : side * 0.42;
    node.append(svg("path", { class: "broken", d: `M${x + side - 1 - wedge} ${y + 1} h${wedge} v${wedge} z` }));
  }
  node.append(svg("rect", { class: "edge", ...box }));
  if (side >= 24 && pair.used) node.append(svg("text", { x: x + side / 2, y: y + side / 2 + 1 }, String(pair.used)));
  cellNodes.push({ node, jobs: new Set(pair.jobs) });
  return describe(node, [
    `${source} → ${destination}`,
    `${number(pair.used)} of ${plural(pair.total, "usable wavelength")} used`,
    `${pair.fibers_lit} of ${plural(pair.fibers, "fiber")} lit`,
    pair.failed.length ? `failed: ${pair.failed.join(", ")}` : "",
    pair.jobs.length ? `jobs: ${pair.jobs.map((job) => `${job + 1} ${data.jobs[job].name}`).join(", ")}` : "",
  ]);
}

function markMatrices() {
  for (const { node, jobs } of cellNodes) node.classList.toggle("mine", jobs.has(state.job));
  markSpots();
}

const FAILED = [["devices", "Failed accelerators"], ["ports", "Failed ports"], ["fibers", "Failed fibers"], ["wavelengths", "Failed lasers and receivers"],
  ["switches", "Failed switches"], ["memory", "Failed pool parts"]];

function failedParts() {
  const lists = FAILED.map(([key, title]) => [title, data.fabric[`failed_${key}`]])
    .filter(([, names]) => names.length);
  if (!lists.length) return null;
  return el("dl", { class: "pairs small" }, ...lists.flatMap(([title, names]) => [el("dt", {}, title), el("dd", {}, names.join(", "))]));
}
