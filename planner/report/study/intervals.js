// Dots and whiskers of one measure under all conditions, and beside them the paired differences.

const COMPARED = [
  { title: "baseline", at: 7, words: () => runText(0) },
  { title: "first policy", at: 3, words: () => `${policies[0]} on the same ${data.ground}` },
  { title: `first ${data.ground}`, at: 5, words: () => `the same policy on ${clusters[0]}` },
];
const shownMeasure = { name: data.gain, compared: 0 };
const LINE = 24, GROUP = 26;
const NAME = 18, NARROW = 480;

function drawIntervals() {
  const pick = el("select", { "aria-label": "Measure" }, ...data.measures.map(({ name, title }) => el("option", { value: name, selected: name === shownMeasure.name }, title)));
  const possible = COMPARED.filter((_, i) => i === 0 || (i === 1 ? policies : clusters).length > 1);
  const beside = chips("Differences to", "radio", possible.map((each) => ({ key: COMPARED.indexOf(each), text: each.title })), (key) => key === 0, (key) => {
    shownMeasure.compared = key;
    changed();
  });
  on(pick, "change", () => {
    shownMeasure.name = pick.value;
    changed();
  });
  const [left, right] = [el("div"), el("div")];
  part("intervals").append(
    el("div", { class: "section-head" }, el("h2", { id: "intervals-title" }, "Intervals"), pick, data.runs.length > 1 ? el("span", { class: "soft" }, "differences to") : null, data.runs.length > 1 ? beside : null),
    el("div", { class: "columns even plots" }, left, data.runs.length > 1 ? right : ""), el("p", { class: "key" }, intervalKey()));
  drawn(left, (width) => intervalPlot(width, 0));
  if (data.runs.length > 1) drawn(right, (width) => intervalPlot(width, COMPARED[shownMeasure.compared].at));
}

function intervalKey() {
  if (data.seeds === 1) return "One seed: no interval.";
  return "Line: 95 % interval over seeds. Differences are taken seed by seed, on the same jobs: their intervals, not those on the left, say what differs. Grey: holds 0.";
}

// `at` is where mean and half width stand in the figures of a run: 0 for the value, else a difference. A narrow plot, or
// one of long names, has each name above its line.
function intervalPlot(width, at, name = shownMeasure.name) {
  const measure = byName.get(name);
  const limit = at ? null : byName.get(data.limits?.[name]) ?? null;
  const rows = data.conditions.flatMap(({ name }, i) => [...(data.conditions.length > 1 ? [{ name, title: true }] : []), ...shownRuns().map((run) => ({ run, condition: i, row: data.table[i][run][measure.index] }))]);
  const ends = rows.filter((row) => row.row && row.row[at] !== null).flatMap(({ row }) => [row[at] - (row[at + 1] ?? 0), row[at] + (row[at + 1] ?? 0)]);
  if (at) ends.push(0);
  if (limit) ends.push(...rows.filter((row) => row.row).map((row) => limitOf(row, limit)).filter((value) => value !== null));
  const named = at ? `${capital(measure.title)}: difference to ${COMPARED[shownMeasure.compared].words()}` : data.seeds > 1 ? `${capital(measure.title)}: mean over seeds` : capital(measure.title);
  if (!ends.length || (at && ends.every((end) => end === 0))) return [el("h3", {}, named), el("p", { class: "soft" }, at ? "No difference." : "Nothing is known.")];
  const room = 30 + Math.max(...shownRuns().map((run) => textWidth(runText(run))));
  const isAbove = width < NARROW || room > width * 0.45;
  const left = isAbove ? 0 : room, line = isAbove ? LINE + NAME : LINE, top = 4;
  const height = top + rows.reduce((sum, row) => sum + (row.title ? GROUP : line), 0) + 26;
  const span = axis(ends, measure, left + 8, width - 24);
  const title = [named, at && measure.is_share ? "points" : span.unit].filter(Boolean).join(", ");
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": title });
  drawGrid(picture, span, top, height - 22, at !== 0);
  const dots = [];
  let y = top;
  for (const row of rows) {
    y += row.title ? GROUP : line;
    if (row.title) picture.append(svg("text", { class: "label", x: 0, y: y - 7 }, row.name));
    else dots.push(...intervalRow(picture, { ...row, limit: limit === null ? null : limitOf(row, limit) }, at, span, y - LINE / 2, measure, isAbove ? y - LINE - 4 : y - LINE / 2 + 4));
  }
  roving(dots, inOrder(dots));
  return [el("h3", {}, title), picture];
}

const limitOf = ({ run, condition }, limit) => data.table[condition][run][limit.index][0];

function intervalRow(picture, { run, condition, row: figures, limit }, at, span, y, measure, nameY) {
  const [mean, half] = [figures[at], figures[at + 1]];
  const label = svg("text", { x: 22, y: nameY }, runText(run));
  const isLevel = at && mean !== null && (half === null || Math.abs(mean) <= half);
  picture.append(mark(run, 10, nameY - 4, 4.5), label);
  if (mean === null) {
    const words = at ? "reference" : "not known", from = span.x(span.zero) + 6;
    const isCut = from + textWidth(words) > picture.width.baseVal.value;
    picture.append(svg("text", { class: "soft", x: isCut ? from - 12 : from, y: y + 4, "text-anchor": isCut ? "end" : "start" }, words));
    return [];
  }
  const node = svg("g", { class: isLevel ? "interval flat" : "interval", role: "img" });
  if (half !== null) node.append(svg("path", { class: `whisker ${hueOf(run)}`, d: `M${span.x(mean - half)} ${y} H${span.x(mean + half)}` }));
  if (limit !== null) node.append(svg("path", { class: `limit ${hueOf(run)}`, d: `M${span.x(limit)} ${y - 6} V${y + 6}` }));
  node.append(mark(run, span.x(mean), y));
  picture.append(node);
  const text = at ? differenceText(measure, mean, half) : meanText(measure, mean, half);
  return [describe(node, [runText(run), `${data.conditions[condition].name}: ${text}`, limit === null ? "" : `bound: ${number(limit)}`, half === null ? "one seed: no interval" : isLevel ? "cannot be told apart from 0" : at ? "differs from 0" : ""])];
}

// Where values lie between two places, with room at both ends as a share of their span, and ticks in the unit of the measure.
function axis(ends, measure, from, to, apart = 90, margin = 0.06) {
  let [low, high] = [Math.min(...ends), Math.max(...ends)];
  const room = (high - low || Math.abs(high) || 1) * margin;
  [low, high] = [low >= 0 && low - room < 0 ? 0 : low - room, high + room];
  const unit = unitOf(measure, Math.max(Math.abs(low), Math.abs(high)));
  const count = Math.max(2, Math.floor(Math.abs(to - from) / apart));
  const values = ticks(low / unit.scale, high / unit.scale, count);
  const digits = Math.max(0, ...values.map((value) => (String(value).split(".")[1] ?? "").length));
  const marks = values.map((value) => ({ value: value * unit.scale, text: fixed(value, Math.min(digits, 6)) }));
  return { x: (value) => from + ((value - low) / (high - low)) * (to - from), marks, low, high, zero: low <= 0 && high >= 0 ? 0 : low, unit: unit.text.trim() };
}

function drawGrid(picture, span, top, bottom, hasZero) {
  for (const { value, text } of span.marks) {
    const x = span.x(value);
    picture.append(svg("line", { class: "axis", x1: x, x2: x, y1: top, y2: bottom }), svg("text", { x, y: bottom + 16, "text-anchor": "middle" }, text));
  }
  if (hasZero) picture.append(svg("line", { class: "zero", x1: span.x(0), x2: span.x(0), y1: top, y2: bottom }));
}
