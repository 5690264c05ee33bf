// How the best plan and its proven bound came together, for the first objective.

const CONVERGENCE_KEY = "solid: best plan so far · dashed: no plan can do better · shaded: the gap";
const CHART = { width: Math.min(640, innerWidth - 60), height: 250, left: 58, right: 96, top: 14, bottom: 36 };

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
  const scale = scales(end, low - room, high + room);
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${CHART.width} ${CHART.height}`, role: "group", "aria-label": chartText(points, objective) });
  drawAxes(picture, scale, end, low - room, high + room);
  drawLines(picture, scale, points, end);
  return picture;
}

function scales(end, low, high) {
  const { width, height, left, right, top, bottom } = CHART;
  return {
    x: (time) => left + (time / end) * (width - left - right),
    y: (value) => height - bottom - ((value - low) / (high - low)) * (height - top - bottom),
  };
}

function chartText(points, objective) {
  const last = (name) => [...points].reverse().find((point) => point[name] !== null)?.[name] ?? null;
  return `${objective} over time: ${plural(points.length, "step")}, ending at ${number(last("objective"))} with bound ${number(last("bound"))}`;
}

function drawAxes(picture, scale, end, low, high) {
  const { width, height, left, right, bottom } = CHART;
  const values = ticks(low, high, 5);
  const digits = Math.max(4, digitsApart(values));
  for (const value of values) {
    const y = scale.y(value);
    picture.append(svg("line", { class: "axis", x1: left, x2: width - right, y1: y, y2: y }));
    picture.append(svg("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, number(value, digits)));
  }
  for (const time of ticks(0, end, Math.max(2, Math.round(width / 128)))) {
    picture.append(svg("text", { x: scale.x(time), y: height - bottom + 18, "text-anchor": "middle" }, quantity(time, "s")));
  }
}

// Values of one column as steps that hold until the next value.
function stairs(scale, points, name, end) {
  const known = points.filter((point) => point[name] !== null);
  if (!known.length) return null;
  const moves = known.map((point, i) => (i ? `H${scale.x(point.time_s)} V${scale.y(point[name])}` : `M${scale.x(point.time_s)} ${scale.y(point[name])}`));
  return { path: `${moves.join(" ")} H${scale.x(end)}`, known, last: known[known.length - 1][name] };
}

function drawLines(picture, scale, points, end) {
  const best = stairs(scale, points, "objective", end);
  const bound = stairs(scale, points, "bound", end);
  if (best && bound) {
    const [from, to] = [scale.y(best.last), scale.y(bound.last)];
    picture.append(svg("rect", { class: "gap", x: scale.x(0), width: scale.x(end) - scale.x(0), y: Math.min(from, to), height: Math.abs(from - to) }));
  }
  const ys = [];
  for (const [line, name, label] of [[best, "objective", "plan"], [bound, "bound", "bound"]]) {
    if (!line) continue;
    picture.append(svg("path", { class: name, d: line.path }));
    let y = scale.y(line.last) + 4;
    if (ys.length && Math.abs(y - ys[0]) < 15) y = ys[0] + (y <= ys[0] ? -15 : 15);
    ys.push(y);
    picture.append(svg("text", { class: "label", x: scale.x(end) + 8, y }, `${label} ${number(line.last, 4)}`));
  }
  const dots = (best ? best.known : []).map((point) => {
    const dot = svg("circle", { cx: scale.x(point.time_s), cy: scale.y(point.objective), r: 5, role: "img" });
    picture.append(dot);
    return describe(dot, [`${number(point.objective, 4)} by ${point.source}`, `after ${quantity(point.time_s, "s")}`, point.bound === null ? "" : `bound ${number(point.bound, 4)}`]);
  });
  roving(dots, inOrder(dots));
}
