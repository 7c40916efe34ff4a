// What one step did, and why; what is wrong in the end.

function stepDetails(run, film, number) {
  if (number < 0) return startDetails(run);
  const step = run.steps[number];
  const actor = run.actors[step.actor];
  const part = number < run.deployed ? "deploying, before the run begins" : run.loopStart !== null && number >= run.loopStart ? "in the loop" : "";
  const explained = step.numbers && step.numbers.kind === "scores" ? [] : step.why;
  return [
    h("h3", {}, h("span", { class: "badge " + actorKind(actor) }, named(shortened(actor, 120))), " ", h("bdi", { class: "action" }, step.action)),
    h("p", { class: "faint" }, [`step ${number + 1} of ${run.steps.length}`, `after ${clock(step.time)}`, part].filter(Boolean).join(" · ")),
    letters(run, number),
    film ? differenceTable(film.differences(number)) : null,
    step.changes.length ? h("details", { class: "api" }, h("summary", {}, "In the API"), h("ul", { class: "changes" }, step.changes.map((change) => h("li", {}, h("code", {}, change))))) : null,
    step.numbers ? numbersTable(step.numbers) : null,
    idleList(run.idle.filter(([at]) => at === number + 1), "Though"),
    explained.length && !(step.numbers && step.numbers.kind === "scaling") ? h("div", {}, h("h4", {}, "Because"), h("ul", { class: "reasons" }, explained.map((reason) => h("li", {}, reason)))) : null,
  ];
}

function startDetails(run) {
  return [
    h("h3", {}, "The start"),
    h("p", { class: "faint" }, run.deployed ? `The first ${plural(run.deployed, "step")} deploy the cluster; the run begins after them.` : "Nothing has happened yet. Step forward, or play."),
    letters(run, -1),
  ];
}

// Which propositions of a formula are true after a step.
function letters(run, number) {
  if (!run.propositions.length) return null;
  const holds = number < 0 ? run.beginsWith : run.steps[number].holds;
  if (!holds) return null;
  return h(
    "ul",
    { class: "letters", "aria-label": "Propositions after this step" },
    run.propositions.map(([name, text]) => h("li", { class: holds.includes(name) ? "true" : "false", title: text }, (holds.includes(name) ? "✓ " : "✗ ") + name))
  );
}

const MOST_DIFFERENCES = 60;

function differenceTable(rows) {
  if (!rows.length) return h("p", { class: "faint" }, "Changes nothing that is drawn: a clock or a memory moves on.");
  const cell = (text, kind) => h("td", { class: kind }, text === "" ? h("span", { class: "faint" }, "—") : h("bdi", {}, text));
  const shown = rows.slice(0, MOST_DIFFERENCES);
  return [
    scrollable(
      "What the step changed",
      h(
        "table",
        { class: "diff" },
        h("thead", {}, h("tr", {}, ["object", "field", "before", "after"].map((head) => h("th", { scope: "col" }, head)))),
        h("tbody", {}, shown.map(([object, field, before, after]) => h("tr", {}, h("th", { scope: "row" }, named(object)), h("td", {}, field), cell(before, "before"), cell(after, "after"))))
      )
    ),
    rows.length > shown.length ? h("p", { class: "faint" }, `and ${plural(rows.length - shown.length, "more change")}`) : null,
  ];
}

function endDetails(run) {
  if (!run.final.length && !run.end.length) return null;
  const told = new Set(run.end.flatMap((table) => table.rows.map((row) => row.node)));
  const final = run.final.filter((line) => !told.has(line.slice(0, line.indexOf(": ")))); // the tables say it node by node
  return h(
    "section",
    { class: "end" },
    h("h3", {}, "In the end"),
    final.length ? h("ul", { class: "reasons" }, final.map((line) => h("li", {}, h("bdi", {}, line)))) : null,
    idleList(run.idle.filter(([at]) => at === null), "Who does not help"),
    run.end.map(numbersTable)
  );
}

// Who could have helped and does not, each with the rule that kubeproof explain knows.
function idleList(found, head) {
  if (!found.length) return null;
  return h("div", {}, h("h4", {}, head), h("ul", { class: "reasons" }, found.map(([, actor, says, rule]) => h("li", {}, h("bdi", {}, `${actor} ${says}`), " ", h("span", { class: "faint" }, rule)))));
}

function sourceExcerpts(sources) {
  if (!sources.length) return null;
  return h(
    "section",
    { class: "sources" },
    h("h3", {}, "Where it is declared"),
    sources.map((source, number) =>
      h(
        "details",
        { open: number === 0 },
        h("summary", {}, named(source.object), " ", h("span", { class: "faint" }, named(source.place, "place"))),
        source.lines.length
          ? h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Excerpt " + (number + 1) }, h("pre", { class: "excerpt" }, source.lines.map((line, place) => h("span", { class: place === 0 ? "line first" : "line" }, h("span", { class: "gutter", "aria-hidden": "true" }, source.first + place), line + "\n"))))
          : h("p", { class: "faint" }, "not part of this file")
      )
    )
  );
}
