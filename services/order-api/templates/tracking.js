// Keeps the page current. Everything shown is in the page without it, too.
(() => {
  const page = document.querySelector("[data-source]");
  const find = (name) => document.getElementById(name);
  const [headline, lead, steps, fresh] = ["headline", "lead", "steps", "fresh"].map(find);
  const PAUSE_MS = 5000, PAUSE_MAX_MS = 60000;
  let pause = PAUSE_MS, timer = 0, shown = "", finished = page.dataset.finished === "true";

  // As in the page: 31 Jan, 3:00 pm IST.
  const india = { hour: "numeric", minute: "2-digit", timeZone: "Asia/Kolkata", timeZoneName: "short" };
  const clock = new Intl.DateTimeFormat("en-IN", india);
  const full = new Intl.DateTimeFormat("en-IN", { ...india, day: "numeric", month: "short" });
  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const time = (at) => {
    const made = element("time", full.format(new Date(at)));
    made.dateTime = at;
    return made;
  };
  const step = (stage) => {
    const made = element("li", "", stage.state);
    if (stage.state === "current") made.setAttribute("aria-current", "step");
    made.append(element("b", stage.label));
    if (stage.at) made.append(time(stage.at));
    else if (stage.state === "upcoming") made.append(element("span", "To come", "sr"));
    return made;
  };
  const show = (view) => {
    finished = view.finished;
    if (view.updatedAt === shown) return;
    shown = view.updatedAt;
    headline.textContent = view.headline;
    lead.textContent = view.detail;
    document.title = `${view.headline} · ${page.dataset.brand}`;
    steps.replaceChildren(...view.progress.map(step));
  };
  const say = (ok) => {
    if (finished) fresh.textContent = "";
    else if (ok) fresh.textContent = `Live · checked at ${clock.format(new Date())}`;
    else fresh.textContent = "No connection; trying again";
  };
  const later = () => {
    clearTimeout(timer);
    if (!finished && !document.hidden) timer = setTimeout(look, pause * (0.9 + Math.random() * 0.2));
  };
  const look = async () => {
    try {
      const answer = await fetch(page.dataset.source, { headers: { Accept: "application/json" }, cache: "no-store", credentials: "omit", signal: AbortSignal.timeout(10000) });
      if (!answer.ok) throw new Error(String(answer.status));
      show(await answer.json());
      pause = PAUSE_MS;
      say(true);
    } catch {
      pause = Math.min(pause * 2, PAUSE_MAX_MS);
      say(false);
    }
    later();
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) clearTimeout(timer);
    else if (!finished) { pause = PAUSE_MS; look(); }
  });
  say(true);
  later();
})();
