// How pods look: the owner decides shape and colour, the phase how it is filled, so that nothing rests on colour alone.

const OWNER_COLOURS = 8; // classes owner-0 to owner-7
const PHASES = {
  Pending: { mark: "", words: "waits for a node" },
  Starting: { mark: "", words: "has a node, containers are being created" },
  Running: { mark: "", words: "runs, not ready yet" },
  Ready: { mark: "", words: "ready" },
  NotReady: { mark: "!", words: "runs, marked not ready" },
  Terminating: { mark: "×", words: "told to stop, still holds its resources" },
};

// A path around the origin with "radius" r.
function shapePath(kind, r) {
  const corners = [0, 4, 6, 4, 3, 5, 8, 5][kind % 8];
  if (corners === 0) return `M${-r} 0A${r} ${r} 0 1 1 ${r} 0A${r} ${r} 0 1 1 ${-r} 0Z`;
  const turn = [0, Math.PI / 4, Math.PI / 6, 0, -Math.PI / 2, -Math.PI / 2, Math.PI / 8, Math.PI / 2][kind % 8];
  const reach = r * [1, 1.24, 1.08, 1.16, 1.24, 1.1, 1.04, 1.1][kind % 8];
  const points = [];
  for (let i = 0; i < corners; i++) {
    const angle = turn + (2 * Math.PI * i) / corners;
    points.push((reach * Math.cos(angle)).toFixed(1) + " " + (reach * Math.sin(angle)).toFixed(1));
  }
  return "M" + points.join("L") + "Z";
}

// The number that tells pods of one owner apart.
function podLabel(name) {
  const tail = name.slice(name.lastIndexOf("-") + 1);
  return tail.length <= 3 ? tail : "";
}

function podGroup(label, kind, phase, r) {
  const shape = kind % 8;
  const colour = (kind + 3 * Math.floor(kind / 8)) % OWNER_COLOURS; // the ninth owner has a shape of before in another colour
  return s(
    "g",
    { class: `pod owner-${colour} phase-${phase}` },
    s("path", { class: "halo", d: shapePath(shape, r + 4) }),
    s("path", { class: "body", d: shapePath(shape, r) }),
    s("text", { class: "label", "text-anchor": "middle", y: shape === 4 ? 6 : 4.5 }, label),
    s("text", { class: "mark", "text-anchor": "middle", x: r * 0.85, y: -r * 0.5 }, PHASES[phase] ? PHASES[phase].mark : "")
  );
}
