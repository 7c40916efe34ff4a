// What keeps people out of a page: controls without names, faint text, jumps in headings, twice the same id.
// Returns one line per finding. A share of what axe-core looks at, for machines without it.
() => {
  const found = [];
  const visible = (one) => one.checkVisibility({ checkOpacity: false, checkVisibilityCSS: true });
  const nameOf = (one) => {
    const labelled = one.getAttribute("aria-labelledby");
    if (labelled) return labelled.split(" ").map((id) => document.getElementById(id)?.textContent || "").join(" ").trim();
    if (one.getAttribute("aria-label")) return one.getAttribute("aria-label").trim();
    if (one.labels && one.labels.length) return one.labels[0].textContent.trim();
    return (one.textContent || one.title || "").trim();
  };
  const seen = new Set();
  for (const one of document.querySelectorAll("[id]")) {
    if (seen.has(one.id)) found.push("id twice: " + one.id);
    seen.add(one.id);
  }
  for (const one of document.querySelectorAll("[aria-labelledby], [aria-activedescendant]")) {
    for (const attribute of ["aria-labelledby", "aria-activedescendant"]) {
      const id = one.getAttribute(attribute);
      if (id && visible(one) && !document.getElementById(id)) found.push(`${attribute} leads nowhere: ${id}`);
    }
  }
  for (const one of document.querySelectorAll("button, a, input, select, summary, [tabindex='0'], [role=img], [role=listbox], [role=option], [role=region]")) {
    if (visible(one) && !nameOf(one)) found.push("no name: " + one.outerHTML.slice(0, 120));
  }
  let level = 0;
  for (const one of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    if (!visible(one)) continue;
    if (Number(one.tagName[1]) > level + 1) found.push(`heading jumps to ${one.tagName}: ${one.textContent.slice(0, 40)}`);
    level = Number(one.tagName[1]);
  }
  for (const one of document.querySelectorAll("table th")) if (!one.scope) found.push("header without scope: " + one.textContent);
  for (const one of document.querySelectorAll("[tabindex]")) if (one.tabIndex > 0) found.push("order of focus is forced");
  if (document.querySelectorAll("main").length !== 1 || !document.documentElement.lang || !document.title) found.push("no main, language or title");

  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const dots = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const over = (top, below) => top.slice(0, 3).map((value, place) => (value * top[3]) / 255 + below[place] * (1 - top[3] / 255));
  const groundOf = (one) => {
    const layers = [];
    for (let at = one; at; at = at.parentElement) {
      const layer = dots(getComputedStyle(at).backgroundColor);
      layers.push(layer);
      if (layer[3] === 255) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const one of document.querySelectorAll("body *")) {
    const own = [...one.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.textContent.trim());
    if (!own || one instanceof SVGElement || ["SCRIPT", "NOSCRIPT", "STYLE", "OPTION"].includes(one.tagName) || !visible(one)) continue;
    const style = getComputedStyle(one), ground = groundOf(one);
    const pair = [light(over(dots(style.color), ground)), light(ground)].sort((a, b) => b - a);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (contrast < (large ? 3 : 4.5)) found.push(`contrast ${contrast.toFixed(2)}: ${one.tagName}.${one.className} ${one.textContent.slice(0, 40)}`);
  }
  return [...new Set(found)];
}
