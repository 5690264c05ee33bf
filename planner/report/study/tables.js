// All measures under the chosen condition, a line for each run, sorted by any column.

const GROUPS = [...data.groups, { title: "All", names: data.measures.map(({ name }) => name) }];
const sorting = { group: 0, name: data.gain, isDown: true };

function drawTable() {
  const groups = chips("Measures", "radio", GROUPS.map(({ title }, key) => ({ key, text: title })), (key) => key === 0, (key) => {
    sorting.group = key;
    refill();
  });
  const place = el("div", { class: "scroll" });
  const head = el("div", { class: "section-head" }, el("h2", { id: "table-title" }), groups);
  part("table").append(head, place, el("p", { class: "key" }, data.seeds > 1
    ? "± half the 95 % interval over seeds · bold: best mean of what compares · shaded: paired by seed, cannot be told apart from the best or within 1 % of it"
    : "One seed: no interval · bold: best of what compares"));
  const refill = () => {
    part("table-title").textContent = `Measures ${data.conditions[view.condition].at}`;
    place.replaceChildren(measureTable(refill));
  };
  view.listeners.push(refill);
  refill();
}

function measureTable(refill) {
  const columns = GROUPS[sorting.group].names.map((name) => byName.get(name)).filter(Boolean);
  const heads = [{ name: "run", title: "run" }, ...columns].map((column) => columnHead(column, refill));
  return el("table", { class: "measures" }, el("thead", {}, el("tr", {}, ...heads)),
    el("tbody", {}, ...sortedRuns().map((run) => el("tr", {}, el("th", { scope: "row" }, runName(run, run === 0 ? "baseline" : "")),
      ...columns.map((measure) => measureCell(run, measure))))));
}

function columnHead(column, refill) {
  const button = on(el("button", { type: "button" }, column.title), "click", () => {
    sorting.isDown = sorting.name === column.name ? !sorting.isDown : column.better !== "less" && column.name !== "run";
    sorting.name = column.name;
    refill();
    part("table").querySelector(`[data-name="${column.name}"] button`).focus();
  });
  if (column.meaning) describe(button, meaningOf(column));
  const order = column.name === sorting.name ? (sorting.isDown ? "descending" : "ascending") : null;
  return el("th", { scope: "col", class: column.meaning ? "right" : null, "aria-sort": order, "data-name": column.name }, button);
}

function sortedRuns() {
  const measure = byName.get(sorting.name);
  const key = (run) => (measure ? data.table[view.condition][run][measure.index][0] : run);
  const sign = sorting.isDown ? -1 : 1;
  return [...data.runs.keys()].sort((a, b) => {
    const [first, second] = [key(a), key(b)];
    if (first === null || second === null) return (first === null) - (second === null) || a - b;
    return sign * (first - second) || a - b;
  });
}

function measureCell(run, measure) {
  const [mean, halfWidth, seeds] = data.table[view.condition][run][measure.index];
  const standing = data.standings[view.condition][measure.index]?.[run] ?? "";
  const shade = ["best", "level", "slight"].includes(standing) && data.seeds > 1 ? " level" : "";
  const text = meanText(measure, mean, halfWidth, inOneUnit(mean, data.table[view.condition].map((row) => row[measure.index][0])));
  const note = seeds < data.seeds && seeds > 0 ? el("div", { class: "small soft" }, plural(seeds, "seed")) : null;
  return el("td", { class: `right${shade}` }, standing === "best" ? el("b", {}, text) : text, note);
}
