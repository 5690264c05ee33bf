// All racks as small maps, an accelerator a spot in the colour of its job; the rack that is chosen is drawn in full below.

const minis = [];

function drawOverview() {
  if (isWhole) return null;
  const grid = el("div", { class: "minis", role: "group", "aria-label": "Racks: arrow keys move, Enter shows a rack" });
  const chosen = pods.length > 1 ? podChooser() : null;
  const fill = () => {
    if (grid.pod !== view.pod) {
      grid.pod = view.pod;
      minis.length = 0;
      grid.replaceChildren(...pods[view.pod].map((section, i) => drawMini(section, view.pod * MOST_MINIS + i)));
      roving(minis.map(({ node }) => node), inOrder(minis.map(({ node }) => node)), (node) => node.click());
    }
    markMinis();
  };
  view.listeners.push(fill);
  listeners.push(fill);
  on(prefersDark, "change", markMinis);
  new MutationObserver(markMinis).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return el("div", {}, chosen, grid);
}

function podChooser() {
  const select = el("select", { "aria-label": "Racks" }, ...pods.map((pod, i) => el("option", { value: i }, podName(pod))));
  on(select, "change", () => lookAt({ section: Number(select.value) * MOST_MINIS }));
  view.listeners.push(() => (select.value = view.pod));
  return el("p", { class: "small" }, el("label", {}, "Racks ", select));
}

function drawMini(section, index) {
  const shape = miniShape(section.count, data.fabric), { canvas, scale } = miniCanvas(shape);
  const node = el("button", { type: "button", class: "mini", "data-section": index }, canvas, el("span", {}, section.short));
  on(node, "click", () => lookAt({ section: index }));
  on(node, "mouseenter focus", () => showTip(node, miniLines(section)));
  on(node, "mouseleave blur", hideTip);
  minis.push({ node, canvas, section, shape, scale, index });
  return node;
}

function* devicesIn({ first, count }) {
  for (let device = first * slots; device < (first + count) * slots; device++) yield device;
}

function miniLines(section) {
  const jobs = new Map();
  let free = 0, failed = 0;
  for (const device of devicesIn(section)) {
    if (failedDevices.has(device)) failed += 1;
    else if (!holders[device]) free += 1;
    for (const [job] of holders[device] ?? []) jobs.set(job, (jobs.get(job) ?? 0) + 1);
  }
  const largest = [...jobs].sort((a, b) => b[1] - a[1]).slice(0, 5).map(([job, held]) => `${job + 1} ${data.jobs[job].name}: ${held}`);
  const more = jobs.size > largest.length ? [`and ${plural(jobs.size - largest.length, "more job")}`] : [];
  return [section.name, `${number(free)} of ${plural(section.count * slots, "accelerator")} free`, failed ? `${number(failed)} failed` : "", ...largest, ...more].filter(Boolean);
}

function markMinis() {
  const paint = spotInks();
  const isChosen = state.job !== null && data.jobs[state.job].plan !== null;
  const mine = new Set(isChosen ? data.jobs[state.job].plan.devices.map((device) => sectionOf(serverOf(device))) : []);
  for (const mini of minis) {
    paintMini(mini, paint, isChosen);
    mini.node.classList.toggle("on", mini.index === view.section);
    mini.node.classList.toggle("mine", mine.has(mini.index));
    mini.node.setAttribute("aria-label", `${mini.section.name}${mine.has(mini.index) ? ", holds the selected job" : ""}`);
  }
}

function paintMini(mini, paint, isChosen) {
  paintSpots(mini, slots, (device) => {
    const job = holders[device]?.[0][0] ?? null;
    const fill = failedDevices.has(device) ? paint.failed : job === null ? paint.free : job === state.job ? paint.edge : colour(job);
    return { fill, isFaint: isChosen && job !== null && job !== state.job };
  });
}
