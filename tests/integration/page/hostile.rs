//! Model output that tries to act: none of it does, on the page and in the packet.

use super::world;

const CORPUS: [&str; 16] = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "' autofocus onfocus=alert(1) x='",
    "<a href=\"javascript:alert(1)\">click</a>",
    "</textarea><script>alert(1)</script>",
    "</title></style></template><iframe src=//evil.example></iframe>",
    "<!--<script>",
    "]]><base href=//evil.example>",
    "\u{202e}desrever\u{202c}\u{2066}x",
    "zero\u{200b}width\u{feff}\u{e0041}",
    "\u{1b}[2J\u{7}\u{0}",
    "<think><script>alert(1)</script>",
    "[cd(folder='</div><script>alert(1)</script>')]",
    "&lt;script&gt; &#60;script&#62; {{7*7}} ${7*7} <%= 7 %>",
];

/// Bytes that a browser would take for markup of ours.
fn assert_inert(what: &str, html: &str, scripts: usize) {
    assert_eq!(html.matches("<script").count(), scripts, "{what}: scripts");
    let lower = html.to_lowercase();
    for tag in
        ["<img", "<svg", "<iframe", "<base", "<object", "<a href=\"javascript", "<template", "<!--", "</textarea><"]
    {
        let ours = if tag == "</textarea><" { "</textarea><p class=\"state\"" } else { "\u{0}" };
        assert_eq!(lower.matches(tag).count(), lower.matches(ours).count(), "{what}: {tag}");
    }
    for handler in [" onerror=\"", " onload=\"", " onfocus=\"", " onerror=alert(1)>"] {
        assert!(!html.contains(handler), "{what}: {handler}");
    }
    for c in ['\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}', '\u{e0041}', '\u{1b}', '\u{0}'] {
        assert!(!html.contains(c), "{what}: {c:?}");
    }
}

#[test]
fn hostile_emissions_are_read_and_not_run() {
    let world = world("mechanism-v3");
    let secret = world.link(&["anna"]);
    let sql = world.sql();
    let keys: Vec<(i64, i64, i64)> = {
        let mut statement = sql.prepare("SELECT case_row, turn, step FROM emissions").expect("emissions");
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).expect("rows");
        rows.collect::<Result<_, _>>().expect("keys")
    };
    sql.execute_batch("BEGIN").expect("begin");
    for (index, (case, turn, step)) in keys.into_iter().enumerate() {
        let text = CORPUS[index % CORPUS.len()];
        // As text, as a call with hostile name and arguments, and as a call inside tags.
        let raw = match index % 3 {
            0 => serde_json::json!(text).to_string(),
            1 => serde_json::json!([{ text: serde_json::json!({ text: text }).to_string() }]).to_string(),
            _ => serde_json::json!(format!(
                "{text}<tool_call>{}</tool_call>",
                serde_json::json!({"name": text, "arguments": {text: text}})
            ))
            .to_string(),
        };
        sql.execute(
            "UPDATE emissions SET raw = ? WHERE case_row = ? AND turn = ? AND step = ?",
            rusqlite::params![raw, case, turn, step],
        )
        .expect("planted");
    }
    sql.execute("UPDATE failures SET error_message = ?, detail = ?", [CORPUS[1], CORPUS[7]]).expect("planted");
    sql.execute_batch("COMMIT").expect("commit");
    let served = world.serve();
    let anna = served.client(&secret);
    for number in 1..=31 {
        assert_inert(&format!("case {number}"), &anna.get(&format!("/case/{number}")).body, 1);
    }
    assert!(anna.get("/case/1").body.contains("&lt;script&gt;alert(1)"), "it can still be read");
    // What a rater types comes back as text, on the pages and in messages.
    for text in CORPUS {
        let state = anna.answer(1, "B4", "1", text);
        assert_eq!(state.header("content-type"), Some("application/json"));
    }
    anna.answer(1, "B1b", CORPUS[1], "").json();
    anna.post("/case/1/marks", &[("flag", "1"), ("note", CORPUS[1])]).json();
    for path in ["/case/1", "/cases"] {
        let html = anna.get(path).body;
        assert_eq!(html.matches("<script").count(), 1, "{path}");
    }
    let head = "<!DOCTYPE html>";
    let packet = world.run(&["export", "--batch", "page", "--rater", "anna", "--as", "packet"]);
    assert!(packet.starts_with(head));
    assert_eq!(packet.matches("<script").count(), 1, "one script, ours");
    assert_eq!(packet.matches("</script").count(), 1);
    for foreign in ["http://", "https://", "//evil.example\"", "<iframe", "<img", "javascript:alert(1)\">"] {
        assert!(!packet.contains(foreign), "the packet holds {foreign}");
    }
}

/// A rater's words reach the adjudicator and the owner: there they are text too.
#[test]
fn hostile_rationales_and_notes_are_read_and_not_run() {
    let world = world("mechanism-v3");
    let (anna, ben) = (world.link(&["anna"]), world.link(&["ben"]));
    let (judge, owner) = (world.link(&["judge", "--role", "adjudicator"]), world.link(&["--owner"]));
    let served = world.serve();
    let (anna, ben) = (served.client(&anna), served.client(&ben));
    let text = CORPUS.join("\n");
    let case = anna.get("/case/1").body;
    let case = case.split("class=\"identity\"><code>").nth(1).and_then(|rest| rest.split('<').next()).expect("a name");
    // Ben's order is another: the same case by its name.
    let place =
        (1..=31).find(|number| ben.get(&format!("/case/{number}")).body.contains(&format!("<code>{case}</code>")));
    for (rater, number, value) in [(&anna, 1, "1"), (&ben, place.expect("the case"), "0")] {
        for (label, _) in rater.questions(&format!("/case/{number}")) {
            let value = match label.as_str() {
                "B6" => "n.a.",
                "B7" => "unclassified",
                _ => value,
            };
            rater.answer(number, &label, value, &text);
        }
        rater.post(&format!("/case/{number}/marks"), &[("flag", "1"), ("note", &text)]).json();
    }
    let judge = served.client(&judge);
    let list = judge.get("/rulings").body;
    let ruling = list.split("href=\"/ruling/").nth(1).and_then(|rest| rest.split('"').next()).expect("a ruling");
    for (what, html) in
        [("ruling", judge.get(&format!("/ruling/{ruling}")).body), ("owner", served.client(&owner).get("/owner").body)]
    {
        assert!(html.contains("&lt;script&gt;alert(1)"), "{what} shows the words");
        assert_inert(what, &html, 1);
    }
    // In the field where it was typed it comes back as it was typed, but as text.
    let own = anna.get("/case/1").body;
    assert!(own.contains("&lt;/textarea&gt;") && own.matches("<script").count() == 1);
}
