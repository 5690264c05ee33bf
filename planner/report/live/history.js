// How much was in use and how many jobs waited: what the journal still knows, then what this page has seen.

const MOST_SAMPLES = 720;
const samples = [];

const shareOf = (held) => {
  const { owner, failed } = live.body, working = owner.length - failed.length;
  return working ? held / working : 0;
};

function sample() {
  samples.push({ time: live.received, busy: shareOf(sum(live.body.jobs, (job) => job.size)), waiting: live.body.num_waiting });
  thin();
}

// Of a long time every other sample is kept, the last one too.
function thin() {
  if (samples.length > MOST_SAMPLES) samples.splice(0, samples.length, ...samples.filter((_, i) => (samples.length - 1 - i) % 2 === 0));
}

// What happened before the page was opened, on the controller's clock; shares are of the accelerators that work now.
async function recall() {
  const body = (await fetched(data.history))?.body;
  if (!body || !body.at_s.length) return;
  const late = live.received - live.body.at_s * 1000;
  samples.unshift(...body.at_s.map((time, i) => ({ time: Math.min(time * 1000 + late, samples[0].time), busy: shareOf(body.held[i]), waiting: body.waiting[i] })));
  thin();
  drawHistory();
}

function drawHistory() {
  const width = Math.max(240, part("history").clientWidth - 38);
  const most = Math.max(1, ...samples.map((each) => each.waiting));
  refill(part("history"), el("h2", { id: "history-title" }, "History"),
    el("h3", {}, "In use"), curve(width, (each) => each.busy, 1, percent, "In use"),
    el("h3", {}, "Jobs waiting"), curve(width, (each) => each.waiting, most, number, "Jobs waiting"));
}

function curve(width, read, most, word, title) {
  const height = 86, box = { left: 52, right: width - 6, top: 8, bottom: height - 20 };
  const [begin, end] = [samples[0].time, Math.max(samples[samples.length - 1].time, samples[0].time + 10000)];
  const x = (time) => box.left + ((time - begin) / (end - begin)) * (box.right - box.left);
  const y = (value) => box.bottom - (value / most) * (box.bottom - box.top);
  const last = samples[samples.length - 1];
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${title}: now ${word(read(last))}` });
  const marks = most === 1 ? [0, 0.5, 1] : ticks(0, most, 2).filter(Number.isInteger);
  for (const value of new Set(word === percent ? marks : marks.map(Math.round))) picture.append(svg("line", { class: "axis", x1: box.left, x2: box.right, y1: y(value), y2: y(value) }),
    svg("text", { x: box.left - 6, y: y(value) + 4, "text-anchor": "end" }, word === percent ? `${value * 100} %` : number(value)));
  const points = samples.flatMap((each, i) => [...(i ? [`H${x(each.time).toFixed(1)}`] : []), `${i ? "V" : `M${x(each.time).toFixed(1)} `}${y(read(each)).toFixed(1)}`]);
  picture.append(svg("path", { class: "objective", d: points.join(" ") }), svg("circle", { cx: x(last.time), cy: y(read(last)), r: 3.5 }),
    svg("text", { x: box.left, y: height - 4 }, new Date(begin).toLocaleTimeString()),
    svg("text", { x: box.right, y: height - 4, "text-anchor": "end" }, new Date(end).toLocaleTimeString()));
  return picture;
}
