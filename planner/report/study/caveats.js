// What the study was, in a few sentences; what it does not show; how to do it again.

function drawHeader() {
  const [first, ...rest] = data.headline;
  const text = el("div", { class: "what" }, el("h1", {}, data.name), el("p", { class: "headline" }, el("b", {}, first)),
    ...rest.map((sentence) => el("p", { class: "headline more" }, sentence)));
  part("top").append(el("div", { class: "title" }, text, themeButton()),
    el("dl", { class: "inline setting" }, ...data.setting.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))));
}

function drawCaveats() {
  part("caveats").append(el("h2", { id: "caveats-title" }, "What this does not show"), el("ul", { class: "told" }, ...data.caveats.map((text) => el("li", {}, text))));
}

function drawRun() {
  const { command, versions, inputs, seeds } = data.run;
  const entries = [...versions, ["seeds", seeds.length > 1 ? `${seeds[0]} to ${seeds[seeds.length - 1]}` : String(seeds[0])]];
  const files = el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "file"), el("th", { scope: "col" }, "SHA-256"))),
    el("tbody", {}, ...inputs.map(([path, digest]) => el("tr", {}, el("th", { scope: "row" }, path), el("td", { class: "digest" }, digest)))));
  part("run").append(el("h2", { id: "run-title" }, "How to repeat this"), el("pre", {}, el("code", {}, command)),
    el("dl", { class: "inline" }, ...entries.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", { class: "num" }, value)))), el("div", { class: "scroll" }, files));
}
