// The order in which the page is drawn, from what the session says of itself.

function drawTop() {
  const place = el("div", { class: "controls" });
  const themes = themeButton();
  themes.lastChild.remove();
  const name = el("span", { class: "soft" });
  part("top").append(el("div", { class: "title" }, el("div", { class: "what" }, el("h1", {}, "photonplan studio"), name), themes), place);
  part("top").append(drawSave(place));
  followers.push(() => (name.textContent = studio.form?.name ?? ""));
  new MutationObserver(() => {
    const inside = part("frame").contentDocument?.documentElement;
    if (inside) inside.dataset.theme = document.documentElement.dataset.theme;
  }).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

async function begin() {
  const { isFine, body } = await ask("api/state");
  if (!isFine) return;
  Object.assign(studio, body, { saved: body.saved });
  document.querySelector("main").hidden = false;
  drawTop();
  drawEditor();
  drawSolve();
  drawVariants();
  drawPlan();
  takeDraft(body);
  if (body.search && !body.search.ended) follow(body.search);
  if (studio.variants.length) show(studio.variants[studio.variants.length - 1].number);
}

begin();
