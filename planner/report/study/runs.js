// The runs, each a policy on a cluster or an instance: colour by cluster, shape and dash by policy; and which of them are
// shown, under which of the conditions (loads of a replay, parameters of a comparison) that all runs meet.

const clusters = [...new Set(data.runs.map((run) => run.cluster))];
const policies = [...new Set(data.runs.map((run) => run.policy))];
const DASHES = [null, "7 4", "2 3", "9 3 2 3"];
const FIRST_SHOWN = 6;
const view = { condition: data.conditions.length - 1, shown: firstShown(), listeners: [] };

// All, or where there are many the baseline and what was chosen, and others as long as there is room.
function firstShown() {
  const wanted = new Set([0, ...data.verdicts.map((each) => each.choice), ...data.runs.keys()]);
  return new Set([...wanted].slice(0, data.runs.length <= FIRST_SHOWN + 2 ? data.runs.length : FIRST_SHOWN));
}

const shownRuns = () => [...data.runs.keys()].filter((run) => view.shown.has(run));

// What tells a run from the others: its cluster where only one policy was run, its policy where there is one cluster.
const named = ({ cluster, policy }) => [policies.length > 1 && clusters.length === 1 ? null : cluster, policies.length > 1 ? policy : null];
const runText = (run) => named(data.runs[run]).filter(Boolean).join(" · ");
const hueOf = (run) => `hue${clusters.indexOf(data.runs[run].cluster) % 8}`;
const dashOf = (run) => DASHES[policies.indexOf(data.runs[run].policy) % DASHES.length];

const SHAPES = [
  (x, y, r) => svg("circle", { cx: x, cy: y, r }),
  (x, y, r) => svg("rect", { x: x - 0.88 * r, y: y - 0.88 * r, width: 1.76 * r, height: 1.76 * r }),
  (x, y, r) => svg("path", { d: `M${x} ${y - 1.2 * r} L${x + 1.15 * r} ${y + 0.85 * r} H${x - 1.15 * r} z` }),
  (x, y, r) => svg("path", { d: `M${x} ${y - 1.3 * r} L${x + 1.3 * r} ${y} L${x} ${y + 1.3 * r} L${x - 1.3 * r} ${y} z` }),
];

function mark(run, x, y, r = 5.5) {
  const node = SHAPES[policies.indexOf(data.runs[run].policy) % SHAPES.length](x, y, r);
  node.setAttribute("class", `mark ${hueOf(run)}`);
  return node;
}

function glyph(run) {
  return svg("svg", { class: "glyph", width: 16, height: 16, "aria-hidden": "true" }, mark(run, 8, 8));
}

function runName(run, note = "") {
  const [cluster, policy] = named(data.runs[run]);
  return el("span", { class: "run" }, glyph(run), el("span", {}, cluster ? el("b", {}, cluster) : null, policy ? ` ${policy}` : "", note ? el("span", { class: "soft" }, ` ${note}`) : null));
}

function changed() {
  hideTip();
  view.listeners.forEach((listener) => listener());
}

// Chips of which one (radio) or any number (checkbox) are on.
function chips(title, type, entries, isOn, act) {
  const set = el("fieldset", { class: "chips", "aria-label": title });
  entries.forEach(({ key, text }) => {
    const input = el("input", { type, name: title, checked: isOn(key) });
    on(input, "change", () => act(key, input.checked));
    set.append(el("label", { class: "chip plain" }, input, text));
  });
  return set;
}

function drawChooser() {
  const conditions = data.conditions.map(({ chip }, key) => ({ key, text: chip }));
  const runs = data.runs.map((_, key) => ({ key, text: runName(key) }));
  const byCondition = chips(data.condition, "radio", conditions, (key) => key === view.condition, (key) => {
    view.condition = key;
    changed();
  });
  const byRun = chips("Runs", "checkbox", runs, (key) => view.shown.has(key), (key, isOn) => {
    isOn ? view.shown.add(key) : view.shown.delete(key);
    changed();
  });
  part("chooser").append(conditions.length > 1 ? el("div", { class: "choice" }, el("h3", {}, data.condition), byCondition) : "", el("div", { class: "choice" }, el("h3", {}, "Runs drawn"), byRun));
}

// Drawn anew as wide as it is, when the width or what is shown changes.
function drawn(node, draw) {
  let width = 0;
  const again = () => {
    width = node.clientWidth;
    if (width) node.replaceChildren(...draw(width).filter(Boolean));
  };
  view.listeners.push(again);
  new ResizeObserver(() => requestAnimationFrame(() => Math.abs(node.clientWidth - width) > 1 && again())).observe(node);
  again();
  return again;
}
