// Solving: limits, progress as it comes, and a stop that keeps the best plan.

const progress = { points: [], source: null, problem: "" };

function drawSolve() {
  const policy = el("select", { id: "policy", "aria-label": "Policy" }, ...studio.policies.map((name) => el("option", { value: name }, name)));
  const limit = el("input", { id: "limit", type: "number", min: "0.1", step: "any", value: studio.time_limit_s });
  const gap = el("input", { id: "gap", type: "number", min: "0", max: "99", step: "any", value: "0" });
  const begin = button("Solve", async () => {
    await sendText();
    begun(await ask("api/solve", { text: studio.text, policy: policy.value, time_limit_s: Number(limit.value), gap: Number(gap.value) / 100 }));
  }, { id: "begin", class: "main" });
  const stop = button("Stop, keep the best plan", () => ask("api/stop", {}), { id: "stop" });
  part("solve").append(el("h2", { id: "solve-title" }, "Solve"),
    el("div", { class: "controls" }, el("label", {}, "policy", policy), el("label", {}, "seconds at most", limit), el("label", { title: "stop once so near the best is proven" }, "gap, %", gap), begin, stop),
    el("div", { id: "progress", "aria-live": "polite" }));
  followers.push(() => {
    begin.disabled = isSearching();
    stop.hidden = !isSearching();
  });
}

const isSearching = () => progress.source !== null;

// A search has begun, or was refused.
function begun({ isFine, body }) {
  progress.problem = isFine ? "" : inWords(body);
  if (isFine) follow(body);
  changed();
  drawProgress();
}

function follow(search) {
  studio.search = search;
  progress.points = [];
  progress.source?.close();
  const source = (progress.source = new EventSource("api/progress"));
  on(source, "open", () => (progress.points = []));
  on(source, "points", (event) => {
    progress.points.push(...JSON.parse(event.data));
    drawProgress();
  });
  on(source, "ended", (event) => ended(JSON.parse(event.data)));
}

async function ended(outcome) {
  progress.source.close();
  progress.source = null;
  progress.problem = outcome.error ? inWords(outcome.error) : "";
  const { isFine, body } = await ask("api/variants");
  if (isFine) studio.variants = body;
  if (outcome.variant !== undefined) show(outcome.variant);
  changed();
  drawProgress();
}

// A line for each objective with the best plan so far and its bound, and a chart of the first one.
function drawProgress() {
  const { points, problem } = progress;
  const levels = [...new Set(points.map((point) => point.level))];
  const last = points.length ? points[points.length - 1].time_s : 0;
  const first = points.filter((point) => point.level === levels[0]);
  const lines = levels.map((level) => {
    const of = (name) => points.findLast((point) => point.level === level && point[name] !== null)?.[name] ?? null;
    const [best, bound] = [of("objective"), of("bound")];
    const gap = best === null || bound === null ? null : best === bound ? 0 : Math.abs(bound - best) / Math.max(Math.abs(best), Math.abs(bound));
    return el("tr", {}, el("td", {}, level), ...[number(best, 4), number(bound, 4), gap === null ? "–" : percent(gap)].map((text) => el("td", { class: "right" }, text)));
  });
  const head = el("tr", {}, el("th", {}, "objective"), ...["best", "bound", "gap"].map((text) => el("th", { class: "right" }, text)));
  const state = isSearching() ? el("p", {}, el("span", { class: "badge warn" }, studio.search.title), ` ${quantity(last, "s")} so far`) : null;
  refill(part("progress"), problem ? el("p", { class: "breaches", role: "alert" }, problem) : null, state,
    levels.length ? convergencePicture(first, levels[0], last) : null, levels.length ? el("p", { class: "key" }, CONVERGENCE_KEY) : null,
    levels.length ? el("table", {}, el("thead", {}, head), el("tbody", {}, ...lines)) : null);
}
