"use strict";
(() => {
  const filter = document.querySelector(".filter");
  const entries = [...document.querySelectorAll(".entry")];
  const kinds = { "#fixed": "fixed", "#broken": "broken", "#all": "" };

  function show(hash) {
    const kind = kinds[hash] ?? "";
    for (const entry of entries) entry.hidden = kind !== "" && !entry.classList.contains(kind);
    for (const link of filter.querySelectorAll("a")) {
      if (kinds[link.hash] === kind) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    const shown = entries.filter((entry) => !entry.hidden).length;
    filter.querySelector("output").textContent = `${shown} of ${entries.length} entries, of all comparisons`;
    if (hash in kinds) document.getElementById("differences").scrollIntoView();
  }

  filter.hidden = false;
  window.addEventListener("hashchange", () => show(location.hash));
  show(location.hash);
})();
