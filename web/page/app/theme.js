// Runs before the first paint, so that a chosen theme does not flash. Without a choice the system decides.
(() => {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
