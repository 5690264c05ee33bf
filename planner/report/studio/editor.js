// The editor: a form of what people change, or the whole file as text; what is wrong is told above both.

const editor = { isText: false, timer: null };
const TYPING_MS = 350;

function drawEditor() {
  const [form, text] = [el("div", { id: "form", role: "tabpanel" }), el("div", { id: "text", role: "tabpanel", hidden: true })];
  const tabs = [button("Form", () => showTab(false), { role: "tab", "aria-controls": "form" }), button("Text", () => showTab(true), { role: "tab", "aria-controls": "text" })];
  const area = el("textarea", { id: "file", class: "lines", rows: 34, spellcheck: "false", wrap: "off", "aria-label": "The whole file" });
  on(area, "input", () => {
    clearTimeout(editor.timer);
    editor.timer = setTimeout(sendText, TYPING_MS);
  });
  on(area, "blur", sendText);
  text.append(area);
  part("editor").append(el("div", { class: "floor-head" }, el("h2", { id: "editor-title" }, "Instance"), el("div", { class: "tabs", role: "tablist" }, ...tabs)),
    el("div", { id: "wrong" }), form, text);
  const showTab = (isText) => {
    sendText();
    editor.isText = isText;
    [form.hidden, text.hidden] = [isText, !isText];
    tabs.forEach((tab, i) => tab.setAttribute("aria-selected", String((i === 1) === isText)));
    if (isText) area.value = studio.text;
  };
  showTab(false);
  followers.push(() => {
    drawWrong();
    if (document.activeElement !== area) area.value = studio.text;
    if (form.children.length === 0) form.append(...["jobs", "fields", "failed"].map((id) => el("div", { id })));
    drawJobs();
    drawFields();
    drawFailed();
  });
}

// What was typed last, before anything else is done with the text.
function sendText() {
  clearTimeout(editor.timer);
  const area = part("file");
  if (!editor.isText || area.value === studio.text) return turn;
  const typed = area.value;
  studio.text = typed;
  return edit("api/text", { text: typed });
}

function drawWrong() {
  const { error, notes } = studio;
  refill(part("wrong"), error ? el("p", { class: "breaches", role: "alert" }, inWords(error)) : null,
    ...notes.map((note) => el("p", { class: "reason" }, note)));
}
