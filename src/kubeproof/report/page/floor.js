// Where everything stands in the drawing: controllers on top, then pods without a node, then domains with their nodes.

const MOST_NODES = 60, MOST_PODS = 30, MOST_WAITING = 40, MOST_CHIPS = 24, TALL = 560;
const CHIP_FONT = "12px system-ui, sans-serif", NODE_FONT = "600 12px system-ui, sans-serif", TITLE_FONT = "600 11px system-ui, sans-serif";
const GAP = 12, PAD = 12, HEAD = 54;

class Floor {
  constructor(film, chips, key, width, isTight = false) {
    this.film = film;
    this.width = Math.max(300, width);
    this.shown = shownNodes(film);
    this.hidden = film.nodes.length - this.shown.length;
    const most = Math.min(MOST_PODS, Math.max(4, ...this.shown.map((node) => film.most.pods[node])));
    const isRoomy = !isTight && most <= 12 && this.width / Math.min(4, this.shown.length || 1) > 190;
    this.cell = most > 12 ? 26 : isRoomy ? 42 : 34;
    this.radius = most > 12 ? 9 : isRoomy ? 15 : 12;
    this.columns = Math.max(4, Math.ceil(Math.sqrt(most * 1.5)));
    this.nodeWidth = Math.max(isRoomy ? 190 : 150, this.columns * this.cell + 14);
    const fitting = Math.floor((this.width - 2 * PAD - GAP) / 2);
    if (this.nodeWidth > fitting && fitting >= 4 * this.cell) {
      this.columns = Math.floor((fitting - 14) / this.cell);
      this.nodeWidth = fitting;
    }
    this.columns = Math.max(this.columns, Math.floor((this.nodeWidth - 14) / this.cell));
    this.chips = new Map();
    this.nodes = new Map();
    this.zones = [];
    this.height = this.placeZones(key, this.placeWaiting(this.placeChips(chips, 26)));
    this.isLoose = isRoomy && this.height > TALL;
  }

  placeChips(chips, top) {
    let x = 0, y = top;
    for (let i = 0; i < Math.min(MOST_CHIPS, chips.length); i++) {
      const text = fit(chips[i].name, 190, CHIP_FONT);
      const width = Math.ceil(widthOf(text, CHIP_FONT)) + 22;
      if (x + width > this.width && x > 0) {
        x = 0;
        y += 34;
      }
      this.chips.set(i, { x, y, width, height: 26, text });
      x += width + 8;
    }
    return y + 26 + 18;
  }

  placeWaiting(top) {
    const most = Math.min(MOST_WAITING, this.film.most.waiting);
    if (!most) {
      this.waiting = null;
      return top;
    }
    const columns = Math.max(4, Math.floor((this.width - 2 * PAD) / this.cell));
    const rows = Math.ceil(most / columns);
    this.waiting = { x: 0, y: top, width: this.width, height: 24 + rows * this.cell + 8, columns };
    return top + this.waiting.height + GAP;
  }

  placeZones(key, top) {
    const groups = new Map();
    for (const node of this.shown) {
      const domain = key < 0 ? "" : this.film.nodes[node].domains[key];
      if (!groups.has(domain)) groups.set(domain, []);
      groups.get(domain).push(node);
    }
    let x = 0, y = top, tallest = 0;
    for (const [domain, nodes] of groups) {
      const fitting = Math.max(1, Math.floor((this.width - 2 * PAD + GAP) / (this.nodeWidth + GAP)));
      const columns = Math.min(nodes.length, fitting);
      const width = Math.min(this.width, columns * (this.nodeWidth + GAP) - GAP + 2 * PAD);
      if (x > 0 && x + width > this.width) {
        x = 0;
        y += tallest + GAP;
        tallest = 0;
      }
      const height = this.placeNodes(nodes, columns, x + PAD, y + 28) - y + PAD;
      this.zones.push({ domain, x, y, width, height, count: nodes.length });
      tallest = Math.max(tallest, height);
      x += width + GAP;
    }
    return y + tallest + 4;
  }

  placeNodes(nodes, columns, left, top) {
    let y = top;
    for (let first = 0; first < nodes.length; first += columns) {
      const row = nodes.slice(first, first + columns);
      const rows = Math.max(1, ...row.map((node) => Math.ceil(Math.min(MOST_PODS, this.film.most.pods[node]) / this.columns)));
      const height = HEAD + rows * this.cell + 6;
      row.forEach((node, place) => {
        this.nodes.set(node, { x: left + place * (this.nodeWidth + GAP), y, width: this.nodeWidth, height });
      });
      y += height + GAP;
    }
    return y - GAP;
  }

  // The middle of the place-th pod on a node, or among those that wait.
  spot(node, place) {
    const box = node === NOWHERE ? this.waiting : this.nodes.get(node);
    if (!box) return null;
    const columns = node === NOWHERE ? box.columns : this.columns;
    const left = node === NOWHERE ? PAD : (box.width - columns * this.cell) / 2;
    const top = node === NOWHERE ? 24 : HEAD;
    return {
      x: box.x + left + (place % columns) * this.cell + this.cell / 2,
      y: box.y + top + Math.floor(place / columns) * this.cell + this.cell / 2,
    };
  }

  most(node) {
    return node === NOWHERE ? MOST_WAITING : MOST_PODS;
  }
}

// All nodes, or of very many those that take part in the run.
function shownNodes(film) {
  const all = film.nodes.map((_, number) => number);
  if (all.length <= MOST_NODES) return all;
  const busy = all.filter((node) => film.busy.has(node));
  const idle = all.filter((node) => !film.busy.has(node));
  return busy.concat(idle).slice(0, MOST_NODES).sort((a, b) => a - b);
}

const MOST_SINGLE = 14;

// One chip per controller or event; of very many, one for all of a kind, such as the schedulers of all workloads.
function chipsOf(actors) {
  if (actors.length <= MOST_SINGLE) return actors.map((name, number) => ({ name, members: [number] }));
  const kinds = new Map();
  actors.forEach((name, number) => {
    const kind = name.split(" ", 1)[0];
    if (!kinds.has(kind)) kinds.set(kind, []);
    kinds.get(kind).push(number);
  });
  return [...kinds].map(([kind, members]) => ({ name: members.length === 1 ? actors[members[0]] : `${kind} (${members.length})`, members }));
}
