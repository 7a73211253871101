// Sets the colours that the user chose before anything is painted, so that a dark page never flashes white.
(() => {
  let chosen = null;
  try {
    chosen = window.localStorage.getItem("mantine-color-scheme-value");
  } catch {
    // Storage is switched off: the system decides.
  }
  const dark =
    chosen === "dark" || (chosen !== "light" && window.matchMedia("(prefers-color-scheme: dark)").matches);
  // The style sheet goes by this attribute, and so does every later change: a style set here would outlive them.
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");
})();
