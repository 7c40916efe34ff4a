// Puts the page together: sections, the player of the chosen violation, theme, keys, and the address of a step.

const report = JSON.parse(document.getElementById("report").textContent);
let player = null;
let opened = -1; // whose run is played

function runOf(raw) {
  const steps = raw.steps.map(([actor, time, action, object, changes, why, numbers, holds]) => ({
    actor, time, action, object, changes, why, numbers: numbers < 0 ? null : raw.numbers[numbers], holds,
  }));
  return { ...raw, steps };
}

function open(number, position, byUser = true) {
  const one = report.properties[number];
  if (!one || !one.run) return;
  if (player) player.close();
  const run = runOf(one.run);
  player = new Player(run, (step) => remember(number, step));
  const place = document.getElementById("run");
  place.replaceChildren(
    h("h2", { id: "run-title", tabindex: "-1" }, one.when ? h("bdi", {}, one.when) : run.loopStart === null ? "The shortest run that breaks it" : "A run that never ends"),
    h("p", { class: "run-of" }, one.when ? gradePill(one) : pill(one.verdict), " ", h("span", { class: "faint" }, one.id), " ", one.key, " ", one.target ? named(one.target, "target") : "", h("span", { class: "faint" }, ` · ${one.size}`)),
    one.smallest ? h("p", {}, h("strong", {}, "Smallest cluster found: "), h("bdi", {}, one.smallest)) : "",
    player.box,
    sourceExcerpts(one.sources) || "",
    report.command ? h("section", {}, h("h3", {}, "Replay it"), command(report.command)) : ""
  );
  place.hidden = false;
  player.refilter();
  opened = number;
  player.go(position || 0, true);
  if (byUser) document.getElementById("run-title").focus();
}

// Opens the run of a cell where it begins, once everything is deployed, and plays it unless that is not wanted.
function play(number) {
  const one = report.properties[number];
  if (!one || !one.run) return;
  open(number, one.run.deployed);
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) player.toggle();
}

// -- the address of a step ------------------------------------------------------------------------

function remember(number, step) {
  try {
    history.replaceState(null, "", `#run=${number}&step=${step}`);
  } catch {
    // a page without an address of its own
  }
}

function addressed() {
  const found = /^#run=(\d+)&step=(\d+)$/.exec(location.hash);
  return found ? [Number(found[1]), Number(found[2])] : null;
}

// Somebody followed a link to a step, or went back to one.
function onAddress() {
  const asked = addressed();
  if (!asked) return;
  if (asked[0] === opened) player.go(asked[1], true);
  else open(...asked, false);
}

// -- keys -----------------------------------------------------------------------------------------

const KEYS = {
  ArrowRight: () => player.stepBy(1), ArrowLeft: () => player.stepBy(-1), ArrowDown: () => player.stepBy(1), ArrowUp: () => player.stepBy(-1),
  " ": () => player.toggle(), Home: () => player.go(0), End: () => player.go(player.run.steps.length),
};

function onKey(event) {
  if (!player || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  const at = event.target;
  const inList = at.classList.contains("steps");
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName) && at.type !== "range") return;
  if (/^(BUTTON|SUMMARY|A)$/.test(at.tagName) && event.key === " ") return;
  const vertical = event.key === "ArrowUp" || event.key === "ArrowDown";
  if (vertical && !inList) return; // scrolls the page
  if (at.classList.contains("scroll") && event.key !== " ") return; // scrolls a table
  if (at.type === "range" && event.key !== " ") return; // moves itself
  event.preventDefault();
  KEYS[event.key]();
}

// -- the page -------------------------------------------------------------------------------------

function page() {
  const sections = [banner(report)];
  const matrix = report.matrix;
  const first = matrix ? (matrix.findings.length ? matrix.findings[0].run : -1) : report.properties.findIndex((one) => one.run);
  const links = [...(matrix ? [["matrix", "Matrix"], ["findings", "Findings"]] : [["properties", "Properties"]]), report.checks.length ? ["checks", "Checks"] : null, first >= 0 ? ["run", "Run"] : null, report.sweep ? ["scales", "Scales"] : null, ["not-checked", "Not checked"], ["coverage", "Coverage"], ["assumptions", "Assumptions"], ["scope", "Scope"]];
  const about = matrix ? [matrixMap(matrix, play), matrixFindings(matrix, play)] : [properties(report, open)];
  sections.push(...about, h("section", { class: "card", id: "run", "aria-labelledby": "run-title", hidden: true }));
  if (report.checks.length) sections.push(checks(report));
  if (report.sweep) sections.push(card("Verdicts over scales", "scales", heatMap(report.sweep)));
  sections.push(h("div", { class: "columns" }, unchecked(report), coverage(report), assumptions(report)), pairs("Scope", "scope", report.scope), pairs("What the search did", "statistics", report.statistics));
  document.body.append(
    h("a", { class: "skip", href: "#main" }, "To the report"),
    h("header", {}, h("span", { class: "brand" }, "Kubeproof"), h("nav", { "aria-label": "Sections" }, links.filter(Boolean).map(([id, words]) => h("a", { href: "#" + id }, words))), themeButton()),
    h("main", { id: "main", tabindex: "-1" }, sections),
    h("footer", {}, h("p", {}, `Kubeproof ${report.program}. Keys in a run: ← → step, space plays, home and end jump.`))
  );
  const asked = addressed();
  if (asked && report.properties[asked[0]] && report.properties[asked[0]].run) open(asked[0], asked[1], false);
  else if (first >= 0) open(first, matrix ? report.properties[first].run.deployed : 0, false);
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", onAddress);
}

page();
