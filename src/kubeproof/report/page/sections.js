// The parts of the page around the player.

const VERDICTS = {
  HOLDS: { sign: "✓", kind: "good", words: "Every property holds in every run." },
  "HOLDS-BOUNDED": { sign: "✓", kind: "good", words: "Every property holds at every size up to the bound." },
  "SAMPLED-OK": { sign: "✓", kind: "fair", words: "No violation among the sizes that were looked at." },
  VIOLATED: { sign: "✗", kind: "bad", words: "There is a run that breaks a property." },
  VACUOUS: { sign: "∅", kind: "fair", words: "No run ever comes to a state that the properties speak about." },
  UNKNOWN: { sign: "?", kind: "fair", words: "Not decided: a limit was reached first." },
  ERROR: { sign: "!", kind: "bad", words: "A property could not be judged." },
  SUPPRESSED: { sign: "–", kind: "plain", words: "Suppressed by an exemption." },
};

const MATRIX_WORDS = {
  HOLDS: "Every workload is complete again after every fault.",
  VIOLATED: "A workload does not survive a fault.",
  UNKNOWN: "No workload was found that does not survive a fault, but not every cell is decided.",
};
const MOST_OTHERS = 4; // properties that are not violated, shown without asking
const MOST_ACTORS = 12;

function verdictOf(word) {
  return VERDICTS[word] || { sign: "·", kind: "plain", words: "" };
}

function pill(verdict) {
  const { sign, kind } = verdictOf(verdict);
  return h("span", { class: "pill " + kind }, h("span", { "aria-hidden": "true" }, sign), " ", verdict);
}

function banner(report) {
  const { sign, kind, words } = verdictOf(report.verdict);
  return h(
    "section",
    { class: "banner " + kind, "aria-labelledby": "verdict" },
    h("div", { class: "sign", "aria-hidden": "true" }, sign),
    h("div", {}, h("h1", { id: "verdict" }, report.verdict), report.matrix ? null : h("p", { class: "scenario" }, "Scenario ", named(report.scenario)), h("p", {}, (report.matrix ? MATRIX_WORDS[report.verdict] || words : words) + " ", report.counts), report.matrix && report.matrix.first ? h("p", { class: "first" }, h("strong", {}, "First: "), h("bdi", {}, report.matrix.first)) : null, h("p", { class: "faint" }, h("bdi", {}, shortened(report.about, 300))), h("p", {}, h("a", { href: "#not-checked" }, report.left))),
    h("ul", { class: "facts" }, report.facts.map(([value, name]) => h("li", {}, h("strong", {}, value), h("span", {}, name))))
  );
}

function unchecked(report) {
  return card(
    "Not checked, not modelled",
    "not-checked",
    report.unchecked.length
      ? h("ul", { class: "reasons" }, report.unchecked.map((line) => h("li", {}, h("bdi", {}, line))))
      : h("p", {}, "Everything in the input takes part in the model, and every property was decided.")
  );
}

function card(title, id, ...content) {
  return h("section", { class: "card", id, "aria-labelledby": id + "-title" }, h("h2", { id: id + "-title" }, title), ...content);
}

// What is proved to help: the first change is open, others can be opened.
function repairs(found) {
  return found.map((one, number) =>
    h(
      "details",
      { class: "repair", ...(number ? {} : { open: "" }) },
      h("summary", {}, h("strong", {}, "Proved to help: "), h("bdi", {}, one.edits.join("; "))),
      one.gives_up.map((lost) => h("p", { class: "faint" }, "gives up: ", h("bdi", {}, lost))),
      h("p", { class: "faint" }, `costs: ${one.costs}`),
      h("pre", { class: "diff", tabindex: "0" }, (one.diff || one.patch).split("\n").map((line) => h("span", { class: /^[+-](?![+-])/.test(line) ? (line[0] === "+" ? "added" : "removed") : "" }, line + "\n")))
    )
  );
}

function properties(report, open) {
  const row = (one, number) =>
    h(
      "li",
      { class: "property", id: "property-" + number },
      h("div", { class: "property-head" }, pill(one.verdict), h("h3", {}, h("span", { class: "faint" }, one.id), " ", one.key, one.target ? [" ", named(one.target, "target")] : "")),
      h("p", {}, h("bdi", {}, one.detail)),
      h("p", { class: "faint" }, one.place ? ["declared at ", named(one.place, "place")] : "from the default scenario", ` · ${one.size}`),
      one.accepted ? h("p", { class: "remedy" }, h("strong", {}, "Accepted: "), h("bdi", {}, one.accepted)) : null,
      one.explained.map(([head, said]) => h("p", { class: "remedy" }, h("strong", {}, head + ": "), h("bdi", {}, said))),
      repairs(one.repairs),
      one.needed.length ? h("details", { class: "needed" }, h("summary", {}, "What it needs"), h("ul", { class: "reasons" }, one.needed.map((line) => h("li", {}, h("bdi", {}, line.trim()))))) : null,
      one.run ? h("button", { type: "button", class: "show-run", click: () => open(number) }, "Show the run") : null
    );
  const numbered = report.properties.map((one, number) => [one, number]);
  const [first, rest] = [true, false].map((wanted) => numbered.filter(([one]) => (verdictOf(one.verdict).kind === "bad") === wanted));
  const list = (those) => h("ul", { class: "properties" }, those.map(([one, number]) => row(one, number)));
  if (!first.length || rest.length <= MOST_OTHERS) return card("Properties", "properties", list(first.concat(rest)));
  const told = [...new Set(rest.map(([one]) => one.verdict))].map((verdict) => `${rest.filter(([one]) => one.verdict === verdict).length} ${verdict}`).join(", ");
  return card("Properties", "properties", list(first), h("details", { class: "others" }, h("summary", {}, `${plural(rest.length, "more property", "more properties")}: ${told}`), list(rest)));
}

function pairs(title, id, list) {
  return card(title, id, h("dl", { class: "pairs" }, list.map(([key, value]) => [h("dt", {}, key), h("dd", {}, h("bdi", {}, value))])));
}

function coverage(report) {
  const { acted, idle, unused } = report.coverage;
  if (!acted.length && !idle.length) return card("Coverage", "coverage", h("p", {}, report.coverage.words));
  return card(
    "Coverage",
    "coverage",
    h("p", {}, report.coverage.words),
    idle.length ? [h("h3", {}, "Never acted in any run"), h("ul", { class: "actors" }, idle.map((name) => h("li", { class: "idle" }, named(name))))] : h("p", {}, "Every controller and event acted in some run."),
    unused.length ? [h("h3", {}, "Filters that never refused a node"), h("ul", { class: "actors" }, unused.map((name) => h("li", { class: "idle" }, named(name))))] : null,
    h("details", { class: "others", open: acted.length <= MOST_ACTORS }, h("summary", {}, `${acted.length} acted`),
      h("ul", { class: "actors wide" }, acted.map(([name, did]) => h("li", {}, named(name), h("span", { class: "faint" }, " " + did)))))
  );
}

function assumptions(report) {
  return card("Assumptions", "assumptions", h("ul", { class: "reasons" }, report.assumptions.map((line) => h("li", {}, h("bdi", {}, line)))));
}

function command(words) {
  const code = h("code", {}, words);
  const said = h("span", { class: "faint", role: "status" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(words);
      said.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(code);
      said.textContent = "selected: press Ctrl+C";
    }
  };
  return h("div", { class: "command" }, h("pre", { tabindex: "0", role: "region", "aria-label": "Command" }, code), h("button", { type: "button", click: copy }, "Copy"), said);
}
