// What is drawn when an answer arrives.

function drawTop() {
  const title = el("div", { class: "what" }, el("h1", {}, "photonplan "), el("span", { id: "state", class: "badge", role: "status" }));
  part("top").append(el("div", { class: "title" }, title, themeButton()), el("dl", { id: "facts", class: "facts" }));
}

function show(body) {
  const isFirst = live.body === null, isNew = isFirst || body.seq !== live.body.seq || JSON.stringify(body.troubles) !== JSON.stringify(live.body.troubles);
  if (!isFirst && body.owner.length !== live.body.owner.length) location.reload();
  Object.assign(live, { body, received: Date.now() });
  document.querySelector("main").hidden = false;
  if (isFirst) drawPlan();
  sample();
  if (isNew) {
    hideTip();
    paintPlan();
    followers.forEach((follow) => follow(true));
  }
  if (isFirst) {
    fitPlan();
    recall();
  }
  drawHistory();
}

followers.push(markPlan, drawJobs, drawChosen, (isNew) => isNew && [drawFacts, drawQueue, drawHealth, drawLog].forEach((draw) => draw()));
drawTop();
asking.token = keptToken();
drawState();
if (asking.token === null) openDoor("");
else ask();
on(document, "visibilitychange", ask);
setInterval(() => {
  drawState();
  grow();
}, 1000);
