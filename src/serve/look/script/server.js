
// The page of the server: every answer goes into an outbox that outlives the page, and leaves it when the server has it.
function serverDesk() {
  const boxKey = `dualrater-outbox/${data.key}`;
  const visit = visitName();
  let outbox = [];
  try {
    outbox = JSON.parse(storage.get(boxKey) || "[]");
  } catch {
    outbox = [];
  }
  let busy = false;
  let wait = 0;

  const keep = () => {
    try {
      storage.set(boxKey, JSON.stringify(outbox));
    } catch {
      // A full storage: the outbox still lives as long as this page.
    }
  };
  const here = (item) => item.url.startsWith(`${data.path}/`);
  const queued = (label) => outbox.some((item) => here(item) && item.label === label);
  const byLabel = (label) => questions().find((question) => labelOf(question) === label);
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  function warn(text) {
    let place = one("#unsaved");
    if (!place) {
      place = document.createElement("p");
      place.id = "unsaved";
      place.setAttribute("role", "alert");
      one(".bar").append(place);
    }
    place.textContent = text;
    place.hidden = text === "";
  }

  function put(url, label, fields) {
    outbox = outbox.filter((item) => item.sent || item.url !== url || item.label !== label);
    // An answer says all that an unsent draft of the same label says.
    if (url.endsWith("/answer")) outbox = outbox.filter((item) => item.sent || !(item.url === url.replace(/answer$/, "draft") && item.label === label));
    fields.set("visit", visit);
    fields.set("seconds", String(clock.seconds));
    outbox.push({ url, label, fields: fields.toString() });
    keep();
    send();
  }

  async function send() {
    if (busy) return;
    busy = true;
    while (outbox.length > 0) {
      const item = outbox[0];
      item.sent = true;
      let answer = null;
      try {
        answer = await fetch(item.url, {
          method: "POST",
          headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" },
          body: item.fields,
          keepalive: item.fields.length < 60000,
        });
      } catch {
        answer = null;
      }
      if (answer && answer.ok) {
        let state = null;
        try {
          state = await answer.json();
        } catch {
          state = null;
        }
        if (state) {
          outbox.shift();
          keep();
          wait = 0;
          warn("");
          if (here(item)) apply(state);
          continue;
        }
      } else if (answer && [400, 403, 404, 409, 413, 415, 422].includes(answer.status)) {
        outbox.shift();
        keep();
        const why = await refusal(answer);
        const question = here(item) && byLabel(item.label);
        if (question) say(question, `Not stored: ${why}`, true);
        else warn(`An answer to ${item.url} was not stored: ${why}`);
        continue;
      }
      item.sent = false;
      const question = here(item) && byLabel(item.label);
      if (question) {
        question.classList.add("unsaved");
        say(question, "Not saved yet", true);
      }
      const why = !answer ? "the server cannot be reached" : answer.status === 401 ? "your link does not open the page any more" : `the server answers ${answer.status}`;
      warn(`Not saved: ${outbox.length} ${outbox.length === 1 ? "entry" : "entries"}; ${why}. Kept in this browser until it is sent.`);
      wait = Math.min(Math.max(wait * 2, 1000), 10000);
      await pause(wait);
    }
    busy = false;
  }

  async function refusal(answer) {
    try {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      return page.querySelector(".message p")?.textContent || answer.statusText;
    } catch {
      return answer.statusText;
    }
  }

  function apply(state) {
    for (const found of state.questions || []) {
      const derived = one(`.question-derived[data-label="${CSS.escape(found.label)}"] output`, sheet);
      if (derived) derived.textContent = found.value || "open";
      const question = byLabel(found.label);
      if (!question || queued(found.label) || pending.has(question)) continue;
      const area = one("textarea", question);
      setValue(question, found.value);
      if (document.activeElement !== area) setRationale(question, found.rationale);
      question.classList.remove("unsaved");
      question.classList.toggle("done", found.state === "saved");
      question.classList.toggle("draft", found.state === "draft");
      const refused = found.level === "refused";
      const note = found.message ? found.message : "";
      if (found.state === "saved") say(question, note ? `Saved. ${note}` : "Saved");
      else if (found.state === "draft") say(question, refused ? `Not taken: ${note}` : "Draft, not an answer yet", refused);
      else say(question, "");
    }
    if (typeof state.done === "number") showProgress(state.done, state.total, state.left);
    if ("next_open" in state) {
      if (state.next_open) data.open = `/case/${state.next_open}`;
      else delete data.open;
    }
  }

  const fieldsOf = (form) => new URLSearchParams(new FormData(form));

  return {
    commit(question) {
      if (!answered(question)) return this.draft(question);
      question.classList.add("unsaved");
      one("textarea", question).dataset.sent = rationaleOf(question);
      say(question, "Saving…");
      put(question.getAttribute("action"), labelOf(question), fieldsOf(question));
    },
    draft(question) {
      put(question.getAttribute("action").replace(/answer$/, "draft"), labelOf(question), fieldsOf(question));
    },
    leave(question) {
      const area = one("textarea", question);
      if (area.value === area.dataset.sent) return;
      area.dataset.sent = area.value;
      if (answered(question)) this.commit(question);
      else if (area.value !== "") this.draft(question);
    },
    marks(form) {
      put(form.getAttribute("action"), "", fieldsOf(form));
      one(".state", form).textContent = "";
    },
    async undo() {
      if (!data.path || !data.path.startsWith("/case/")) return announce("A ruling is changed by ruling again.");
      settleAll();
      await this.empty();
      let answer = null;
      try {
        answer = await fetch("/undo", { method: "POST", headers: { Accept: "application/json" } });
      } catch {
        return warn("Not undone: the server cannot be reached.");
      }
      if (!answer.ok) return announce(await refusal(answer));
      const { go } = await answer.json();
      const [path, hash] = go.split("#");
      if (path === location.pathname) {
        if (hash) location.hash = hash;
        location.reload();
      } else {
        location.assign(go);
      }
    },
    /// Waits for the outbox, but not for ever.
    async empty() {
      for (let tries = 0; tries < 60 && outbox.length > 0 && wait === 0; tries += 1) await pause(25);
      return outbox.length === 0;
    },
    async go(where) {
      settleAll();
      if (active) this.leave(active);
      const target = data[where] || (where === "open" ? data.next || one(".steps a:last-of-type", sheet)?.getAttribute("href") : null);
      if (!target) return announce(where === "prev" ? "This is the first case." : "This is the last case.");
      if (await this.empty()) location.assign(target);
      else announce("Not everything is saved yet; the page stays until it is.");
    },
    start() {
      connect(document);
      for (const area of all("textarea")) area.dataset.sent = area.value;
      const wanted = location.hash.startsWith("#q-") ? document.getElementById(location.hash.slice(1)) : null;
      if (sheet) activate(wanted && wanted.matches("form.question") ? wanted : firstOpen(), Boolean(wanted));
      const jump = one(".jump select");
      if (jump) jump.addEventListener("change", () => jump.form.submit());
      addEventListener("pagehide", () => {
        settleAll();
        if (!data.path || !data.path.startsWith("/case/") || clock.seconds === 0) return;
        const fields = new URLSearchParams({ visit, seconds: String(clock.seconds) });
        fetch(`${data.path}/time`, { method: "POST", headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" }, body: fields.toString(), keepalive: true }).catch(() => {});
      });
      addEventListener("online", () => { wait = 0; send(); });
      if (!storage.keeps) {
        addEventListener("beforeunload", (event) => { if (outbox.length > 0) event.preventDefault(); });
      }
      for (const item of outbox) item.sent = false;
      send();
    },
  };
}
