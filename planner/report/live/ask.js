// The token, and asking for the floor again and again: quickly while there are answers, ever more slowly while not.

const QUICK_MS = 1000, LARGE_MS = 2000, MOST_MS = 30000, PATIENCE_MS = 10000, LARGE = 2000;
const asking = { token: null, failures: 0, answered: 0, next: 0, timer: null, isBusy: false, problem: "" };

// The token lasts as long as the tab; one given behind # never reaches the server or the history.
function keptToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  try {
    if (given) sessionStorage.setItem("photonplan-token", given);
    if (given) history.replaceState(null, "", location.pathname + location.search);
    return given || sessionStorage.getItem("photonplan-token");
  } catch {
    return given;
  }
}

function keepToken(token) {
  asking.token = token;
  try {
    if (token === null) sessionStorage.removeItem("photonplan-token");
    else sessionStorage.setItem("photonplan-token", token);
  } catch {
    // without storage it lasts as long as the page
  }
}

function wait(delay) {
  clearTimeout(asking.timer);
  asking.next = Date.now() + delay;
  asking.timer = setTimeout(ask, delay);
}

async function ask() {
  if (asking.isBusy || asking.token === null || document.hidden) return;
  asking.isBusy = true;
  try {
    take(await fetched());
  } finally {
    asking.isBusy = false;
    drawState();
  }
}

// What the service answers; null where nobody does.
async function fetched(address = `${data.floor}?since=${live.body?.seq ?? -1}&view=${encodeURIComponent(live.body?.view ?? "")}`) {
  try {
    const answer = await fetch(address, {
      headers: { Authorization: `Bearer ${asking.token}`, Accept: "application/json" },
      cache: "no-store", credentials: "omit", redirect: "error", signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return { status: answer.status, after: Number(answer.headers.get("Retry-After")) * 1000, body: answer.ok ? await answer.json() : null };
  } catch {
    return null;
  }
}

function take(answer) {
  if (answer === null) failed("no answer", 0);
  else if (answer.status === 401 || answer.status === 403) refused();
  else if (answer.body === null) failed(answer.status === 429 ? "too many requests" : `error ${answer.status}`, answer.after);
  else {
    show({ ...live.body, ...answer.body });
    Object.assign(asking, { failures: 0, answered: Date.now(), problem: "" });
    wait(live.body.owner.length > LARGE ? LARGE_MS : QUICK_MS);
  }
}

function failed(problem, least) {
  asking.problem = problem;
  const pause = Math.min(MOST_MS, QUICK_MS * 2 ** asking.failures) * (0.8 + 0.4 * Math.random());
  asking.failures++;
  wait(Math.max(pause, least || 0));
}

function refused() {
  keepToken(null);
  openDoor("The service did not accept this token.");
}

function openDoor(problem) {
  const field = el("input", { type: "password", id: "token", autocomplete: "off", spellcheck: "false", required: true });
  const form = el("form", {}, el("label", { for: "token" }, "Token of the service"), field, el("button", { type: "submit" }, "Open"));
  on(form, "submit", (event) => {
    event.preventDefault();
    keepToken(field.value.trim());
    part("door").hidden = true;
    ask();
  });
  part("door").replaceChildren(el("h2", { id: "door-title" }, "Token"),
    el("p", { class: "soft" }, "It is kept in this tab alone and sent to this service only."),
    problem ? el("p", { class: "reason", role: "alert" }, problem) : "", form);
  part("door").hidden = false;
  field.focus();
}

// Live, late or lost: what the reader sees is never older than it says.
function drawState() {
  const late = asking.answered ? (Date.now() - asking.answered) / 1000 : 0;
  const isLost = asking.failures > 0 || late > 3 * LARGE_MS / 1000 + PATIENCE_MS / 1000;
  const again = Math.max(0, Math.ceil((asking.next - Date.now()) / 1000));
  const old = asking.answered ? `what is shown is ${span(late)} old; ` : "";
  const [kind, text] = asking.token === null ? ["warn", asking.answered ? `waits for a token; ${old}not updated` : "waits for a token"]
    : isLost ? ["bad", `disconnected (${asking.problem || "no answer"}); ${old}${again ? `next try in ${again} s` : "trying"}`]
      : asking.answered ? ["good", "live"] : ["", "connecting"];
  const badge = part("state");
  badge.className = `badge ${kind}`;
  if (badge.textContent !== text) badge.textContent = text;
  document.querySelector("main").classList.toggle("stale", asking.answered > 0 && (isLost || asking.token === null));
}
