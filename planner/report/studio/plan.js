// The page of a plan in a frame, parts of it that fail, and what a repair moves.

function drawPlan() {
  const frame = el("iframe", { id: "frame", title: "The plan", hidden: true });
  on(frame, "load", () => fitFrame(frame));
  part("plan").append(el("div", { class: "floor-head" }, el("h2", { id: "plan-title" }, "Plan"), el("span", { id: "plan-name", class: "soft" }), el("span", { id: "stale", class: "badge warn", hidden: true }, "not of what the editor has now")),
    el("div", { id: "breaking" }), el("div", { id: "moved" }), frame);
  followers.push(drawBreaking, drawMoved);
}

const shownVariant = () => studio.variants.find(({ number: own }) => own === studio.shown) ?? null;

// Show a variant, or two of them beside each other.
function show(variant, beside = null) {
  Object.assign(studio, { shown: variant, compared: beside, failing: [], isPicking: false });
  const frame = part("frame");
  frame.hidden = false;
  frame.src = beside === null ? `plans/${variant}.html` : `plans/${beside}/${variant}.html`;
  changed();
}

// As high as its page, in its colours; a click on an accelerator names it while parts are picked.
function fitFrame(frame) {
  const inside = frame.contentDocument;
  if (!inside?.body) return;
  const fit = () => (frame.style.height = `${inside.body.offsetHeight + 2}px`);
  new frame.contentWindow.ResizeObserver(fit).observe(inside.body);
  fit();
  inside.documentElement.dataset.theme = document.documentElement.dataset.theme;
  inside.addEventListener("click", (event) => {
    const tile = event.target.closest?.(".tile[data-name]");
    if (!studio.isPicking || !tile) return;
    event.stopPropagation();
    event.preventDefault();
    failToo(tile.dataset.name);
  }, true);
}

function failToo(name) {
  if (!studio.failing.includes(name)) studio.failing.push(name);
  changed();
}

function drawBreaking() {
  const variant = shownVariant();
  part("stale").hidden = !variant || variant.digest === studio.digest;
  part("plan-name").textContent = variant ? variant.name + (studio.compared === null ? "" : `, beside ${nameOf(studio.compared)}`) : "Solve the instance to see its plan here.";
  if (!variant?.has_plan || studio.compared !== null) return part("breaking").replaceChildren();
  const chips = studio.failing.map((name) => el("span", { class: "part" }, name, button("×", () => {
    studio.failing = studio.failing.filter((other) => other !== name);
    changed();
  }, { "aria-label": `${name} works` })));
  const field = el("input", { id: "break", type: "text", placeholder: "s0.t1, s0>s1#2", "data-key": "break", "aria-label": "Part that fails", spellcheck: "false", autocomplete: "off" });
  on(field, "change", () => {
    const names = field.value.split(/[\s,]+/).filter(Boolean);
    field.value = "";
    names.forEach(failToo);
  });
  const pick = button(studio.isPicking ? "Click accelerators below" : "Pick on the plan", () => {
    studio.isPicking = !studio.isPicking;
    changed();
  }, { id: "pick", "aria-pressed": String(studio.isPicking), "data-key": "pick" });
  const isNone = studio.failing.length === 0;
  const mend = button("Repair the plan", async () => begun(await ask("api/repair", { variant: studio.shown, names: studio.failing })), { id: "repair", class: "main", "data-key": "repair", disabled: isNone || isSearching() });
  const note = button("Mark as failed in the file", async () => {
    const { isFine, body } = await edit("api/fail", { names: studio.failing });
    if (isFine) studio.failing = [];
    else progress.problem = inWords(body);
    changed();
    drawProgress();
  }, { id: "note", "data-key": "note", disabled: isNone });
  refill(part("breaking"), el("div", { class: "controls" }, el("span", {}, "Fail a part:"), ...chips, field, pick, mend, note));
}

function drawMoved() {
  const variant = shownVariant(), found = variant?.repair;
  if (!found || studio.compared !== null) return part("moved").replaceChildren();
  const rows = found.moves.map(([job, rank, from, to]) => el("tr", {}, el("td", {}, job), el("td", { class: "right" }, number(rank)), el("td", {}, from ?? "–"), el("td", {}, to)));
  const head = el("tr", {}, ...["job", "rank", "from", "to"].map((text, i) => el("th", { class: i === 1 ? "right" : null }, text)));
  const counts = [plural(found.moves.length, "rank") + " moved", ...(found.stages === null ? []
    : [`${plural(found.torn_down, "circuit")} torn down, ${found.set_up} set up`, `${plural(found.stages, "stage")}, ${quantity(found.time_s, "s")}`])];
  refill(part("moved"), el("div", { class: "reason" }, el("b", {}, `${found.failures.join("; ")}: ${found.words}.`), el("p", {}, counts.join(" · ")),
    rows.length ? el("div", { class: "scroll" }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows))) : null));
}
