
// The offline packet: answers live in the browser's storage and leave it as a file.
function packetDesk() {
  const sheets = all(".packet-case");
  const idOf = (root) => root.dataset.case;
  let store = { cases: {}, undo: [] };
  let shown = 0;

  function read() {
    try {
      const found = JSON.parse(storage.get(data.key) || "null");
      if (found && typeof found.cases === "object") store = { cases: found.cases, undo: found.undo || [] };
    } catch {
      // Somebody else's text under our key: begin anew.
    }
  }

  function keep() {
    try {
      storage.set(data.key, JSON.stringify(store));
    } catch {
      one("#storage-warning").hidden = false;
    }
  }

  const entry = (root) => {
    const id = idOf(root);
    const found = Object.hasOwn(store.cases, id) ? store.cases[id] : null;
    if (found && found.digest === root.dataset.digest) return found;
    store.cases[id] = { digest: root.dataset.digest, labels: {}, flag: null, known: false, seconds: 0 };
    return store.cases[id];
  };
  const known = (root) => {
    const id = idOf(root);
    const found = Object.hasOwn(store.cases, id) ? store.cases[id] : null;
    return found && found.digest === root.dataset.digest ? found : null;
  };
  const forms = (root) => all("form.question", root);
  const complete = (root) => forms(root).length > 0 && forms(root).every(answered);
  const flagged = (root) => one("input[name=flag]", root).checked;

  /// Puts what is stored into the page.
  function fill(root) {
    const found = known(root);
    for (const question of forms(root)) {
      const label = found && Object.hasOwn(found.labels, labelOf(question)) ? found.labels[labelOf(question)] : null;
      if (label) {
        setValue(question, String(label.value || ""));
        one("textarea", question).value = String(label.rationale || "");
      }
      show(question);
    }
    if (found) {
      one("input[name=flag]", root).checked = found.flag !== null;
      one("input[name=note]", root).value = String(found.flag || "");
      one("input[name=known]", root).checked = Boolean(found.known);
    }
  }

  function show(question) {
    question.classList.toggle("done", answered(question));
    question.classList.toggle("draft", !answered(question) && rationaleOf(question) !== "");
    const missing = data.rationale !== "optional" && answered(question) && rationaleOf(question).trim() === "";
    const kept = storage.keeps ? "Kept in this browser" : "Not kept: save to a file";
    say(question, answered(question) ? (missing ? `${kept}. No rationale yet` : kept) : "");
  }

  function put(question, undoable) {
    const labels = entry(sheet).labels;
    const before = Object.hasOwn(labels, labelOf(question)) ? labels[labelOf(question)] : null;
    const now = { value: valueOf(question), rationale: rationaleOf(question) };
    if (before && before.value === now.value && before.rationale === now.rationale) return;
    if (undoable && (!before || before.value !== now.value)) {
      store.undo.push({ case: idOf(sheet), label: labelOf(question), before });
      store.undo = store.undo.slice(-200);
    }
    labels[labelOf(question)] = now;
    data.unsaved = String(Number(data.unsaved || 0) + 1);
    keep();
    show(question);
    progress();
  }

  function median() {
    const times = sheets.filter(complete).map((root) => known(root)?.seconds || 0).filter((seconds) => seconds > 0).sort((a, b) => a - b);
    return times.length ? times[Math.floor((times.length - 1) / 2)] : 0;
  }

  function words(seconds) {
    const minutes = Math.ceil(seconds / 60);
    return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }

  function progress() {
    const done = sheets.filter(complete).length;
    const left = (sheets.length - done) * median();
    showProgress(done, sheets.length, left > 0 ? words(left) : "");
    const jump = one("#jump");
    sheets.forEach((root, index) => {
      const option = jump.options[index + 1];
      const begun = forms(root).some(answered);
      option.textContent = `${index + 1}${complete(root) ? " ✓" : begun ? " …" : ""}${flagged(root) ? " ⚑" : ""}`;
    });
    const count = Number(data.unsaved || 0);
    one("#save-file").textContent = count > 0 ? `Save answers (${count} new)` : "Save answers";
  }

  function open(number) {
    settleAll();
    shown = Math.min(Math.max(number, 0), sheets.length);
    clock.seconds = 0;
    one("#start").hidden = shown !== 0;
    sheets.forEach((root, index) => { root.hidden = index + 1 !== shown; });
    body.classList.toggle("at-start", shown === 0);
    one("#jump").value = String(shown);
    if (active) activate(null, false);
    sheet = shown === 0 ? null : sheets[shown - 1];
    scrollTo(0, 0);
    if (sheet) {
      one(".case", sheet).scrollTop = 0;
      activate(firstOpen(), false);
      for (const area of all("textarea", sheet)) grow(area);
      document.title = `Case ${shown} · ${data.batch}`;
      try {
        history.replaceState(null, "", `#case-${shown}`);
      } catch {
        // Some browsers refuse this for files.
      }
    }
  }

  const takes = (root) => {
    const only = one("#only").value;
    return only === "all" || (only === "unrated" ? !complete(root) : flagged(root));
  };

  function lines() {
    const touched = sheets.filter((root) => {
      const found = known(root);
      return found && (Object.values(found.labels).some((label) => label.value || label.rationale) || found.flag !== null || found.known);
    });
    return touched.map((root) => {
      const found = known(root);
      const labels = {};
      for (const question of forms(root)) {
        if (answered(question) || rationaleOf(question).trim() !== "") {
          labels[labelOf(question)] = { value: valueOf(question) || null, rationale: rationaleOf(question) };
        }
      }
      const line = {
        batch: data.batch, rubric: data.rubric, rubric_digest: data.rubricDigest, rater: data.rater,
        case: idOf(root), case_digest: root.dataset.digest, labels,
        seconds: found.seconds, known: found.known, chain_head: data.head,
      };
      if (found.flag !== null) line.flag = found.flag;
      return JSON.stringify(line);
    });
  }

  function save() {
    settleAll();
    const found = lines();
    if (found.length === 0) return alert("There is no answer to save yet.");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([found.join("\n"), "\n"], { type: "application/jsonl" }));
    const name = `${data.batch}-${data.rater}-answers`.replace(/[^A-Za-z0-9_-]/g, "_");
    link.download = `${name}.jsonl`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    data.unsaved = "0";
    progress();
  }

  async function load(file) {
    let taken = 0;
    let foreign = 0;
    for (const text of (await file.text()).split("\n")) {
      if (text.trim() === "") continue;
      let line = null;
      try {
        line = JSON.parse(text);
      } catch {
        foreign += 1;
        continue;
      }
      const root = sheets.find((root) => line && idOf(root) === line.case && root.dataset.digest === line.case_digest);
      const ours = root && line.batch === data.batch && line.rater === data.rater && line.rubric_digest === data.rubricDigest && typeof line.labels === "object" && line.labels;
      if (!ours) {
        foreign += 1;
        continue;
      }
      const found = entry(root);
      for (const question of forms(root)) {
        const label = Object.hasOwn(line.labels, labelOf(question)) ? line.labels[labelOf(question)] : null;
        if (label) found.labels[labelOf(question)] = { value: String(label.value ?? ""), rationale: String(label.rationale ?? "") };
      }
      found.seconds = Math.max(found.seconds, Number(line.seconds) || 0);
      found.known = found.known || line.known === true;
      if (typeof line.flag === "string") found.flag = line.flag;
      fill(root);
      taken += 1;
    }
    keep();
    progress();
    alert(`${taken} cases were loaded.${foreign ? ` ${foreign} lines belong to another packet and were left out.` : ""}`);
  }

  return {
    commit(question) { put(question, true); },
    draft(question) { put(question, false); },
    leave(question) { put(question, false); },
    marks(form) {
      const found = entry(sheet);
      found.flag = one("input[name=flag]", form).checked ? one("input[name=note]", form).value.trim() : null;
      found.known = one("input[name=known]", form).checked;
      data.unsaved = String(Number(data.unsaved || 0) + 1);
      keep();
      progress();
    },
    undo() {
      settleAll();
      const last = store.undo.pop();
      const root = last && sheets.find((root) => idOf(root) === last.case);
      if (!root) return announce("There is nothing to undo.");
      const question = forms(root).find((question) => labelOf(question) === last.label);
      const before = last.before || { value: "", rationale: "" };
      open(sheets.indexOf(root) + 1);
      setValue(question, before.value);
      setRationale(question, before.rationale);
      entry(root).labels[last.label] = before;
      keep();
      show(question);
      progress();
      activate(question, true);
    },
    go(where) {
      settleAll();
      if (active) this.leave(active);
      const at = shown;
      const numbers = sheets.map((root, index) => index + 1);
      let target = null;
      if (where === "prev") target = numbers.filter((number) => number < at && takes(sheets[number - 1])).pop() ?? (at > 0 ? 0 : null);
      else if (where === "next") target = numbers.find((number) => number > at && takes(sheets[number - 1])) ?? null;
      else {
        const unfinished = numbers.filter((number) => !complete(sheets[number - 1]));
        target = unfinished.find((number) => number > at) ?? unfinished.find((number) => number !== at) ?? null;
      }
      if (target === null) return announce(where === "open" ? "Every case is done. Save your answers and send the file back." : "There is no further case here.");
      open(target);
    },
    tick() {
      if (!sheet) return;
      entry(sheet).seconds += 1;
      if (clock.seconds % 10 === 0) keep();
    },
    start() {
      read();
      one("#storage-warning").hidden = storage.keeps;
      connect(document);
      for (const root of sheets) fill(root);
      one("#begin").addEventListener("click", () => this.go("open"));
      one("#jump").addEventListener("change", (event) => open(Number(event.target.value)));
      one("#save-file").addEventListener("click", save);
      one("#load-file").addEventListener("change", (event) => {
        const [file] = event.target.files;
        if (file) load(file);
        event.target.value = "";
      });
      for (const button of all("button[data-do]")) {
        button.addEventListener("click", () => (button.dataset.do === "undo" ? this.undo() : this.go(button.dataset.do)));
      }
      for (const link of all("a[data-place]")) {
        link.addEventListener("click", (event) => {
          event.preventDefault();
          const part = sheet && one(`.${link.dataset.place}`, sheet);
          if (part) part.scrollIntoView();
        });
      }
      addEventListener("pagehide", () => { settleAll(); keep(); });
      addEventListener("beforeunload", (event) => {
        settleAll();
        if (!storage.keeps && Number(data.unsaved || 0) > 0) event.preventDefault();
      });
      progress();
      const wanted = /^#case-(\d+)$/.exec(location.hash);
      open(wanted ? Number(wanted[1]) : 0);
    },
  };
}
