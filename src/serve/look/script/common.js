// What the server's page and the packet have in common: the current question, the keys, time spent. Everything here is a
// comfort: without it the page is a set of plain forms. Text only ever enters the page as text.
"use strict";
const body = document.body;
const data = body.dataset;
document.documentElement.classList.add("js");

const all = (selector, root) => [...(root || document).querySelectorAll(selector)];
const one = (selector, root) => (root || document).querySelector(selector);

/// The browser's storage, or a stand-in that forgets.
const memory = new Map();
const storage = (() => {
  try {
    const probe = "dualrater-probe";
    localStorage.setItem(probe, "1");
    localStorage.removeItem(probe);
    return { keeps: true, get: (key) => localStorage.getItem(key), set: (key, value) => localStorage.setItem(key, value) };
  } catch {
    return { keeps: false, get: (key) => memory.get(key) ?? null, set: (key, value) => memory.set(key, value) };
  }
})();

/// The part of the page that holds the current case; a packet changes it.
let sheet = one(".split");
/// What stores answers: set by server.js or packet.js.
let desk = null;
let active = null;

const questions = () => (sheet ? all("form.question", sheet) : []);
const inputs = (question) => all("fieldset input", question);
const valueOf = (question) => inputs(question).filter((input) => input.checked).map((input) => input.value).join("+");
const rationaleOf = (question) => one("textarea", question).value;
const labelOf = (question) => question.dataset.label;
const answered = (question) => valueOf(question) !== "";

function setValue(question, value) {
  const parts = question.hasAttribute("data-several") ? value.split("+") : [value];
  for (const input of inputs(question)) input.checked = parts.includes(input.value);
}

function setRationale(question, text) {
  const area = one("textarea", question);
  if (area.value !== text) area.value = text;
  grow(area);
}

function say(question, text, refused) {
  const place = one(".state", question);
  if (place.textContent !== text) place.textContent = text;
  place.classList.toggle("refused", Boolean(refused));
}

function announce(text) {
  const place = sheet && one(".announce", sheet);
  if (place) place.textContent = text;
}

/// A text field as high as its text; an empty one shows that it is a field and no more.
function grow(area) {
  area.style.height = "auto";
  if (area.scrollHeight > 0) area.style.height = `${Math.min(area.scrollHeight + 2, 320)}px`;
}

const wantsSteps = () => storage.get("dualrater-steps") !== "0";

function activate(question, focus) {
  if (active && active !== question) {
    settle(active);
    active.classList.remove("active");
    active.removeAttribute("aria-current");
  }
  active = question;
  if (!question) return;
  question.classList.add("active");
  question.setAttribute("aria-current", "true");
  const how = one("details.how", question);
  if (how) how.open = wantsSteps();
  grow(one("textarea", question));
  if (focus) {
    const field = inputs(question).find((input) => input.checked) || inputs(question)[0];
    if (field) field.focus({ preventScroll: true });
    question.scrollIntoView({ block: "nearest" });
  }
}

function firstOpen() {
  return questions().find((question) => !answered(question)) || questions()[0] || null;
}

/// On to the next question; after the last one to what is still open; else to the next case.
function advance(question) {
  const list = questions();
  const at = list.indexOf(question);
  const next = list.slice(at + 1).find((other) => !answered(other)) || list.find((other) => !answered(other));
  if (next) return activate(next, true);
  activate(question, false);
  if (document.activeElement) document.activeElement.blur();
  announce("Every question is answered. Enter goes to the next open case.");
}

function step(by) {
  const list = questions();
  if (list.length === 0) return;
  const at = list.indexOf(active);
  const next = list[Math.min(Math.max(at + by, 0), list.length - 1)];
  if (next) activate(next, true);
}

/// What waits to be stored, per question: an answer that may still grow, or a text that is still typed.
const pending = new Map();

/// Runs later, once; `settle` runs it now, `forget` never.
function later(question, kind, milliseconds, work) {
  forget(question, kind);
  const waiting = pending.get(question) || new Map();
  waiting.set(kind, { work, timer: setTimeout(() => settle(question), milliseconds) });
  pending.set(question, waiting);
}

function forget(question, kind) {
  const waiting = pending.get(question);
  if (!waiting || !waiting.has(kind)) return;
  clearTimeout(waiting.get(kind).timer);
  waiting.delete(kind);
  if (waiting.size === 0) pending.delete(question);
}

function settle(question) {
  const waiting = pending.get(question);
  if (!waiting) return;
  pending.delete(question);
  for (const { work, timer } of waiting.values()) {
    clearTimeout(timer);
    work();
  }
}

function settleAll() {
  for (const question of [...pending.keys()]) settle(question);
}

function chose(question, input) {
  if (input.type === "checkbox") {
    if (input.checked) {
      for (const other of inputs(question)) {
        if (other !== input && (input.hasAttribute("data-alone") || other.hasAttribute("data-alone"))) other.checked = false;
      }
    }
    // A set is one answer when it is finished, not at each tick.
    later(question, "answer", 1200, () => desk.commit(question));
    return;
  }
  forget(question, "text");
  desk.commit(question);
}

function pick(question, key) {
  const input = inputs(question).find((input) => input.dataset.key === key);
  if (!input) return false;
  if (input.type === "checkbox") {
    input.checked = !input.checked;
    chose(question, input);
    return true;
  }
  if (!input.checked) {
    input.checked = true;
    chose(question, input);
  }
  if (data.rationale === "optional") advance(question);
  else write(question);
  return true;
}

function write(question) {
  const area = one("textarea", question);
  area.focus({ preventScroll: true });
  area.setSelectionRange(area.value.length, area.value.length);
  question.scrollIntoView({ block: "nearest" });
}

function foldAll() {
  if (!sheet) return;
  const folds = all("details.long, details.thought, details.same", one(".case", sheet));
  const open = folds.some((fold) => !fold.open);
  for (const fold of folds) fold.open = open;
}

function toGold() {
  if (!sheet) return;
  const turn = one(".turn.gold", sheet);
  if (!turn) return announce("The gold turn is not known.");
  turn.scrollIntoView({ block: "start" });
}

function toggleSteps() {
  storage.set("dualrater-steps", wantsSteps() ? "0" : "1");
  const how = active && one("details.how", active);
  if (how) how.open = wantsSteps();
}

function flag() {
  if (!sheet || !one("form.marks", sheet)) return;
  const form = one("form.marks", sheet);
  const box = one("input[name=flag]", form);
  box.checked = !box.checked;
  desk.marks(form);
  if (box.checked) one("input[name=note]", form).focus();
}

const deeds = {
  s: () => step(1),
  w: () => step(-1),
  j: () => desk.go("next"),
  k: () => desk.go("prev"),
  r: () => active && write(active),
  h: toggleSteps,
  g: toGold,
  o: foldAll,
  f: flag,
  u: () => desk.undo(),
  "?": () => {
    const keys = one("#keys");
    keys.open = !keys.open;
  },
};

function typed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
  const target = event.target instanceof Element ? event.target : body;
  const question = target.closest("form.question");
  if (target.matches("textarea")) {
    if (event.key === "Enter" && !event.shiftKey && question) {
      event.preventDefault();
      forget(question, "text");
      settle(question);
      desk.leave(question);
      advance(question);
    } else if (event.key === "Escape") {
      target.blur();
    }
    return;
  }
  if (target.matches("select, input[type=file]")) return;
  if (target.matches("input[type=text]")) {
    if (event.key === "Enter" || event.key === "Escape") {
      event.preventDefault();
      target.blur();
    }
    return;
  }
  if (event.key === "Escape") {
    one("#keys").open = false;
    return;
  }
  if (event.key === "Enter") {
    if (target.matches("a, button, summary, .file input")) return;
    event.preventDefault();
    if (active && questions().some((other) => !answered(other))) {
      settle(active);
      advance(active);
    } else {
      desk.go("open");
    }
    return;
  }
  if (/^[0-9xn]$/.test(event.key)) {
    if (active && pick(active, event.key)) event.preventDefault();
    return;
  }
  const deed = deeds[event.key];
  if (deed) {
    event.preventDefault();
    deed();
  }
}

/// A question that opens under a pressed button would move away from it: a pointer opens it by its click, not by the focus.
let pointing = false;
addEventListener("pointerdown", () => { pointing = true; }, true);
addEventListener("pointerup", () => setTimeout(() => { pointing = false; }, 100), true);
addEventListener("pointercancel", () => { pointing = false; }, true);

/// Connects a case's forms; a packet has many.
function connect(root) {
  for (const question of all("form.question", root)) {
    const area = one("textarea", question);
    question.addEventListener("submit", (event) => {
      event.preventDefault();
      desk.commit(question);
    });
    question.addEventListener("focusin", () => {
      if (active !== question && !pointing) activate(question, false);
    });
    // A click anywhere on a folded question opens it.
    question.addEventListener("click", () => {
      if (active !== question) activate(question, false);
    });
    for (const input of inputs(question)) input.addEventListener("change", () => chose(question, input));
    area.addEventListener("input", () => {
      grow(area);
      later(question, "text", 500, () => desk.draft(question));
    });
    area.addEventListener("change", () => {
      forget(question, "text");
      desk.leave(question);
    });
  }
  // Not by the address: in a packet it says which case is shown.
  for (const link of all("a.turn-link", root)) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      document.getElementById(link.getAttribute("href").slice(1))?.scrollIntoView({ block: "start" });
    });
  }
  for (const form of all("form.marks", root)) {
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", (event) => {
      if (event.target.name === "note" && event.target.value.trim() !== "") one("input[name=flag]", form).checked = true;
      desk.marks(form);
    });
  }
}

/// Seconds in which the case was before somebody's eyes: the page is shown and something moved in the last minute.
const clock = { seconds: 0, moved: Date.now() };
for (const kind of ["keydown", "pointermove", "pointerdown", "wheel", "scroll", "touchmove"]) {
  addEventListener(kind, () => { clock.moved = Date.now(); }, { passive: true, capture: true });
}
setInterval(() => {
  if (document.visibilityState === "visible" && Date.now() - clock.moved < 60000) {
    clock.seconds += 1;
    if (desk && desk.tick) desk.tick();
  }
}, 1000);

const visitName = () => [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

function showProgress(done, total, left) {
  one("progress").value = done;
  one("progress").max = Math.max(total, 1);
  one(".done-count").textContent = done;
  one(".total").textContent = total;
  one(".time-left").textContent = left ? ` · about ${left} left` : "";
}
