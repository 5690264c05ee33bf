// Goodput over what it takes: the runs that no other beats in both are joined.

const frontView = { isPaired: data.is_paired && data.seeds > 1 };

function drawFront() {
  const kinds = [{ key: 1, text: "differences to the baseline" }, { key: 0, text: "as they are" }];
  const choice = chips("Front shows", "radio", kinds, (key) => Boolean(key) === frontView.isPaired, (key) => {
    frontView.isPaired = Boolean(key);
    changed();
  });
  part("front").append(el("div", { class: "section-head" }, el("h2", { id: "front-title" }, data.front_title), choice));
  const grid = el("div", { class: "plots grid" });
  part("front").append(grid);
  data.axes.forEach((_, pair) => {
    const place = el("div");
    grid.append(place);
    drawn(place, (width) => frontPlot(width, pair));
  });
  part("front").append(el("p", { class: "key" }, `Up and to the left is better. Joined: no other run is as good in both and better in one, by the means${data.seeds > 1 ? "; whiskers: 95 % intervals, paired by seed where differences are shown" : "; one seed: no interval"}.`));
}

function frontPlot(width, pair) {
  const [gain, cost] = [byName.get(data.axes[pair].gain), byName.get(data.axes[pair].cost)];
  const at = frontView.isPaired ? 7 : 0;
  const read = (run, measure) => {
    const row = data.table[view.condition][run][measure.index];
    return at && run === 0 && row[0] !== null ? [0, 0] : [row[at], row[at + 1]];
  };
  const points = shownRuns().map((run) => ({ run, x: read(run, cost), y: read(run, gain), isBest: data.fronts[view.condition][pair][run] }))
    .filter(({ x, y }) => x[0] !== null && y[0] !== null);
  const title = `${capital(gain.title)} over ${cost.title}, ${data.conditions[view.condition].name}`;
  if (!points.length) return [el("h3", {}, title), el("p", { class: "soft" }, "Nothing is known.")];
  const height = data.axes.length > 1 ? 300 : 420;
  const box = { left: 62, right: width - 18, top: 12, bottom: height - 46 };
  const ends = (pick) => points.flatMap((point) => [pick(point)[0] - (pick(point)[1] ?? 0), pick(point)[0] + (pick(point)[1] ?? 0)]);
  const across = axis(ends((point) => point.x), cost, box.left, box.right);
  const up = axis(ends((point) => point.y), gain, box.bottom, box.top, 44);
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": title });
  frontAxes(picture, box, across, up, at, gain, cost);
  const best = points.filter((point) => point.isBest).sort((a, b) => a.x[0] - b.x[0]);
  const path = best.map(({ x, y }, i) => `${i ? "L" : "M"}${across.x(x[0])} ${up.x(y[0])}`).join(" ");
  picture.append(svg("path", { class: "front", d: path }));
  const dots = points.map((point) => frontPoint(picture, point, across, up, at, gain, cost));
  frontLabels(picture, points, across, up, box);
  roving(dots, inOrder(dots));
  return [el("h3", {}, title), picture];
}

// Names beside the points, or below where a side has no room, moved down until they are apart, or up at the lower end.
function frontLabels(picture, points, across, up, box) {
  const taken = [];
  for (const { run, x, y } of [...points].sort((a, b) => up.x(a.y[0]) - up.x(b.y[0]))) {
    const text = runText(run);
    const long = textWidth(text);
    const isRight = across.x(x[0]) + 13 + long < box.right;
    const side = isRight ? across.x(x[0]) + 13 : across.x(x[0]) - 13 - long;
    const from = Math.max(side, box.left + 4);
    const meets = (top) => taken.some((other) => Math.abs(other.top - top) < 14 && from < other.from + other.long && other.from < from + long);
    const beside = up.x(y[0]) - 8 + (from > side ? 16 : 0);
    let top = beside;
    while (meets(top) && top < box.bottom - 14) top += 2;
    if (meets(top)) for (top = beside; meets(top) && top > box.top; ) top -= 2;
    taken.push({ from, top, long });
    picture.append(svg("text", { class: "name", x: from, y: top + 8 + 4 }, text));
  }
}

function frontAxes(picture, box, across, up, at, gain, cost) {
  for (const { value, text } of across.marks) picture.append(svg("line", { class: "axis", x1: across.x(value), x2: across.x(value), y1: box.top, y2: box.bottom }),
    svg("text", { x: across.x(value), y: box.bottom + 17, "text-anchor": "middle" }, text));
  for (const { value, text } of up.marks) picture.append(svg("line", { class: "axis", x1: box.left, x2: box.right, y1: up.x(value), y2: up.x(value) }),
    svg("text", { x: box.left - 6, y: up.x(value) + 4, "text-anchor": "end" }, text));
  const what = at ? "difference in " : "";
  picture.append(svg("text", { x: (box.left + box.right) / 2, y: box.bottom + 36, "text-anchor": "middle" }, [`${what}${cost.title}`, across.unit].filter(Boolean).join(", ")));
  picture.append(svg("text", { x: 0, y: 0, "text-anchor": "middle", transform: `translate(12 ${(box.top + box.bottom) / 2}) rotate(-90)` }, [`${what}${gain.title}`, at && gain.is_share ? "points" : up.unit].filter(Boolean).join(", ")));
}

function frontPoint(picture, { run, x, y, isBest }, across, up, at, gain, cost) {
  const node = svg("g", { class: isBest ? "point best" : "point", role: "img" });
  const [left, top] = [across.x(x[0]), up.x(y[0])];
  if (x[1]) node.append(svg("path", { class: `whisker ${hueOf(run)}`, d: `M${across.x(x[0] - x[1])} ${top} H${across.x(x[0] + x[1])}` }));
  if (y[1]) node.append(svg("path", { class: `whisker ${hueOf(run)}`, d: `M${left} ${up.x(y[0] - y[1])} V${up.x(y[0] + y[1])}` }));
  node.append(mark(run, left, top, isBest ? 7.5 : 5.5));
  picture.append(node);
  const text = (measure, value) => (at && run === 0 ? "baseline" : at ? differenceText(measure, ...value) : meanText(measure, ...value));
  return describe(node, [runText(run), `${gain.title}: ${text(gain, y)}`, `${cost.title}: ${text(cost, x)}`, isBest ? "on the front" : "another run does more for less"]);
}
