// What pages of one answer have in common: the banner that says it, and sections below.

const SIGNS = { good: "✓", bad: "✗", fair: "?", plain: "·" };

function section(title, id, ...content) {
  return h("section", { class: "card", id, "aria-labelledby": id + "-title" }, h("h2", { id: id + "-title" }, title), content);
}

// The answer as a heading with a line below, and figures beside it.
function bannerOf(kind, heading, line, facts, label = "Result") {
  return h(
    "section",
    { class: "banner " + kind, "aria-label": label },
    h("div", { class: "sign", "aria-hidden": "true" }, SIGNS[kind]),
    h("div", {}, h("h1", {}, heading), line && h("p", {}, line)),
    facts && h("ul", { class: "facts" }, facts.map(([value, words]) => h("li", {}, h("strong", {}, value), h("span", {}, words))))
  );
}

function how(words) {
  return h("span", { class: "faint" }, ` · ${words}`);
}
