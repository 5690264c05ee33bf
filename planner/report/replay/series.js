// What is held, who waits and what is stranded over time; the arrow keys or the pointer read the values of one stretch.

const CURVES = [
  { name: "busy", title: "Utilization", measure: { is_share: true, unit: "" }, scale: 1e-4 },
  { name: "queue", title: "Jobs waiting", measure: { is_share: false, unit: "" }, scale: 1 },
  { name: "stranded", title: "Accelerators free while a waiting job asks for no more", measure: { is_share: true, unit: "" }, scale: 1e-4 },
];
const TIME = { unit: "s", is_share: false };
const drawnSeries = { seed: 0 };

function drawSeries() {
  const seeds = chips("Seed", "radio", data.series.seeds.map((seed, key) => ({ key, text: String(seed) })), (key) => key === 0, (key) => {
    drawnSeries.seed = key;
    changed();
  });
  const title = el("h2", { id: "series-title" });
  const left = data.seeds - data.series.seeds.length;
  part("series").append(el("div", { class: "section-head" }, title, el("span", { class: "soft" }, "seed"), seeds), lineKey());
  for (const curve of CURVES) {
    const place = el("div", { class: "curve" });
    part("series").append(place);
    drawn(place, (width) => curvePlot(width, curve));
  }
  part("series").append(el("p", { class: "key" }, `Averages over equal stretches from the end of the warm-up to the last arrival; time since the first arrival.${left > 0 ? ` ${plural(left, "further seed")} not drawn.` : ""}`));
  const retitle = () => (title.textContent = `Over time ${data.conditions[view.condition].at}`);
  view.listeners.push(retitle);
  retitle();
}

function lineKey() {
  const key = el("div", { class: "key" });
  const refill = () => key.replaceChildren(...shownRuns().map((run) => el("span", {}, svg("svg", { width: 30, height: 12, "aria-hidden": "true" },
    svg("path", { class: `line ${hueOf(run)}`, d: "M1 6 H29", "stroke-dasharray": dashOf(run) })), runText(run))));
  view.listeners.push(refill);
  refill();
  return key;
}

function curvePlot(width, curve) {
  const lines = shownRuns().map((run) => ({ run, line: data.series.lines[view.condition][drawnSeries.seed][run] })).filter(({ line }) => line);
  if (!lines.length) return [el("h3", {}, curve.title), el("p", { class: "soft" }, "No time counts.")];
  const { begin_s: begin, end_s: end } = lines[0].line;
  const height = 170, box = { left: 52, right: width - 14, top: 8, bottom: height - 24 };
  const most = Math.max(...lines.flatMap(({ line }) => line[curve.name])) * curve.scale;
  const up = axis([0, curve.name === "busy" ? 0.97 : most || 1], curve.measure, box.bottom, box.top, 40);
  const across = axis([begin, end], TIME, box.left, box.right, 90, 0);
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", tabindex: 0, "aria-label": `${curve.title} over time; arrow keys read values` });
  curveAxes(picture, box, across, up);
  for (const { run, line } of lines) {
    const step = (box.right - box.left) / line[curve.name].length;
    const points = line[curve.name].map((value, i) => `${(box.left + (i + 0.5) * step).toFixed(1)} ${up.x(value * curve.scale).toFixed(1)}`);
    picture.append(svg("path", { class: `line ${hueOf(run)}`, d: `M${points.join(" L")}`, "stroke-dasharray": dashOf(run) }));
  }
  readable(picture, lines, curve, box, begin, end);
  return [el("h3", {}, curve.title), picture];
}

function curveAxes(picture, box, across, up) {
  for (const { value, text } of up.marks) picture.append(svg("line", { class: "axis", x1: box.left, x2: box.right, y1: up.x(value), y2: up.x(value) }),
    svg("text", { x: box.left - 6, y: up.x(value) + 4, "text-anchor": "end" }, `${text}${up.unit ? ` ${up.unit}` : ""}`));
  for (const { value, text } of across.marks) picture.append(
    svg("line", { class: "axis", x1: across.x(value), x2: across.x(value), y1: box.bottom, y2: box.bottom + 4 }),
    svg("text", { x: across.x(value), y: box.bottom + 18, "text-anchor": "middle" }, `${text} ${across.unit}`));
}

// A line that follows the pointer or the arrow keys, with the values there.
function readable(picture, lines, curve, box, begin, end) {
  const bins = lines[0].line[curve.name].length;
  const cursor = svg("path", { class: "cursor", visibility: "hidden" });
  let bin = Math.floor(bins / 2);
  picture.append(cursor);
  const show = () => {
    const x = box.left + ((bin + 0.5) / bins) * (box.right - box.left);
    cursor.setAttribute("d", `M${x} ${box.top} V${box.bottom}`);
    cursor.setAttribute("visibility", "visible");
    const time = begin + ((bin + 0.5) / bins) * (end - begin);
    showTip(cursor, [`at ${meanText(TIME, time, null)}`, ...lines.map(({ run, line }) => `${runText(run)}: ${meanText(curve.measure, line[curve.name][bin] * curve.scale, null)}`)]);
  };
  const hide = () => {
    cursor.setAttribute("visibility", "hidden");
    hideTip();
  };
  on(picture, "pointermove", (event) => {
    const share = (event.offsetX - box.left) / (box.right - box.left);
    bin = Math.min(bins - 1, Math.max(0, Math.floor(share * bins)));
    show();
  });
  on(picture, "keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") hide();
    if (!step) return;
    bin = Math.min(bins - 1, Math.max(0, bin + step));
    show();
    event.preventDefault();
  });
  on(picture, "focus", show);
  on(picture, "pointerleave blur", hide);
}
