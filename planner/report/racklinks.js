// Light or packets between racks: racks in a row, an arc for each two that exchange something.

const rackArcs = [];
const RACK_WIDTH = 64, RACK_HEIGHT = 30, RACK_SPACE = 46;

function drawRackLinks(layer) {
  const count = layer.racks.length;
  const pitch = RACK_WIDTH + RACK_SPACE;
  const reach = 26 * Math.max(1, ...layer.arcs.map((each) => (each.to === null ? 1 : Math.abs(each.from - each.to)))) + 20;
  const [width, height] = [count * pitch, 2 * reach + RACK_HEIGHT];
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, role: "group", "aria-label": "Links between racks" });
  picture.style.maxWidth = "100%";
  const middle = (rack) => rack * pitch + pitch / 2;
  layer.racks.forEach((name, rack) => {
    const x = middle(rack) - RACK_WIDTH / 2;
    picture.append(svg("rect", { class: "panel", x, y: reach, width: RACK_WIDTH, height: RACK_HEIGHT, rx: 6 }),
      svg("text", { class: "server", x: middle(rack) + 9, y: reach + RACK_HEIGHT / 2, "font-size": LABEL }, name));
  });
  for (const each of layer.arcs) picture.append(drawRackArc(each, layer, middle, reach));
  const what = layer.kind === "packets" ? "Uplinks of racks in use" : "Links between racks in use";
  return el("figure", {}, el("figcaption", {}, what), el("div", { class: "rack" }, picture));
}

function drawRackArc(each, layer, middle, reach) {
  const isUp = each.to === null, forth = isUp || each.from < each.to;
  const [from, to] = [middle(each.from), middle(isUp ? each.from : each.to)];
  const y = forth ? reach : reach + RACK_HEIGHT;
  const bend = (forth ? -1 : 1) * 26 * (isUp ? 1 : Math.abs(each.from - each.to)) * 1.3;
  const d = isUp ? `M${from} ${y} V4` : `M${from} ${y} C${from} ${y + bend} ${to} ${y + bend} ${to} ${y}`;
  const stroke = Math.min(7, 1.2 + 5 * (each.total ? each.used / each.total : 0));
  const node = svg("g", { class: "circuit fiber", role: "img" },
    svg("path", { class: "halo", d, "stroke-width": stroke + 3 }),
    svg("path", { class: "light", d, "stroke-width": stroke, "marker-end": "url(#head-fiber)" }),
    svg("path", { class: "reach", d }));
  rackArcs.push({ node, jobs: new Set(each.jobs) });
  return describe(node, [
    isUp ? `rack ${layer.racks[each.from]} → spine` : `${layer.racks[each.from]} → ${layer.racks[each.to]}`,
    `${number(each.used)} of ${plural(each.total, layer.link)} used`,
    `jobs: ${each.jobs.map((job) => `${job + 1} ${data.jobs[job].name}`).join(", ")}`,
  ]);
}

function markRackLinks() {
  for (const { node, jobs } of rackArcs) node.style.opacity = state.job === null || jobs.has(state.job) ? 1 : 0.25;
}
