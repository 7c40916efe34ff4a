// What checks found without a search: one row for each finding, worst first.

const CHECK_KINDS = { error: ["✗", "bad"], warning: ["!", "fair"], info: ["i", "plain"] };
const MOST_CHECKS = 12; // rows that are shown without asking

function checks(report) {
  const row = (one) => {
    const [sign, kind] = CHECK_KINDS[one.severity] || ["·", "plain"];
    return h(
      "tr",
      {},
      h("td", {}, h("span", { class: "pill " + kind }, h("span", { "aria-hidden": "true" }, sign), " ", one.severity)),
      h("td", {}, h("span", { title: one.key }, one.id)),
      h("td", {}, named(one.target, "target"), one.place ? h("div", { class: "faint" }, named(one.place, "place")) : null),
      h("td", {}, h("bdi", {}, one.message), h("div", { class: "faint" }, h("bdi", {}, one.accepted ? "Accepted: " + one.accepted : one.remedy)))
    );
  };
  const heads = ["Severity", "Check", "Object", "What was found, and what to do"];
  const table = (rows) =>
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Findings of checks" },
      h("table", { class: "checks" }, h("thead", {}, h("tr", {}, heads.map((words) => h("th", { scope: "col" }, words)))), h("tbody", {}, rows.map(row))));
  const rest = report.checks.slice(MOST_CHECKS);
  return card(
    "Checks",
    "checks",
    h("p", {}, "What the manifests alone show, without a search: " + report.checkCounts + "."),
    table(report.checks.slice(0, MOST_CHECKS)),
    rest.length ? h("details", { class: "others" }, h("summary", {}, plural(rest.length, "more finding", "more findings")), table(rest)) : null
  );
}
