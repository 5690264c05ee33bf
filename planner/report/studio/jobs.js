// Jobs: what people change of each in a row, and all of one as lines of YAML.

const jobLines = { number: undefined, text: "", problem: "" };
const NEW_JOB = `name: new job
workload: {kind: transformer_training, model: bert-large, global_batch: 256, sequence: 512}
accelerators: [1, 2, 4]
weight: 1
`;

function drawJobs() {
  const { form } = studio;
  if (!form) return;
  const rows = form.jobs.map(jobRow);
  const table = form.jobs_in ? el("p", { class: "soft" }, `The jobs stand in the table ${form.jobs_in} beside the file; change them there.`) : null;
  const more = form.jobs_more ? el("p", { class: "soft" }, `and ${plural(form.jobs_more, "more job")}, which the text has`) : null;
  const add = form.jobs_in ? null : button("Add a job", () => openLines(null, NEW_JOB), { id: "add-job", "data-key": "add" });
  refill(part("jobs"), el("h3", {}, plural(form.jobs.length + form.jobs_more, "job")), table, el("div", { class: "job-rows" }, ...rows), more,
    jobLines.number === null ? linesEditor() : add);
}

function jobRow(job, i) {
  const label = (key, text, path, more) => {
    const { field, problem } = lineField(`job-${i}-${key}`, job[key], (value) => edit("api/field", { path, value }), more);
    return el("label", { class: `of-${key}` }, el("span", {}, text), field, problem);
  };
  const required = el("input", { type: "checkbox", "data-key": `job-${i}-required` });
  required.checked = job.required;
  on(required, "change", () => edit("api/field", { path: ["jobs", i, "required"], value: required.checked ? "true" : "" }));
  const buttons = el("span", { class: "buttons" }, button("Edit", async () => openLines(i, await linesOf(i)), { "data-key": `job-${i}-edit`, "aria-label": `Edit ${job.name}` }),
    button("Copy", async () => openLines(null, (await linesOf(i)).replace(/^name:.*$/m, () => `name: ${JSON.stringify(`${job.name} 2`)}`)), { "aria-label": `Copy ${job.name}` }),
    button("Remove", () => edit("api/job", { number: i }), { "aria-label": `Remove ${job.name}` }));
  return el("div", { class: "job-row" }, el("div", { class: "who" }, el("b", {}, job.name || "no name"), " ", el("span", { class: "soft small" }, `${job.model} ${job.what}`), buttons),
    label("accelerators", "accelerators", ["jobs", i, "accelerators"]), label("weight", "weight", ["jobs", i, "weight"], { placeholder: "1", inputmode: "decimal" }),
    job.limits === null ? null : label("limits", "limits", ["jobs", i, "workload", "limits"], { placeholder: "{ttft: 1 s, tpot: 50 ms}" }),
    el("label", { class: "of-required" }, required, el("span", {}, "required")), jobLines.number === i ? linesEditor() : null);
}

async function linesOf(number) {
  await turn;
  const { body } = await ask("api/job/lines", { text: studio.text, number });
  return body.block ?? "";
}

// A job as YAML: `number` null for a new one.
function openLines(number, text) {
  Object.assign(jobLines, { number, text, problem: "" });
  drawJobs();
  part("lines").focus();
}

function closeLines() {
  jobLines.number = undefined;
  drawJobs();
}

function linesEditor() {
  const area = el("textarea", { id: "lines", class: "lines", rows: Math.min(24, jobLines.text.split("\n").length + 1), spellcheck: "false", wrap: "off", "data-key": "lines", "aria-label": "The job as YAML" });
  area.value = jobLines.text;
  on(area, "input", () => (jobLines.text = area.value));
  const apply = async () => {
    const answer = await edit("api/job", { number: jobLines.number, block: area.value });
    jobLines.problem = answer.isFine ? "" : inWords(answer.body);
    if (answer.isFine) closeLines();
    else drawJobs();
  };
  return el("div", { class: "lines-editor" }, area, jobLines.problem ? el("p", { class: "problem", role: "alert" }, jobLines.problem) : null,
    el("span", { class: "buttons" }, button("Apply", apply, { id: "apply-job", class: "main" }), button("Cancel", closeLines)));
}
