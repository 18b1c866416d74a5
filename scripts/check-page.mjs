// The scenario of scripts/check-page. Fails at the first thing that is not as it must be.
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";

const require = createRequire(path.join(process.env.BROWSER_TOOLS, "package.json"));
const { chromium } = require("playwright-core");
const axeSource = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [binary, shots, smoke] = process.argv.slice(2);
const widths = smoke === "--smoke" ? [375, 1280] : [320, 375, 800, 1280, 1400];
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "check-page-"));
const step = (text) => console.log(`== ${text}`);
const must = (condition, text) => {
  if (!condition) throw new Error(`not as it must be: ${text}`);
};

const run = (...args) => execFileSync(binary, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
let server = null;
async function serve(port) {
  server = spawn(binary, ["serve", "--listen", `127.0.0.1:${port}`], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((done, failed) => {
    server.once("exit", (code) => failed(new Error(`the server ended with ${code}`)));
    server.stdout.once("data", (text) => done(String(text).trim().split("\n")[0]));
  });
}
function stop() {
  return new Promise((done) => {
    server.removeAllListeners("exit");
    server.once("exit", done);
    server.kill("SIGKILL");
  });
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const complaints = [];
let origin = "";
async function context(options = {}) {
  const made = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  made.on("page", (page) => {
    page.on("pageerror", (error) => complaints.push(`script error: ${error.message}`));
    page.on("console", (message) => {
      // While the server is away the browser itself reports each failed request.
      if (message.type() === "error" && !/net::ERR_|status of 40[19]/.test(message.text())) complaints.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !/^(data|blob|file|about):/.test(url)) complaints.push(`foreign request: ${url}`);
    });
  });
  return made;
}

let checked = 0;
async function look(page, name) {
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of widths) {
      await page.setViewportSize({ width, height: width < 500 ? 720 : 900 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      must(wide <= 0, `${name} at ${width} px is ${wide} px too wide`);
      await page.screenshot({ path: path.join(shots, `${name}-${scheme}-${width}.png`) });
      if (width === widths[0] || width === widths.at(-1)) {
        await page.evaluate(axeSource);
        const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
        const lines = found.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
        must(lines.length === 0, `axe on ${name} (${scheme}, ${width} px):\n${lines.join("\n")}`);
        checked += 1;
      }
    }
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize({ width: 1400, height: 900 });
}

const link = (...args) => run("raters", "add", "--batch", "page", "--url", origin, ...args).trim().split("\n").pop();
const status = () => JSON.parse(run("status", "--batch", "page", "--json"));
const rater = (name) => status().raters.find((one) => one.rater === name);
const settled = (page) => page.waitForFunction(() => !document.querySelector(".question.unsaved"), null, { timeout: 15000 });

/// Waits for what becomes true after a motion or a request; how long that takes is the machine's affair, not the page's.
const until = (page, text, condition, argument) => page.waitForFunction(condition, argument, { timeout: 20000 })
  .catch(() => { throw new Error(`not as it must be: ${text}`); });

const says = (page, selector, words, text) => until(page, text,
  ([selector, words]) => document.querySelector(selector)?.textContent.includes(words), [selector, words]);

/// Asks the program until it says that something is stored.
async function stored(text, condition) {
  for (let tries = 0; tries < 60; tries += 1) {
    if (condition()) return;
    await new Promise((done) => setTimeout(done, 250));
  }
  throw new Error(`not as it must be: ${text}`);
}

let strokes = 0;
const press = async (page, key) => {
  strokes += 1;
  await page.keyboard.press(key);
};
const typeIn = async (page, text) => {
  strokes += text.length;
  await page.keyboard.type(text);
};

/// Answers the case on the page by keyboard alone.
async function rateByKeyboard(page, value) {
  for (let turns = 0; turns < 12; turns += 1) {
    const label = await page.evaluate(() => {
      const open = [...document.querySelectorAll(".split:not([hidden]) form.question")].filter((form) => !form.querySelector("fieldset :checked"));
      return open.length ? document.querySelector(".split:not([hidden]) form.question.active")?.dataset.label : null;
    });
    if (!label) return;
    await press(page, label === "B7" ? "4" : label === "B6" ? "n" : value);
    if (label === "B7") await press(page, "r");
    const focused = await page.evaluate(() => document.activeElement.tagName);
    must(focused === "TEXTAREA", `after an answer to ${label} the rationale has the focus, not ${focused}`);
    await typeIn(page, "t0 e1");
    await press(page, "Enter");
  }
  throw new Error("the case does not end");
}

/// Answers all cases as a program would, to have something to adjudicate.
async function finish(page, value) {
  await page.evaluate(async (value) => {
    const count = document.querySelectorAll(".jump option").length;
    for (let number = 1; number <= count; number += 1) {
      const text = await (await fetch(`/case/${number}`)).text();
      const found = new DOMParser().parseFromString(text, "text/html");
      for (const form of found.querySelectorAll("form.question")) {
        const fields = new URLSearchParams(new FormData(form));
        const label = form.dataset.label;
        fields.set("value", label === "B7" ? "unclassified" : label === "B6" ? "n.a." : value);
        fields.set("rationale", `${label} said so`);
        const done = await fetch(`/case/${number}/answer`, { method: "POST", body: fields, headers: { Accept: "application/json" } });
        if (!done.ok) throw new Error(`${number} ${label} ${done.status}`);
        await new Promise((next) => setTimeout(next, 25));
      }
    }
  }, value);
}

try {
  run("demo");
  run("batch", "rerate", "--batch", "demo", "--rubric", "mechanism-v3", "--as", "page");
  origin = await serve(0);
  const port = new URL(origin).port;

  step("login and list");
  const anna = await (await context()).newPage();
  await anna.goto(link("anna"));
  await anna.waitForURL(`${origin}/cases`);
  must(!(await anna.content()).includes("/in/"), "the page does not repeat the secret");
  await look(anna, "list-fresh");

  step("ten cases by keyboard alone");
  await anna.keyboard.press("Enter");
  await anna.waitForURL(/\/case\/1$/);
  const before = Date.now();
  for (let number = 1; number <= 10; number += 1) {
    await anna.waitForURL(new RegExp(`/case/${number}$`));
    await rateByKeyboard(anna, number % 2 ? "1" : "0");
    await settled(anna);
    if (number < 10) await press(anna, "Enter");
  }
  const seconds = (Date.now() - before) / 1000;
  await stored("ten cases are done", () => rater("anna").done === 10);
  console.log(`   ${strokes} keys, ${seconds.toFixed(1)} s of machine time for ten cases; ${(strokes / 10).toFixed(0)} keys a case with a rationale of five letters each`);
  await look(anna, "case-done");

  step("reload, draft, undo, flag");
  await anna.goto(`${origin}/case/11`);
  await press(anna, "r");
  await typeIn(anna, "half a thought");
  await anna.waitForFunction(() => document.querySelector(".question.draft"));
  await anna.reload();
  must((await anna.inputValue(".question textarea")) === "half a thought", "a draft is there after a reload");
  await anna.locator("#case-title").click();
  await press(anna, "1");
  await press(anna, "Escape");
  await settled(anna);
  await anna.waitForFunction(() => document.querySelector(".question.done"));
  await press(anna, "u");
  await anna.waitForFunction(() => !document.querySelector(".question :checked"), null, { timeout: 5000 });
  const shown = (await anna.textContent(".identity code")).trim();
  await stored("history shows what was taken back", () => run("history", shown).includes("(taken back)"));
  await anna.locator("#case-title").click();
  await press(anna, "f");
  await typeIn(anna, "look at turn 1");
  await press(anna, "Enter");
  await stored("the flag and its note are stored", () => rater("anna").marks[0]?.[1].flag === "look at turn 1");
  await press(anna, "?");
  must(await anna.evaluate(() => document.querySelector("#keys").open), "? shows the keys");
  await look(anna, "case-keys");
  await press(anna, "Escape");

  step("the other keys");
  await anna.goto(`${origin}/case/3`);
  const activeLabel = () => anna.evaluate(() => document.querySelector(".question.active")?.dataset.label);
  const isOpen = (selector) => anna.evaluate((selector) => [...document.querySelectorAll(selector)].every((fold) => fold.open), selector);
  const first = await activeLabel();
  await press(anna, "s");
  must((await activeLabel()) !== first, "s goes to the next question");
  await press(anna, "w");
  must((await activeLabel()) === first, "w goes back");
  must(await isOpen(".question.active details.how"), "how to decide stands beside the current question");
  await press(anna, "h");
  must(!(await isOpen(".question.active details.how")), "h hides how to decide");
  await press(anna, "h");
  must(!(await isOpen(".case details.same")), "what is the same is folded");
  await press(anna, "o");
  must(await isOpen(".case details.long, .case details.same, .case details.thought"), "o opens all folds");
  await press(anna, "o");
  await anna.locator(".turn-link").last().click();
  await anna.waitForFunction(() => document.querySelector(".case").scrollTop > 0);
  await press(anna, "g");
  await until(anna, "g shows the gold turn", (selector) => {
    const { top } = document.querySelector(selector).getBoundingClientRect();
    return top >= -1 && top < innerHeight / 2;
  }, ".turn.gold");
  await press(anna, "j");
  await anna.waitForURL(/\/case\/4$/);
  await press(anna, "k");
  await anna.waitForURL(/\/case\/3$/);
  await anna.locator(".jump select").selectOption("9");
  await anna.waitForURL(/\/case\/9$/);

  step("answers that contradict each other");
  await anna.goto(`${origin}/case/12`);
  const choose = (label, value) => anna.locator(`form[data-label=${label}] input[value="${value}"]`).check();
  await choose("B1b", "0");
  await settled(anna);
  await choose("B1a", "1");
  await anna.waitForFunction(() => document.querySelector("form[data-label=B1a] .state.refused"));
  await look(anna, "case-refused");
  await choose("B1b", "1");
  await anna.waitForFunction(() => document.querySelectorAll("form[data-label=B1a].done, form[data-label=B1b].done").length === 2);

  step("a server that goes away");
  await stop();
  await choose("B4", "0");
  await anna.waitForFunction(() => document.querySelector("#unsaved:not([hidden])"));
  await says(anna, "form[data-label=B4] .state", "Not saved", "what is not saved says so");
  await look(anna, "case-unsaved");
  await serve(port);
  await settled(anna);
  await anna.waitForFunction(() => document.querySelector("form[data-label=B4].done") && document.querySelector("#unsaved").hidden);
  await anna.reload();
  must(await anna.isChecked("form[data-label=B4] input[value='0']"), "it was sent again");

  step("without script");
  const plain = await (await context({ javaScriptEnabled: false })).newPage();
  await plain.goto(link("plain"));
  await plain.waitForURL(`${origin}/cases`);
  await plain.goto(`${origin}/case/1`);
  await plain.locator("form[data-label=B4] input[value='0']").check();
  await plain.locator("form[data-label=B4] textarea").fill("by form");
  await plain.locator("form[data-label=B4] button").click();
  await plain.waitForURL(/\/case\/1#q-B4$/);
  must((await plain.textContent("form[data-label=B4] .state")).includes("Saved"), "a plain form saves");
  await plain.locator("form.undo button").click();
  must(!(await plain.isChecked("form[data-label=B4] input[value='0']")), "a plain form undoes");

  step("pages");
  await anna.goto(`${origin}/rubric`);
  await look(anna, "rubric");
  await anna.goto(`${origin}/cases?only=flagged`);
  must((await anna.locator("tbody tr").count()) === 1, "one case is flagged");
  await look(anna, "list-flagged");
  await anna.goto(`${origin}/case/3`);
  await look(anna, "case");

  step("packet from file://");
  run("export", "--batch", "page", "--rater", "carl", "--as", "packet", "--out", "carl.html");
  const away = await context({ offline: true, acceptDownloads: true });
  const carl = await away.newPage();
  await carl.goto(`file://${folder}/carl.html`);
  await look(carl, "packet-start");
  await carl.locator("#begin").focus();
  await press(carl, "Enter");
  for (let number = 1; number <= 3; number += 1) {
    await carl.waitForFunction((number) => location.hash === `#case-${number}`, number);
    await rateByKeyboard(carl, "1");
    await press(carl, "Enter");
  }
  await carl.waitForFunction(() => location.hash === "#case-4");
  await press(carl, "f");
  await typeIn(carl, "odd");
  await press(carl, "Enter");
  await carl.waitForTimeout(1200);
  await look(carl, "packet-case");
  await carl.reload();
  await says(carl, ".done-count", "3", "a packet keeps its answers over a reload");
  await press(carl, "k");
  await press(carl, "u");
  await says(carl, ".done-count", "2", "a packet undoes");
  await rateByKeyboard(carl, "1");
  const downloads = carl.waitForEvent("download");
  await carl.locator("#save-file").click();
  const download = await downloads;
  await download.saveAs(path.join(folder, "answers.jsonl"));
  must(download.suggestedFilename() === "page-carl-answers.jsonl", `the file is called ${download.suggestedFilename()}`);
  console.log(run("import", "answers.jsonl").trim().split("\n").map((line) => `   ${line}`).join("\n"));
  must(rater("carl").done === 3 && rater("carl").marks.length === 1 && rater("carl").median_seconds !== null, "answers, flag and times of a packet are imported");
  must(/^carl: 0 answers stored/.test(run("import", "answers.jsonl")), "importing again changes nothing");
  const fresh = await (await context({ offline: true })).newPage();
  await fresh.goto(`file://${folder}/carl.html`);
  fresh.once("dialog", (dialog) => dialog.accept());
  await fresh.locator("#load-file").setInputFiles(path.join(folder, "answers.jsonl"));
  await fresh.waitForFunction(() => document.querySelector(".done-count").textContent === "3");
  const closed = await context({ offline: true });
  await closed.addInitScript(() => {
    Object.defineProperty(window, "localStorage", { get() { throw new Error("denied"); } });
  });
  const forgetful = await closed.newPage();
  await forgetful.goto(`file://${folder}/carl.html`);
  must(await forgetful.isVisible("#storage-warning"), "a browser that keeps nothing is warned about");

  step("adjudication and owner");
  const ben = await (await context()).newPage();
  await ben.goto(link("ben"));
  await ben.waitForURL(`${origin}/cases`);
  await finish(anna, "1");
  await finish(ben, "0");
  run("raters", "--batch", "page", "--pair", "anna,ben");
  const judge = await (await context()).newPage();
  await judge.goto(link("judge", "--role", "adjudicator"));
  await judge.waitForURL(`${origin}/rulings`);
  await look(judge, "rulings");
  await judge.locator("a.button.main").click();
  await judge.waitForURL(/\/ruling\//);
  const text = await judge.textContent("main");
  must(!/\b(anna|ben|carl)\b/.test(text), "the adjudicator sees no names");
  await look(judge, "ruling");
  await press(judge, "1");
  await typeIn(judge, "left is right");
  await press(judge, "Enter");
  await settled(judge);
  await stored("a ruling is stored", () => status().adjudication.ruled === 1);
  const owner = await (await context()).newPage();
  await owner.goto(run("raters", "add", "--batch", "page", "--owner", "--url", origin).trim().split("\n").pop());
  await owner.waitForURL(`${origin}/owner`);
  must((await owner.textContent("main")).includes("Agreement so far"), "the owner sees agreement");
  await look(owner, "owner");

  step("a revoked link");
  run("raters", "revoke", "--batch", "page", "ben");
  const refused = await ben.goto(`${origin}/case/1`);
  must(refused.status() === 401, `a revoked link opens nothing, but gives ${refused.status()}`);
  await look(ben, "revoked");

  must(complaints.length === 0, `the browser complains:\n${[...new Set(complaints)].join("\n")}`);
  must(JSON.parse(run("verify", "--json")).first_broken === null, "the chain is whole");
  console.log(`all as it must be; axe found nothing on ${checked} views; screenshots in ${shots}`);
} catch (error) {
  console.error(error.message);
  if (complaints.length) console.error([...new Set(complaints)].join("\n"));
  process.exitCode = 1;
} finally {
  await browser.close();
  if (server) await stop();
  fs.rmSync(folder, { recursive: true, force: true });
}
