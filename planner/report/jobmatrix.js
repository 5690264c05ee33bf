// All circuits of the selected job in one configuration, from row to column: nothing is left out however many they are.

const MOST_LABELS = 40;

function circuitMatrix() {
  const box = el("div", { class: "rack" }), summary = el("summary");
  const details = el("details", { id: "circuit-matrix" }, summary, box);
  const fill = () => {
    const circuits = shownCircuits().filter(({ from, to }) => typeof from === "number" && typeof to === "number");
    details.hidden = circuits.length === 0;
    if (!circuits.length) return;
    const ends = endsOf(circuits);
    summary.textContent = `All ${plural(circuits.length, "circuit")} of this configuration, from ${ends.what} to ${ends.what}`;
    box.replaceChildren(details.open ? drawEnds(circuits, ends) : "");
  };
  on(details, "toggle", fill);
  return { details, fill };
}

// Accelerators where they are few, else servers.
function endsOf(circuits) {
  const devices = [...new Set(circuits.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b);
  const servers = [...new Set(devices.map(serverOf))];
  return devices.length <= MOST_LABELS || servers.length === 1
    ? { what: "accelerator", all: devices, of: (device) => device, name: deviceName }
    : { what: "server", all: servers, of: serverOf, name: serverName };
}

function drawEnds(circuits, { all, of, name }) {
  const row = new Map(all.map((end, i) => [end, i]));
  const cells = new Map();
  for (const circuit of circuits) {
    const key = row.get(of(circuit.from)) * all.length + row.get(of(circuit.to));
    const cell = cells.get(key) ?? { circuits: 0, width: 0 };
    cell.circuits += 1;
    cell.width += circuit.width;
    cells.set(key, cell);
  }
  const side = Math.max(4, Math.min(24, 560 / all.length));
  const step = Math.max(1, Math.ceil(13 / side));
  const label = 14 + 7.2 * Math.max(...all.map((end) => name(end).length));
  const size = label + side * all.length + 6;
  const picture = svg("svg", { class: "matrix", width: size, viewBox: `0 0 ${size} ${size}`, role: "group", "aria-label": "Circuits by their ends; arrow keys move" });
  picture.style.maxWidth = "100%";
  all.forEach((end, i) => {
    if (i % step) return;
    const middle = label + (i + 0.5) * side;
    picture.append(svg("text", { x: label - 6, y: middle, "text-anchor": "end" }, name(end)),
      svg("text", { x: middle, y: label - 6, transform: `rotate(-90 ${middle} ${label - 6})` }, name(end)));
  });
  picture.append(svg("rect", { class: "panel", x: label, y: label, width: side * all.length, height: side * all.length }));
  const most = Math.max(...[...cells.values()].map(({ circuits: count }) => count));
  const nodes = [...cells].sort(([a], [b]) => a - b).map(([key, cell]) => {
    const [i, j] = [Math.floor(key / all.length), key % all.length];
    const box = { x: label + j * side + 0.5, y: label + i * side + 0.5, width: side - 1, height: side - 1 };
    const node = svg("g", { class: "cell", role: "img" }, svg("rect", { ...box, "fill-opacity": 0.3 + 0.7 * (cell.circuits / most) }), svg("rect", { class: "edge", ...box }));
    picture.append(node);
    return describe(node, [`${name(all[i])} → ${name(all[j])}`, plural(cell.circuits, "circuit"), `${number(cell.width)} ${data.fabric.light.channels}`]);
  });
  roving(nodes, inOrder(nodes));
  return picture;
}
