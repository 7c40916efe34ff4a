// The button that chooses between light and dark; the choice is kept where the browser allows.

const THEMES = ["auto", "light", "dark"];

function stored(value) {
  try {
    if (value) localStorage.setItem("kubeproof-theme", value);
    return localStorage.getItem("kubeproof-theme");
  } catch {
    return null;
  }
}

function themeButton() {
  const button = h("button", { type: "button", class: "theme" });
  const use = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" }[theme];
    button.setAttribute("aria-label", `Colours: ${theme}. Change`);
    button.value = theme;
  };
  use(THEMES.includes(stored()) ? stored() : "auto");
  button.addEventListener("click", () => {
    use(THEMES[(THEMES.indexOf(button.value) + 1) % THEMES.length]);
    stored(button.value);
  });
  return button;
}
