// Sets the user's colour scheme before the first paint, so that a dark page never flashes white.
(() => {
  let chosen = null;
  try {
    chosen = window.localStorage.getItem("mantine-color-scheme-value");
  } catch {
    // Storage is disabled: follow the system.
  }
  const dark =
    chosen === "dark" || (chosen !== "light" && window.matchMedia("(prefers-color-scheme: dark)").matches);
  // The style sheet reads this attribute, and later changes overwrite it. An inline style would remain.
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");
})();
