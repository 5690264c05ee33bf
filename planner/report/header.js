// Light or dark, and what headers are made of.

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

// Pages opened from a file may have no storage; the choice then lasts as long as the page.
function storedTheme(value) {
  try {
    if (value) localStorage.setItem("planner-theme", value);
    return localStorage.getItem("planner-theme");
  } catch {
    return null;
  }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

function themeButton() {
  const button = el("button", { type: "button" });
  const label = () => (button.textContent = document.documentElement.dataset.theme === "dark" ? "Light" : "Dark");
  setTheme(storedTheme() || (prefersDark.matches ? "dark" : "light"));
  on(prefersDark, "change", () => {
    if (!storedTheme()) setTheme(prefersDark.matches ? "dark" : "light");
    label();
  });
  on(button, "click", () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    setTheme(next);
    storedTheme(next);
    label();
  });
  label();
  return el("div", { class: "theme" }, button, on(el("button", { type: "button" }, "Print"), "click", () => window.print()));
}

function fact(title, value, note = "", kind = "") {
  return el("div", { class: `fact ${kind}` }, el("dt", {}, title), el("dd", {}, value, note ? el("div", { class: "small" }, note) : null));
}

function notice(title, lines, kind) {
  return el("div", { class: kind, role: "alert" }, el("h2", {}, title), el("ul", {}, ...lines.map((line) => el("li", {}, line))));
}
