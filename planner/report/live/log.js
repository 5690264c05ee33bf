// What happened since the page was opened, told from one answer to the next.

const MOST_LINES = 200;
const seen = { jobs: new Map(), down: new Set(), drained: new Set(), newest: -1, isFirst: true };
const lines = [];

function placesOf({ owner, jobs }) {
  const places = jobs.map(() => []);
  owner.forEach((job, index) => job >= 0 && places[job].push(index));
  return places.map((place) => place.join(" "));
}

function noteChanges() {
  const { body } = live, places = placesOf(body);
  const jobs = new Map(body.jobs.map((job, i) => [job.name, { job, place: places[i] }]));
  const waiting = new Map(body.waiting.map((job) => [job.name, job]));
  const [down, drained] = [new Set(body.down), new Set(body.drained.map((server) => body.server_names[server]))];
  const news = [];
  for (const [name, { job, place }] of jobs) {
    const before = seen.jobs.get(name);
    if (!before || before.job.number !== job.number) news.push([job.number, true, name, `started on ${plural(job.size, "accelerator")}`]);
    else if (before.place !== place) news.push([job.number, true, name, job.size === before.job.size ? "moved" : `goes on with ${plural(job.size, "accelerator")}`]);
  }
  for (const [name, { job }] of seen.jobs) {
    if (!jobs.has(name)) news.push([job.number, false, name, waiting.has(name) ? "stopped and waits again" : "left"]);
  }
  for (const [name, job] of waiting) {
    if (job.number > seen.newest) news.push([job.number, false, name, "waits"]);
  }
  const parts = (is, was, text) => [...is].filter((name) => !was.has(name)).forEach((name) => news.push([null, false, name, text]));
  parts(down, seen.down, "is down");
  parts(seen.down, down, "works again");
  parts(drained, seen.drained, "is drained");
  parts(seen.drained, drained, "takes jobs again");
  if (!seen.isFirst) lines.unshift(...news.map((entry) => [new Date(), ...entry]));
  lines.length = Math.min(lines.length, MOST_LINES);
  const newest = [...body.jobs, ...body.waiting].reduce((most, job) => Math.max(most, job.number), seen.newest);
  Object.assign(seen, { jobs, down, drained, newest, isFirst: false });
}

function drawLog() {
  noteChanges();
  const items = lines.map(([time, job, isPlaced, name, text]) => el("li", {}, el("span", { class: "num soft" }, time.toLocaleTimeString()),
    job === null ? el("span", { class: "badge warn" }, "part") : numberSwatch(job, isPlaced), el("span", {}, el("b", {}, name), ` ${text}`)));
  refill(part("log"), el("h2", { id: "log-title" }, "Events since this page was opened"), items.length ? el("ol", { class: "lines" }, ...items) : el("p", { class: "soft" }, "Nothing happened yet."));
}
