// What the page knows, and how it asks its server: one change of the text after another.

const studio = {
  text: "", digest: "", form: null, error: null, notes: [], path: "", policies: [], time_limit_s: 60,
  variants: [], shown: null, compared: null, search: null, failing: [], isPicking: false,
};
const followers = [];
const changed = () => followers.forEach((follow) => follow());

const inWords = ({ where, field, problem }) => [where, field, problem].filter(Boolean).join(": ");

// The answer as JSON, with its status; a refusal is { where, field, problem }.
async function ask(path, body) {
  const asked = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  try {
    const answer = await fetch(path, { ...asked, cache: "no-store", redirect: "error" });
    if (answer.status === 403) return closed("This session is over: open the address that `planner studio` printed last.");
    return { status: answer.status, isFine: answer.ok, body: await answer.json() };
  } catch {
    return closed("The studio does not answer: is `planner studio` still running? What is written here is not lost yet; copy the text.");
  }
}

function closed(problem) {
  part("closed").textContent = problem;
  part("closed").hidden = false;
  return { status: 0, isFine: false, body: { where: "studio", field: "", problem } };
}

let turn = Promise.resolve();

// Changes of the text wait for each other, so that each begins with what the last one made.
function edit(path, body = {}) {
  const next = turn.then(() => ask(path, { text: studio.text, ...body }));
  turn = next.then((answer) => answer.isFine && takeDraft(answer.body));
  return turn.then(() => next);
}

function takeDraft({ text, digest, form, notes, error }) {
  Object.assign(studio, { text, digest, notes, error, form: form ?? studio.form });
  changed();
}

// Fill a place anew and leave the keyboard, and what is open, where they were.
function refill(place, ...nodes) {
  const held = place.contains(document.activeElement) ? document.activeElement : null;
  const [key, from, to] = [held?.dataset.key, held?.selectionStart, held?.selectionEnd];
  const open = [...place.querySelectorAll("details")].map((node) => node.open);
  place.replaceChildren(...nodes.flat().filter((node) => node !== null && node !== undefined && node !== ""));
  [...place.querySelectorAll("details")].forEach((node, i) => (node.open = open[i] ?? node.open));
  const again = key && [...place.querySelectorAll("[data-key]")].find((node) => node.dataset.key === key);
  if (!again) return;
  again.focus();
  if (from !== undefined && from !== null) again.setSelectionRange?.(from, to);
}

function button(text, act, more = {}) {
  return on(el("button", { type: "button", ...more }, text), "click", act);
}

// A field that tells its change when it is left, or at Enter; what is refused stands below it.
function lineField(key, value, say, more = {}) {
  const field = el("input", { type: "text", value, "data-key": key, spellcheck: "false", autocomplete: "off", ...more });
  field.value = value;
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  on(field, "change", async () => {
    const answer = await say(field.value);
    problem.hidden = answer.isFine;
    problem.textContent = answer.isFine ? "" : answer.body.problem;
  });
  return { field, problem };
}
