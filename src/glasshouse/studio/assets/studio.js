// What pages cannot do as plain forms: progress, drag and drop, and previews that follow a slider.

const script = document.documentElement;
script.classList.add("scripted");
const silent = "The studio does not answer any more. Start it again in the terminal.";

// --- that a page is open: work goes on while another step is looked at ---------------------------------------------

setInterval(() => fetch("/here").catch(() => {}), 5000);

// --- work that runs ---------------------------------------------------------------------------------------------

for (const section of document.querySelectorAll("[data-job]")) follow(section);

function follow(section) {
  const source = new EventSource(`/jobs/${encodeURIComponent(section.dataset.job)}/events`);
  const what = section.querySelector("[data-what]");
  const bar = section.querySelector("[data-bar]");
  let parts = -1;
  source.onmessage = (event) => {
    const told = JSON.parse(event.data);
    if (told.state !== "running") {
      source.close();
      const whole = section.closest("[data-refresh]");
      if (whole) replace(whole, whole.dataset.refresh).catch(gone);
      else fetch("/here").then(() => again(section), gone);
      return;
    }
    what.textContent = told.total > 1 ? `${told.what}: ${told.done} of ${told.total}` : told.what;
    if (told.total) {
      bar.max = told.total;
      bar.value = told.done;
    } else {
      bar.removeAttribute("value");
    }
    if (told.parts !== parts) {
      parts = told.parts;
      const place = document.querySelector(`[data-parts="${section.dataset.job}"]`);
      if (place) replace(place, place.dataset.from);
    }
  };
  source.onerror = gone;

  function gone() {
    what.textContent = silent;
    bar.removeAttribute("value");
  }
}

// A page that answers a form that was refused cannot be loaded again: its step is shown, and says still why.
function again(section) {
  const step = `/${section.querySelector("[name=to]").value}`;
  if (document.querySelector("[data-overtaken]")) location.replace(`${step}?overtaken`);
  else location.reload();
}

async function replace(place, address, options) {
  const answer = await fetch(address, options);
  if (answer.ok) fill(place, await answer.text());
  return answer.ok;
}

function fill(place, text) {
  const unfolded = [...place.querySelectorAll("details[open] [id]")].map((inner) => inner.id);
  const focused = place.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  place.innerHTML = text; // our own server's, where everything is escaped
  for (const section of place.querySelectorAll("[data-job]")) follow(section);
  offerCopies(place);
  for (const id of unfolded) document.getElementById(id)?.closest("details")?.setAttribute("open", "");
  const links = [...place.querySelectorAll("a")];
  if (focused) links.find((link) => link.getAttribute("href") === focused)?.focus();
}

// --- places that follow what is typed in a form ---------------------------------------------------------------------

for (const place of document.querySelectorAll("[data-live]")) {
  const form = document.getElementById(place.dataset.follows);
  let timer = 0;
  let latest = 0;
  form?.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const own = ++latest;
      const body = new URLSearchParams(new FormData(form));
      const answer = await fetch(place.dataset.live, { method: "POST", body });
      const text = await answer.text();
      if (answer.ok && own === latest) fill(place, text);
    }, 150);
  });
}

// A form can save itself whenever something in it has changed. Of some choices only one of the whole form can be made.
// One save is under way at a time, so that an earlier state of the form never overwrites a later one; until the last
// one is answered, nothing in the place that shows the answers can be clicked.
for (const form of document.querySelectorAll("form[data-saves]")) {
  const place = document.getElementById(form.dataset.into);
  let saving = false;
  let changed = false;
  const send = () => {
    changed = false;
    const body = new URLSearchParams(new FormData(form));
    return fetch(form.dataset.saves, { method: "POST", body, keepalive: body.toString().length < 60000 });
  };
  const save = async () => {
    place.inert = saving = true;
    try {
      let answer, text;
      do {
        answer = await send();
        text = await answer.text();
      } while (changed);
      if (answer.ok) fill(place, text);
      else place.textContent = "This was not saved. Load the page again.";
    } catch {
      place.textContent = silent;
    } finally {
      place.inert = saving = false;
    }
  };
  form.addEventListener("change", (event) => {
    const only = event.target.dataset.only;
    for (const other of only ? form.querySelectorAll(`[data-only="${only}"]:checked`) : []) {
      if (other !== event.target) form.querySelector(`[name="${other.name}"][value="${other.dataset.otherwise}"]`).checked = true;
    }
    changed = true;
    if (!saving) save();
  });
  addEventListener("pagehide", () => { if (changed) send(); });
}
for (const form of document.querySelectorAll("form[data-waits]")) {
  form.addEventListener("submit", () => { form.querySelector("button").textContent = form.dataset.waits; });
}

// --- outlines: the lines that are selected move in or out by one step ----------------------------------------------

for (const field of document.querySelectorAll("textarea[data-outline]")) {
  const buttons = document.createElement("p");
  for (const [words, move] of [["Move the lines in", (line) => `  ${line}`], ["Move the lines out", (line) => line.replace(/^ {1,2}/, "")]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    button.textContent = words;
    button.addEventListener("click", () => {
      const start = field.value.lastIndexOf("\n", field.selectionStart - 1) + 1;
      const last = Math.max(field.selectionStart, field.selectionEnd - 1);
      const next = field.value.indexOf("\n", last);
      const end = next < 0 ? field.value.length : next;
      const moved = field.value.slice(start, end).split("\n").map(move).join("\n");
      field.setRangeText(moved, start, end, "select");
      field.focus();
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    buttons.append(button);
  }
  field.before(buttons);
}

// A slider says its value beside it; a box or a list can send its form at once.
for (const slider of document.querySelectorAll("input[type=range][data-shown]")) {
  const shown = document.getElementById(slider.dataset.shown);
  slider.addEventListener("input", () => { shown.value = slider.value; });
  if (shown.tagName === "INPUT") shown.addEventListener("input", () => { slider.value = shown.value; });
}
for (const field of document.querySelectorAll("[data-sends]")) {
  field.addEventListener("change", () => field.form.requestSubmit());
}

// --- links to what is folded away -----------------------------------------------------------------------------------

addEventListener("hashchange", unfold);
addEventListener("click", (event) => { if (event.target.closest("a[href^='#']")) setTimeout(unfold); });
unfold();

function unfold() {
  const place = document.getElementById(location.hash.slice(1));
  const folded = place?.closest("details");
  if (folded && !folded.open) {
    folded.open = true;
    place.scrollIntoView({ block: "center" });
  }
}

// --- drag and drop ----------------------------------------------------------------------------------------------------

for (const place of document.querySelectorAll("[data-drop]")) {
  const field = place.querySelector("input[type=file]");
  place.addEventListener("dragover", (event) => { event.preventDefault(); place.classList.add("over"); });
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    place.classList.remove("over");
    if (event.dataTransfer.files.length) {
      field.files = event.dataTransfer.files;
      field.form.requestSubmit();
    }
  });
}

// --- copying ------------------------------------------------------------------------------------------------------------

offerCopies(document);

function offerCopies(place) {
  for (const text of place.querySelectorAll("pre[data-spelled]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    });
    text.before(button);
  }
}

// --- completion of words ------------------------------------------------------------------------------------------------

// A text field whose words are completed from a list: Tab takes the first that fits, Escape leaves it. The words of the
// list can be put in by a button too.
for (const field of document.querySelectorAll("textarea[data-completes]")) complete(field);

function complete(field) {
  const items = [...document.getElementById(field.dataset.completes).querySelectorAll("[data-word]")];
  const says = document.getElementById(field.dataset.says);
  let fitting = [];
  let begun = 0;
  const put = (word, from) => {
    field.setRangeText(word, from, field.selectionEnd, "end");
    field.focus();
    show([]);
  };
  const show = (found) => {
    fitting = found;
    says.textContent = found.length ? `Tab: ${found.slice(0, 4).join(", ")}` : "";
  };
  field.addEventListener("input", () => {
    const before = field.value.slice(0, field.selectionStart);
    const typed = /("[^"\n]*|[\p{L}_][\p{L}\p{N}_]*)$/u.exec(before)?.[0] ?? "";
    begun = before.length - typed.length;
    const bare = (word) => word.replace(/^"/, "").toLowerCase();
    const words = items.map((item) => item.dataset.word);
    show(typed.length ? words.filter((word) => bare(word).startsWith(bare(typed)) && word !== typed) : []);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Tab" && !event.shiftKey && fitting.length) {
      event.preventDefault();
      put(fitting[0], begun);
    } else if (event.key === "Escape") {
      show([]);
    }
  });
  field.addEventListener("blur", () => show([]));
  for (const item of items) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet small";
    button.textContent = item.dataset.word;
    button.addEventListener("click", () => put(item.dataset.word, field.selectionStart));
    item.querySelector("code").replaceWith(button);
  }
}
