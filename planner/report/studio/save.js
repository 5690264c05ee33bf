// The file: saved where it was read or elsewhere; what has changed on disk meanwhile is never lost unasked.

const saving = { said: "", problem: "", digest: null };

function drawSave(place) {
  const field = el("input", { id: "path", type: "text", "aria-label": "File", spellcheck: "false", autocomplete: "off" });
  field.value = studio.path;
  const said = el("span", { id: "saved", class: "small", role: "status" });
  const save = async (replaces = null) => {
    await sendText();
    const { isFine, status, body } = await ask("api/save", { text: studio.text, path: field.value.trim(), replaces, saved: studio.saved });
    Object.assign(saving, isFine ? { said: `saved to ${body.path}`, problem: "", digest: null } : { said: "", problem: inWords(body), digest: status === 409 ? body.digest : null });
    if (isFine) studio.saved = studio.text;
    changed();
  };
  const read = async () => {
    if (studio.text !== studio.saved && !confirm("Reload the file? Changes that are not saved are lost.")) return;
    if ((await edit("api/open")).isFine) Object.assign(saving, { said: "reloaded", problem: "", digest: null });
    studio.saved = studio.text;
    changed();
  };
  place.append(field, button("Save", () => save(), { id: "save" }), button("Reload", read, { id: "read" }), said);
  const problem = el("div", { id: "save-problem", role: "alert" });
  followers.push(() => {
    said.textContent = saving.said && studio.text === studio.saved ? saving.said : studio.text === studio.saved ? "" : "not saved";
    refill(problem, saving.problem ? el("p", { class: "breaches" }, saving.problem, " ",
      saving.digest ? button("Replace it", () => save(saving.digest), { id: "replace" }) : null) : null);
  });
  on(window, "beforeunload", (event) => studio.text !== studio.saved && event.preventDefault());
  return problem;
}
