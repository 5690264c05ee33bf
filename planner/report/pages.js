// Long lists page by page: all of it can be reached, and the page is quick however long it is.

function pages(size, draw) {
  const text = el("span", { class: "soft small" });
  let count = 0, first = 0;
  const turn = (sign, label, step) => on(el("button", { type: "button", "aria-label": label, title: label }, sign), "click", () => go(first + step * size));
  const node = el("div", { class: "pager pages", hidden: true }, turn("‹", "Previous page", -1), turn("›", "Next page", 1), text);
  function go(from) {
    first = Math.max(0, Math.min(from, Math.floor((count - 1) / size) * size));
    text.textContent = `${number(first + 1)} to ${number(Math.min(first + size, count))} of ${number(count)}`;
    draw(first, Math.min(first + size, count));
  }
  return {
    node,
    show(all) {
      count = all;
      node.hidden = count <= size;
      go(0);
    },
    showRow(row) {
      if (row >= 0 && (row < first || row >= first + size)) go(Math.floor(row / size) * size);
    },
  };
}
