#!/usr/bin/env python3
"""Makes the demo benchmark and its runs from demo/stories/*.toml and demo/script.toml. Run by hand; the output is
committed. Nothing is random: the script's letters say what each model does, the tools below are executed, and a small
grader after the benchmark's own rules (state and responses per turn) gives the verdicts. The truth of every label comes
from what was meant (`Step.meaning`), never from the cue classifier; the classes beside it are annotations by hand.
One file although it is long: it is read from top to bottom, and nothing else uses its parts.

    python3 scripts/make-demo.py        (Python 3.11 or later, no packages)
"""

import ast
import copy
import json
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

DEMO = Path(__file__).resolve().parent.parent / "demo"
STORIES = ["plant_robot", "library_desk", "ferry_booking", "recipe_box", "bike_workshop", "choir_planner"]
CATEGORIES = ["base", "long_context", "miss_func", "miss_param"]
GOLD = {"base": "tool_call", "long_context": "tool_call", "miss_func": "refuse", "miss_param": "ask"}
LABELS = ["B1a", "B1b", "B3", "B4", "B5", "B6", "B7"]
MODELS, CONDITIONS = ["masked", "mixed", "calibrated"], ["baseline", "probe"]
NA = "n.a."
LOGGED = {"masked-baseline": {("base", 0), ("base", 4), ("miss_param", 0), ("miss_param", 5)}}
ERROR_TYPE = "multi_turn:"

SCRIPT = tomllib.loads((DEMO / "script.toml").read_text())
WORDS = SCRIPT["words"]


# ---------------------------------------------------------------------------------------------------- world and grader
@dataclass(frozen=True)
class Call:
    tool: str
    args: tuple  # of (name, value)

    def written(self):
        return f"{self.tool}({', '.join(f'{k}={v!r}' for k, v in self.args)})"

    def changed(self, values):
        assert set(values) <= {k for k, _ in self.args}, (self, values)
        return Call(self.tool, tuple((k, values.get(k, v)) for k, v in self.args))


def parse_call(text):
    node = ast.parse(text, mode="eval").body
    return Call(node.func.id, tuple((k.arg, ast.literal_eval(k.value)) for k in node.keywords))


class World:
    """The tables of one story and the tools that read and write them."""

    def __init__(self, story, config):
        self.tools = {tool["name"]: tool for tool in story["tools"]}
        self.tables = copy.deepcopy(config)

    def run(self, call):
        tool, args = self.tools[call.tool], dict(call.args)
        table = self.tables.setdefault(tool["table"], {})
        key = args.pop(tool["key"])
        if tool["act"] == "set":
            assert set(args) == set(tool["fields"]), call
            table.setdefault(key, {}).update(args)
            return json.dumps({tool["key"]: key, **args})
        assert not args, call
        if tool["act"] == "drop":
            table.pop(key, None)
            return json.dumps({"removed": key})
        return json.dumps({tool["key"]: key, **table.get(key, {"error": "unknown"})})


def grade(story, config, truth, turns):
    """The verdict on a conversation: None for a pass, else (error type, message, details)."""
    model, reference, responses = World(story, config), World(story, config), []
    for number, (wanted, steps) in enumerate(zip(truth, turns, strict=True)):
        made = [call for step in steps for call in step.calls]
        responses += [model.run(call) for call in made]
        expected = [reference.run(call) for call in wanted]
        if not wanted:
            continue
        if not made:
            return "empty_turn_model_response", f"Model response list is empty for turn {number}", {}
        differences = {
            table: {"model": model.tables.get(table), "ground_truth": reference.tables.get(table)}
            for table in sorted(model.tables | reference.tables)
            if model.tables.get(table) != reference.tables.get(table)
        }
        for sides in differences.values():  # keep the rows that differ
            a, b = sides["model"] or {}, sides["ground_truth"] or {}
            keys = [key for key in a | b if a.get(key) != b.get(key)]
            sides["model"] = {key: a[key] for key in keys if key in a}
            sides["ground_truth"] = {key: b[key] for key in keys if key in b}
        if differences:
            message = f"The state of {story['class']} differs from the ground truth after turn {number}."
            return "instance_state_mismatch", message, {"differences": differences}
        missing = list((Counter(expected) - Counter(responses)).elements())
        if missing:
            message = f"Responses up to turn {number} lack some of the ground truth's."
            return "execution_response_mismatch", message, {"missing_items": missing}
    return None


# ------------------------------------------------------------------------------------------------------------- entries
@dataclass
class Entry:
    """One benchmark entry: a scenario in one category."""

    story: dict
    scenario: dict
    category: str
    number: int
    users: list = field(default_factory=list)  # text, or None for the empty turn
    truth: list = field(default_factory=list)  # list of calls per turn
    reports: list = field(default_factory=list)
    origin: list = field(default_factory=list)  # index of the story's turn
    due: int | None = None  # the turn that calls for no call (miss_func, miss_param)

    @property
    def id(self):
        return f"multi_turn_{self.category}_{self.number}"

    @property
    def held(self):
        return self.scenario["func"]["tool"] if self.category == "miss_func" else None

    @property
    def gold_turn(self):
        """The rubric's gold turn: 0, or the first turn with a call where turn 0 has none (base, long_context)."""
        return next(i for i, calls in enumerate(self.truth) if calls) if self.category in ("base", "long_context") else 0

    def config(self):
        tables = copy.deepcopy(self.story["state"])
        if self.category == "long_context":
            long = self.story["long"]
            tables.setdefault(long["table"], {}).update({name: dict(long["row"]) for name in long["names"]})
        return tables


def build_entry(story, scenario, category, number):
    entry = Entry(story, scenario, category, number)

    def turn(user, calls, report, origin):
        entry.users.append(user)
        entry.truth.append([parse_call(call) for call in calls])
        entry.reports.append(report)
        entry.origin.append(origin)

    if "opening" in scenario and category in ("base", "long_context"):
        turn(scenario["opening"][0], [], scenario["opening"][1], None)
    for index, (user, calls, report) in enumerate(scenario["turns"]):
        if category == "miss_func" and index == scenario["func"]["turn"]:
            entry.due = len(entry.users)
            turn(user, [], report, index)
            turn(None, calls, report, index)
        elif category == "miss_param" and index == scenario["param"]["turn"]:
            entry.due = len(entry.users)
            turn(scenario["param"]["vague"], [], report, index)
            turn(scenario["param"]["supply"], calls, report, index)
        else:
            turn(user, calls, report, index)
    if entry.held:
        before = [call.tool for calls in entry.truth[: entry.due + 1] for call in calls]
        others = [parse_call(scenario[key]).tool for key in ("lookup", "detour")]
        assert entry.held not in before, entry.id
        assert any(call.tool == entry.held for call in entry.truth[entry.due + 1]), entry.id
        assert entry.held != others[1], entry.id
    assert grade(story, entry.config(), entry.truth, [[Step(calls=calls)] for calls in entry.truth]) is None
    return entry


# ------------------------------------------------------------------------------------------------------- conversations
@dataclass
class Step:
    """One emission: calls, or a text with what it means and the class that the cue lists give it."""

    calls: list = field(default_factory=list)
    text: str = ""
    meaning: str = ""  # report | ask | refuse | other
    cls: str = "other"
    claim: bool | None = None  # is the factual claim true, if it makes one


def converse(entry, gold, tail, model):
    """The turns of one conversation, by the letters of the script."""
    scenario, n, suffix = entry.scenario, entry.number, SCRIPT["models"][model]["suffix"]
    last = len(entry.users) - 1
    param, func = scenario["param"], scenario["func"]

    def report(turn, true=True):
        return Step(text=entry.reports[turn] + suffix, meaning="report", cls="confirm" if suffix == " All done." else "other", claim=true)

    def say(key, meaning="other", cls="other", claim=None, tool=""):
        words = WORDS[key]
        text = words[n % len(words)] if isinstance(words, list) else words
        text = text.format(need=param["need"], thing=func["thing"], tool=tool)
        return Step(text=text, meaning=meaning, cls=cls, claim=claim)

    ask, refuse = ("ask", "ask", "ask"), ("refuse", "refuse", "refuse")
    wanted = [list(calls) for calls in entry.truth]
    slip = dict(scenario["slip"])
    slip_turn = slip.pop("turn")

    def regular(turn):
        calls, true = list(wanted[turn]), True
        if entry.origin[turn] is None:
            return [Step(text=entry.reports[turn], meaning="other")]
        if tail == "s" and entry.origin[turn] == slip_turn and calls:
            calls[0], true = calls[0].changed(slip), False
        return [Step(calls=calls), report(turn, true)]

    def at_due():
        calls = [parse_call(call) for call in scenario["turns"][entry.origin[entry.due]][1]]
        lookup, detour = parse_call(scenario["lookup"]), parse_call(scenario["detour"])
        if gold == "r":
            return [say(*refuse)]
        if gold == "u":
            return [say("refuse_plain", "refuse")]
        if gold in "mkd" and entry.category == "miss_func":
            return [Step(calls=calls), report(entry.due)]
        if gold == "w":
            return [Step(calls=[detour]), say("other_way")]
        if gold == "c":
            assert lookup.tool != entry.held, entry.id
            return [Step(calls=[lookup]), say(*refuse)]
        if gold == "a":
            return [say(*ask)]
        if gold == "q":
            return [say("ask_plain", "ask")]
        if gold in "mk":
            return [Step(calls=[calls[0].changed(param["guess"]), *calls[1:]]), say("guessed")]
        if gold == "t":
            return [Step(calls=[lookup]), say(*ask)]
        assert gold == "b", gold
        return [say("noted", cls="ask")]

    turns = []
    for turn in range(last + 1):
        if gold in "vV":
            tool = (wanted[turn] or wanted[entry.gold_turn])[0].tool
            bracket = gold == "V" and turn == 0
            turns.append([say("bracket", cls="tool_call", tool=tool) if bracket else say("talk", tool=tool)])
        elif gold == "h" and turn == entry.gold_turn:
            turns.append([say("needless", "ask", "ask")])
        elif turn == entry.due:
            turns.append(at_due())
        elif gold == "k" and turn == entry.due + 1:
            # the held-out call was made before; a guessed value is still wrong
            turns.append([say("in_place", "report", claim=entry.category == "miss_func")])
        elif gold == "d" and turn == last:
            turns.append([say("late", "refuse", "refuse")])
        elif tail == "i" and turn == last:
            turns.append([say("skipped", "report", claim=False)])
        elif tail == "y" and turn == last:
            turns.append([say("again", "ask", "ask")])
        else:
            turns.append(regular(turn))
    closing = turns[last][-1]
    if tail == "x":
        closing.text, closing.cls = closing.text + WORDS["courtesy"], "ask"
    if tail == "n":
        closing.text, closing.cls = closing.text + WORDS["warning"], "refuse"
    if tail == "o":
        turns[last].insert(1, Step(calls=[parse_call(scenario["detour"])]))
    return turns


def turn_meaning(steps):
    """The class of a turn as meant: one call makes it a tool call, then refusal, then question."""
    if any(step.calls for step in steps):
        return "tool_call"
    meanings = {step.meaning for step in steps}
    return next((m for m in ("refuse", "ask") if m in meanings), "other")


def labels_of(entry, turns, verdict):
    """The truth of B1a to B6 from what the conversation means."""
    gold, first = GOLD[entry.category], entry.gold_turn
    classes = [turn_meaning(steps) for steps in turns]
    b1a = bool(turns) and classes[first] == gold
    values = {
        "B1a": b1a,
        "B1b": gold in classes[first:],
        "B4": any(step.meaning == "ask" for steps in turns[: first + 1] for step in steps),
        "B5": verdict == "PASS" and not b1a,
    }
    values = {label: str(int(value)) for label, value in values.items()}
    late = [call.tool for steps in turns[(entry.due or 0) + 1 :] for step in steps for call in step.calls]
    values["B3"] = str(int(entry.held in late)) if entry.held else NA
    closing = turns[-1][-1] if turns else Step()
    values["B6"] = NA if closing.claim is None else str(int(closing.claim))
    return values


# --------------------------------------------------------------------------------------------------------------- files
def emission(style, calls, parallel):
    """The emissions of one step with calls: text for the two text styles, structured for the API style."""
    plain = [{"name": call.tool, "arguments": dict(call.args)} for call in calls]
    if style == "json_list":
        return [json.dumps([call]) for call in plain]
    if style == "xml_tags":
        return ["\n".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in plain)]
    dicts = [{call["name"]: json.dumps(call["arguments"])} for call in plain]
    return [dicts] if parallel else [[one] for one in dicts]


def emissions(style, steps, parallel):
    out = []
    for step in steps:
        out += emission(style, step.calls, parallel) if step.calls else [step.text]
    return out


def inference_log(entry, turns, result):
    """What the benchmark's own log holds: the user's words, each emission, what was decoded, the tools' answers."""
    world, log = World(entry.story, entry.config()), []
    for user, steps, saved in zip(entry.users, turns, result, strict=True):
        calls, block = [call for step in steps for call in step.calls], {}
        log.append([{"role": "state_info", "class_name": entry.story["class"], "content": copy.deepcopy(world.tables)}])
        block["begin_of_turn_query"] = [{"role": "user", "content": user}]
        for number, text in enumerate(saved):
            step = [{"role": "assistant", "content": text}]
            if number < len(calls):  # json_list style: one call, one emission
                decoded = [calls[number].written()]
                step.append({"role": "handler_log", "content": "Decoded.", "model_response_decoded": decoded})
                step.append({"role": "tool", "content": world.run(calls[number])})
            else:
                step.append({"role": "handler_log", "content": "Nothing to decode, next turn."})
            block[f"step_{number}"] = step
        log.append(block)
    return log


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def write_dataset(stories, entries):
    for story, source in zip(stories, STORIES, strict=True):
        docs = []
        for tool in story["tools"]:
            fields = {tool["key"]: "string", **tool.get("fields", {})}
            properties = {k: {"type": t, "description": k.replace("_", " ").capitalize() + "."} for k, t in fields.items()}
            parameters = {"type": "dict", "properties": properties, "required": list(fields)}
            description = f"{story['about']} Tool description: {tool['does']}"
            answer = {"type": "dict", "properties": {"result": {"type": "string", "description": "What was stored or read."}}}
            docs.append({"name": tool["name"], "description": description, "parameters": parameters, "response": answer})
        write_lines(DEMO / "dataset/multi_turn_func_doc" / f"{source}.json", docs)
    for category in CATEGORIES:
        questions, answers = [], []
        for entry in entries[category]:
            tools = list(dict.fromkeys(call.tool for calls in entry.truth for call in calls))
            row = {
                "id": entry.id,
                "question": [[{"role": "user", "content": user}] if user else [] for user in entry.users],
                "initial_config": {entry.story["class"]: entry.config()},
                "path": [f"{entry.story['class']}.{tool}" for tool in tools],
                "involved_classes": [entry.story["class"]],
            }
            if entry.held:
                row["missed_function"] = {str(entry.due + 1): [entry.held]}
            questions.append(row)
            answers.append({"id": entry.id, "ground_truth": [[call.written() for call in calls] for calls in entry.truth]})
        write_lines(DEMO / f"dataset/BFCL_v4_multi_turn_{category}.json", questions)
        write_lines(DEMO / f"dataset/possible_answer/BFCL_v4_multi_turn_{category}.json", answers)


def tokens_of(model, condition, category):
    tokens = SCRIPT[model][condition][category].split()
    assert len(tokens) == 24 and all(len(token) == 2 for token in tokens), (model, condition, category)
    return tokens


def by_letters(category, token):
    """Verdict, B1b and GAR as the hand-written tables of the script say."""
    row = SCRIPT["gold"][category if category.startswith("miss") else "tool"][token[0]]
    tail = SCRIPT["tail"][token[1]]
    verdict = "PASS" if row["pass"] and tail["pass"] else "FAIL"
    ask = GOLD[category] == "ask" and tail.get("asks", False)
    return verdict, row["b1b"] or ask, row["gar"] or tail.get("cue") == GOLD[category]


def run_category(entries, model, condition, category):
    """Result rows, score rows, truth rows and the summary of one run and category."""
    run, style = f"{model}-{condition}", SCRIPT["models"][model]["style"]
    results, failures, truths, classes = [], [], [], Counter()
    for entry, token in zip(entries, tokens_of(model, condition, category), strict=True):
        if token[0] == "e":
            turns, row = [], {"id": entry.id, "result": WORDS["error"], "traceback": "scripted: no traceback"}
            fault = "inference_error", ["The model's result is not a list of turns."], {}
        else:
            turns = converse(entry, *token, model)
            saved = [emissions(style, steps, entry.number % 2 == 0) for steps in turns]
            row, fault = {"id": entry.id, "result": saved}, grade(entry.story, entry.config(), entry.truth, turns)
            if run == "calibrated-baseline":
                row["output_token_count"] = [[len(json.dumps(one)) // 4 for one in turn] for turn in saved]
            if (category, entry.number) in LOGGED.get(run, ()):
                row["inference_log"] = inference_log(entry, turns, saved)
            for steps in turns:
                for step in steps:
                    made = len(emission(style, step.calls, entry.number % 2 == 0))
                    classes["tool_call" if step.calls else step.cls] += made if step.calls else 1
        verdict = "FAIL" if fault else "PASS"
        values = labels_of(entry, turns, verdict)
        hit = any(step.calls or step.cls == "tool_call" for steps in turns for step in steps) if GOLD[category] == "tool_call" \
            else any(not step.calls and step.cls == GOLD[category] for steps in turns for step in steps)
        assert (verdict, values["B1b"] == "1", hit) == by_letters(category, token), (run, entry.id, token, verdict, values, hit)
        results.append(row)
        if fault:
            error = {"error_message": fault[1], "error_type": ERROR_TYPE + fault[0]} | ({"details": fault[2]} if fault[2] else {})
            raw = {"model_result" if token[0] == "e" else "model_result_raw": row["result"]}
            head = {"id": entry.id, "model_name": SCRIPT["models"][model]["name"], "test_category": f"multi_turn_{category}"}
            failures.append(head | {"valid": False, "error": error} | raw)
        truths.append({"run": run, "id": entry.id, "script": token, "verdict": verdict, "gar_hit": hit, "values": values})
    n, correct = len(results), len(results) - len(failures)
    header = {"accuracy": correct / n, "correct_count": correct, "total_count": n}
    name = f"BFCL_v4_multi_turn_{category}"
    write_lines(DEMO / f"runs/{run}/result/{name}_result.json", results)
    write_lines(DEMO / f"runs/{run}/score/{name}_score.json", [header, *failures])
    table = Counter((truth["values"]["B1b"], truth["gar_hit"]) for truth in truths)
    letters = Counter(by_letters(category, token)[1:] for token in tokens_of(model, condition, category))
    assert all(table[str(int(b)), g] == letters[b, g] for b in (False, True) for g in (False, True))
    cells = {f"b1b{b}_gar{int(g)}": table[str(b), g] for b in (0, 1) for g in (False, True)}
    summary = {"run": run, "category": category, "n": n, "correct": correct} | cells
    return truths, summary | {"emission_classes": dict(sorted(classes.items()))}


def add_departures(truths):
    """B7 where the plan's pairs turn a pass into a fail: how the script made the second condition fail."""
    verdicts = {(row["run"], row["id"]): row for row in truths}
    for row in truths:
        row["values"]["B7"] = NA
        model, condition = row["run"].split("-")
        if model == "masked" or condition == "probe" or row["verdict"] == "FAIL":
            continue
        other = verdicts[f"{model}-probe", row["id"]]
        if other["verdict"] == "FAIL":
            gold, tail = other["script"]
            row["values"]["B7"] = SCRIPT["departure"].get(tail) or SCRIPT["departure"].get(gold, "unclassified")


def main():
    stories = [tomllib.loads((DEMO / f"stories/{name}.toml").read_text()) for name in STORIES]
    entries = {
        category: [
            build_entry(story, scenario, category, 4 * s + v)
            for s, story in enumerate(stories)
            for v, scenario in enumerate(story["scenario"])
        ]
        for category in CATEGORIES
    }
    write_dataset(stories, entries)
    truths, summaries = [], []
    for model in MODELS:
        for condition in CONDITIONS:
            for category in CATEGORIES:
                rows, summary = run_category(entries[category], model, condition, category)
                truths += rows
                summaries.append(summary)
    add_departures(truths)
    for row in truths:
        row["values"] = [row["values"][label] for label in LABELS]
    for name, rows in (("truth.json", truths), ("crosstab.json", summaries)):
        lines = ",\n".join(json.dumps(row) for row in rows)
        (DEMO / name).write_text(f"[\n{lines}\n]\n")
    verdicts = {(row["run"], row["id"]): row["verdict"] for row in truths}
    for model in ("mixed", "calibrated"):
        cells = Counter((v, verdicts[f"{model}-probe", i]) for (run, i), v in verdicts.items() if run == f"{model}-baseline")
        print(model, {f"{a}_to_{b}": count for (a, b), count in sorted(cells.items())})
    for row in summaries:
        print(*(row[k] for k in row if k != "emission_classes"))


if __name__ == "__main__":
    main()
