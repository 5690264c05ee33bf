// Where pooled memory: each job's intensity against the ridge it was given, and its gain over the SiPAM loop.

const RIDGES_A_PAGE = 24;
const RIDGE = { width: Math.min(900, innerWidth - 60), top: 16, bottom: 34, side: 12 };

function drawPool() {
  if (!data.pool) return;
  const rows = data.jobs.map((job, index) => ({ job, index, given: job.plan && job.plan.roofline })).filter(({ given }) => given);
  const section = part("pool");
  section.hidden = false;
  section.append(el("h2", { id: "pool-title" }, "What the memory pool gives each job"));
  if (rows.length) section.append(...ridgePages(rows), el("p", { class: "key" },
    "dot: FLOP per byte of the job · diamond: ridge of the memory it was given · tick: ridge of an accelerator's own memory. " +
    "A dot left of its ridge waits for memory; more memory units move the ridge to the left."));
  if (data.pool.loop !== null) section.append(gainTable());
}

function ridgesOf(given) {
  return { ridge: given.peak_flops_per_s / given.peak_bytes_per_s, own: given.peak_flops_per_s / given.own_peak_bytes_per_s };
}

// All pages on one scale; the page with the selected job is the one that is shown.
function ridgePages(rows) {
  const values = rows.flatMap(({ given }) => [given.intensity, ...Object.values(ridgesOf(given))]);
  const range = [Math.min(...values) / 2, Math.max(...values) * 2];
  const look = ridgeLook(rows);
  const place = el("div");
  const page = pages(RIDGES_A_PAGE, (from, to) => place.replaceChildren(ridgePicture(rows.slice(from, to), range, look)));
  page.show(rows.length);
  listeners.push(() => page.showRow(rows.findIndex(({ index }) => index === state.job)));
  return [page.node, place];
}

// Names are left of the lines and shares right of them; where both leave the lines less than half, they are above.
function ridgeLook(rows) {
  const { width, side } = RIDGE;
  const longest = (text) => Math.ceil(Math.max(...rows.map((row) => textWidth(text(row)))));
  const [left, right] = [longest(({ job }) => job.name), longest(({ job, given }) => ridgeText(job, given))].map((text) => text + side);
  return left + right > width / 2 ? { left: side, right: side, row: 42, isAbove: true } : { left, right, row: 26, isAbove: false };
}

function ridgePicture(rows, [low, high], look) {
  const { width, top, bottom } = RIDGE;
  const { left, right, row } = look;
  const height = top + rows.length * row + bottom;
  const x = (value) => left + (Math.log(value / low) / Math.log(high / low)) * (width - left - right);
  const picture = svg("svg", { class: "chart ridges", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Intensity of each job against its ridge" });
  for (const value of logTicks(low, high)) {
    picture.append(svg("line", { class: "axis", x1: x(value), x2: x(value), y1: top - 8, y2: height - bottom }),
      svg("text", { x: x(value), y: height - bottom + 16, "text-anchor": "middle" }, number(value)));
  }
  picture.append(svg("text", { x: width - right, y: height - 4, "text-anchor": "end" }, "FLOP per byte of memory traffic →"));
  const dots = rows.map(({ job, index, given }, i) => {
    const bottomOfRow = top + (i + 1) * row;
    picture.append(...ridgeNames(job, given, look, bottomOfRow));
    return ridgeRow(picture, x, bottomOfRow - 13, job, index, given);
  });
  roving(dots, inOrder(dots));
  return picture;
}

function ridgeNames(job, given, { left, right, isAbove }, bottom) {
  const share = ridgeText(job, given);
  if (isAbove) return [svg("text", { x: 0, y: bottom - 28 }, `${job.name} · ${share}`)];
  return [svg("text", { x: left - RIDGE.side, y: bottom - 9, "text-anchor": "end" }, job.name), svg("text", { x: RIDGE.width - right + RIDGE.side, y: bottom - 9 }, share)];
}

const isCompute = (given) => given.intensity >= ridgesOf(given).ridge;
const ridgeText = (job, given) => `${shareText(job.plan)} · ${isCompute(given) ? "compute" : "memory"}`;

function ridgeRow(picture, x, y, job, index, given) {
  const { ridge, own } = ridgesOf(given);
  const [at, size] = [x(ridge), 6];
  const dot = svg("circle", { cx: x(given.intensity), cy: y, r: 6, role: "img" });
  dot.style.fill = colour(index);
  picture.append(svg("line", { class: "way", x1: x(given.intensity), x2: at, y1: y, y2: y }),
    svg("line", { class: "own", x1: x(own), x2: x(own), y1: y - 9, y2: y + 9 }),
    svg("path", { class: "ridge", d: `M${at - size} ${y} L${at} ${y - size} L${at + size} ${y} L${at} ${y + size}z`, fill: colour(index) }), dot);
  return describe(dot, [job.name, `${number(given.intensity)} FLOP per byte`, `ridge given: ${number(ridge)}`,
    `ridge of own memory: ${number(own)}`, isCompute(given) ? "bound by compute" : "bound by memory"]);
}

function shareText(share) {
  return share.memory_units ? `${plural(share.memory_units, "unit")}, ${share.memory_io} I/O` : "no unit";
}

function gainTable() {
  const { loop, value, by_loop: byLoop } = data.pool;
  const line = (name, before, after, gained) => el("tr", {}, name, el("td", {}, before), el("td", {}, after), el("td", { class: "right" }, gained));
  const words = (share) => (share ? `${plural(share.devices, "accelerator")}, ${shareText(share)}` : "waits");
  const now = (plan) => (plan ? { ...plan, devices: plan.devices.length } : null);
  const lines = data.jobs.map((job, index) => ({ job, index, gain: (job.plan ? job.plan.value : 0) - (byLoop[index] ? byLoop[index].value : 0) }))
    .sort((a, b) => b.gain - a.gain)
    .map(({ job, index, gain }) => line(el("td", {}, swatch(index), ` ${job.name}`), words(byLoop[index]), words(now(job.plan)), signed(gain)));
  const head = el("tr", {}, ...["job", "by the SiPAM loop", "in this plan", "value gained"].map((title) => el("th", { scope: "col" }, title)));
  const total = line(el("th", { scope: "row" }, "all jobs"), number(loop), number(value), signed(value - loop));
  return el("div", {}, el("h3", {}, `Where the ${loop ? percent(value / loop - 1) : ""} over the SiPAM loop come from`),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...lines, total))));
}

function signed(value) {
  return `${value > 0 ? "+" : value < 0 ? "−" : ""}${number(Math.abs(value))}`;
}
