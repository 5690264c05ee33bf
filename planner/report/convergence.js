// How the best plan and its proven bound came together, for the first objective.

const CONVERGENCE_KEY = "solid: best plan so far · dashed: no plan can do better · shaded: the gap";
const CHART = { width: Math.min(640, innerWidth - 60), height: 250, top: 14, bottom: 36 };
const BESIDE = 8;

function drawConvergence() {
  const { objective, points } = data.convergence;
  const section = part("convergence");
  section.append(el("h2", { id: "convergence-title" }, `Convergence of ${objective}`));
  const picture = convergencePicture(points, objective, data.convergence.wall_time_s);
  if (picture === null) {
    section.append(el("p", { class: "soft" }, "No progress was recorded: the policy gave its plan at once, or none."));
    return;
  }
  section.append(picture, el("p", { class: "key" }, CONVERGENCE_KEY));
}

// Incumbents and bounds over time, up to `wall_time_s` at least; null where there is neither.
function convergencePicture(points, objective, wall_time_s) {
  const known = points.flatMap((point) => [point.objective, point.bound]).filter((value) => value !== null);
  if (!known.length) return null;
  const end = Math.max(wall_time_s, points[points.length - 1].time_s, 1e-6);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const room = (high - low > 1e-9 * Math.abs(high) ? high - low : Math.abs(high) || 1) * 0.08;
  const values = labelled(ticks(low - room, high + room, 5));
  const ends = endLabels(points);
  const left = BESIDE + widest(values), right = BESIDE + widest(ends, 650);
  const scale = scales(end, low - room, high + room, left, right);
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${CHART.width} ${CHART.height}`, role: "group", "aria-label": chartText(points, objective) });
  drawAxes(picture, scale, end, values);
  drawLines(picture, scale, points, end, ends);
  return picture;
}

const widest = (labels, weight) => Math.ceil(Math.max(...labels.map(({ text }) => textWidth(text, weight)))) + 2;

// Values with texts that read apart.
function labelled(values) {
  const digits = Math.max(4, digitsApart(values));
  return values.map((value) => ({ value, text: number(value, digits) }));
}

// What stands at the ends of the lines: plan and bound, where they are known.
function endLabels(points) {
  const ends = [["objective", "plan"], ["bound", "bound"]].map(([name, word]) => ({ name, word, value: lastOf(points, name) })).filter(({ value }) => value !== null);
  const texts = labelled(ends.map(({ value }) => Number(value.toPrecision(10))));
  return ends.map(({ name, word, value }, i) => ({ name, value, text: `${word} ${texts[i].text}` }));
}

function lastOf(points, name) {
  return [...points].reverse().find((point) => point[name] !== null)?.[name] ?? null;
}

function scales(end, low, high, left, right) {
  const { width, height, top, bottom } = CHART;
  return {
    x: (time) => left + (time / end) * (width - left - right),
    y: (value) => height - bottom - ((value - low) / (high - low)) * (height - top - bottom),
  };
}

function chartText(points, objective) {
  const ends = endLabels(points).map(({ text }) => text);
  return `${objective} over time: ${plural(points.length, "step")}, ending at ${ends.join(", ")}`;
}

function drawAxes(picture, scale, end, values) {
  const { width, height, bottom } = CHART;
  for (const { value, text } of values) {
    const y = scale.y(value);
    picture.append(svg("line", { class: "axis", x1: scale.x(0), x2: scale.x(end), y1: y, y2: y }));
    picture.append(svg("text", { x: scale.x(0) - BESIDE, y: y + 4, "text-anchor": "end" }, text));
  }
  for (const time of ticks(0, end, Math.max(2, Math.round(width / 128)))) {
    picture.append(svg("text", { x: scale.x(time), y: height - bottom + 18, "text-anchor": "middle" }, quantity(time, "s")));
  }
}

// Values of one column as steps that hold until the next value.
function stairs(scale, points, name, end) {
  const known = points.filter((point) => point[name] !== null);
  const moves = known.map((point, i) => (i ? `H${scale.x(point.time_s)} V${scale.y(point[name])}` : `M${scale.x(point.time_s)} ${scale.y(point[name])}`));
  return `${moves.join(" ")} H${scale.x(end)}`;
}

function drawLines(picture, scale, points, end, ends) {
  if (ends.length === 2) {
    const [from, to] = ends.map(({ value }) => scale.y(value));
    picture.append(svg("rect", { class: "gap", x: scale.x(0), width: scale.x(end) - scale.x(0), y: Math.min(from, to), height: Math.abs(from - to) }));
  }
  const ys = [];
  for (const { name, value, text } of ends) {
    picture.append(svg("path", { class: name, d: stairs(scale, points, name, end) }));
    let y = scale.y(value) + 4;
    if (ys.length && Math.abs(y - ys[0]) < 15) y = ys[0] + (y <= ys[0] ? -15 : 15);
    ys.push(y);
    picture.append(svg("text", { class: "label", x: scale.x(end) + BESIDE, y }, text));
  }
  const dots = points.filter((point) => point.objective !== null).map((point) => {
    const dot = svg("circle", { cx: scale.x(point.time_s), cy: scale.y(point.objective), r: 5, role: "img" });
    picture.append(dot);
    return describe(dot, [`${number(point.objective, 4)} by ${point.source}`, `after ${quantity(point.time_s, "s")}`, point.bound === null ? "" : `bound ${number(point.bound, 4)}`]);
  });
  roving(dots, inOrder(dots));
}
