// What is shown, who is told when that changes, and durations in words.

const live = { body: null, received: 0, selected: null, pointed: null, zoom: 1 };
const followers = [];

// Seconds on the controller's clock now, as far as the last answer tells.
const now = () => live.body.at_s + (Date.now() - live.received) / 1000;

function span(seconds) {
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const left = Math.max(0, Math.round(seconds));
  const first = units.findIndex(([, size]) => left >= size || size === 1);
  const [unit, size] = units[first];
  const head = `${Math.floor(left / size)} ${unit}`;
  const next = first === 0 || first === 1 ? Math.floor((left % size) / units[first + 1][1]) : 0;
  return next ? `${head} ${next} ${units[first + 1][0]}` : head;
}

// Text that grows older by itself: for how long something goes on.
function since(time) {
  return el("span", { class: "num", "data-since": time }, span(now() - time));
}

function grow() {
  if (live.body === null) return;
  for (const node of document.querySelectorAll("[data-since]")) {
    const text = span(now() - Number(node.dataset.since));
    if (node.textContent !== text) node.textContent = text;
  }
}

const shownJob = () => live.body.jobs.findIndex((job) => job.name === (live.pointed ?? live.selected));

function choose(name) {
  live.selected = live.selected === name ? null : name;
  live.pointed = null;
  followers.forEach((follow) => follow(false));
}

function serverNames(servers, most = 6) {
  const names = servers.slice(0, most).map((server) => live.body.server_names[server]);
  return names.join(", ") + (servers.length > most ? ` and ${servers.length - most} more` : "");
}

// Fill a place anew and leave the keyboard, what is scrolled and what is open where they were.
function refill(place, ...nodes) {
  const key = place.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const kept = () => [...place.querySelectorAll(".scroll, .waiting, .lines, details")];
  const before = kept().map((node) => [node.scrollTop, node.open]);
  place.replaceChildren(...nodes.flat().filter(Boolean));
  kept().forEach((node, i) => before[i] && ([node.scrollTop, node.open] = before[i]));
  if (key !== undefined) [...place.querySelectorAll("[data-key]")].find((node) => node.dataset.key === key)?.focus();
}

// A button with the name of a job, which selects it.
function nameButton(job) {
  const button = el("button", { type: "button", "data-key": job.name, "aria-pressed": String(live.selected === job.name) }, job.name);
  return on(button, "click", () => choose(job.name));
}
