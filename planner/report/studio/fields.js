// Numbers of the cluster, and the parts of it that are down in the file.

function drawFields() {
  const { form } = studio;
  if (!form) return;
  const [given, others] = [true, false].map((is) => form.fields.filter((field) => field.is_given === is));
  hideTip();
  refill(part("fields"), el("h3", {}, "Cluster and objectives"), el("div", { class: "field-grid" }, ...given.map(fieldOf)),
    others.length ? el("details", {}, el("summary", {}, `${plural(others.length, "more field")} at their defaults`), el("div", { class: "field-grid" }, ...others.map(fieldOf))) : null);
}

function fieldOf({ path, key, value, is_long: isLong, default: preset, meaning }) {
  const text = key.replaceAll("_", " ");
  if (isLong) return el("div", { class: "field" }, el("span", {}, text), el("span", { class: "soft small" }, "long: change it in the text"));
  const { field, problem } = lineField(path.join("."), value, (given) => edit("api/field", { path, value: given }), { placeholder: preset === "required" ? "" : preset });
  describe(field, [text, meaning]);
  return el("label", { class: "field" }, el("span", {}, text), field, problem);
}

function drawFailed() {
  const { form } = studio;
  if (!form) return;
  const chips = form.failed.map((name) => el("span", { class: "part" }, name, button("×", () => edit("api/mend", { name }), { "aria-label": `${name} works again`, title: "works again" })));
  const { field, problem } = lineField("fail", "", async (value) => {
    const names = value.split(/[\s,]+/).filter(Boolean);
    const answer = names.length ? await edit("api/fail", { names }) : { isFine: true };
    if (answer.isFine) document.querySelector('[data-key="fail"]').value = "";
    return answer;
  }, { placeholder: "s0.t1, s0>s1#2", "aria-label": "Part that is down" });
  refill(part("failed"), el("h3", {}, "Failed parts in the file"), el("div", { class: "parts-down" }, ...chips, form.failed.length ? null : el("span", { class: "soft" }, "none"), field), problem);
}
