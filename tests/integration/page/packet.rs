//! The packet's way out and back: what it says it is, and what importing its answers does.

use sha2::{Digest as _, Sha256};

use super::{World, world};

/// An attribute of the packet's body or of a case.
fn attribute<'h>(html: &'h str, name: &str) -> &'h str {
    html.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next()).expect("the attribute")
}

/// The answers file as the packet's script writes it.
pub fn answers(packet: &str, count: usize, value: &str) -> String {
    let batch = attribute(packet, "data-batch");
    packet
        .split("<div class=\"split packet-case\"")
        .skip(1)
        .take(count)
        .map(|case| {
            let labels: serde_json::Map<String, serde_json::Value> = case
                .split("<form class=\"question")
                .skip(1)
                .map(|form| {
                    let label = attribute(form, "data-label").to_owned();
                    let value = match label.as_str() {
                        "B6" => "n.a.",
                        "B7" => "unclassified",
                        _ => value,
                    };
                    (label, serde_json::json!({ "value": value, "rationale": "read offline" }))
                })
                .collect();
            let line = serde_json::json!({
                "batch": batch, "rubric": attribute(packet, "data-rubric"),
                "rubric_digest": attribute(packet, "data-rubric-digest"), "rater": attribute(packet, "data-rater"),
                "case": attribute(case, "data-case"), "case_digest": attribute(case, "data-digest"), "labels": labels,
                "seconds": 90, "known": false, "flag": "odd", "chain_head": attribute(packet, "data-head"),
            });
            format!("{line}\n")
        })
        .collect()
}

pub fn import(world: &World, text: &str, more: &[&str]) -> (Option<i32>, String) {
    std::fs::write(world.folder.path().join("answers.jsonl"), text).expect("written");
    let done = world.try_run(&[&["import", "answers.jsonl"], more].concat());
    let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    (done.status.code(), said)
}

#[test]
fn answers_come_back_in_parts_and_once() {
    let world = world("mechanism-v3");
    let packet = world.run(&["export", "--batch", "page", "--rater", "carl", "--as", "packet"]);
    let part = answers(&packet, 3, "1");
    let (code, said) = import(&world, &part, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("carl has answered 3 of 31 cases"), "{said}");
    let stored = world.events("carl");
    let (code, said) = import(&world, &part, &[]);
    assert_eq!((code, world.events("carl")), (Some(0), stored), "{said}");
    let status = world.json(&["status", "--batch", "page", "--json"]);
    assert_eq!((&status["raters"][0]["done"], &status["raters"][0]["median_seconds"]), (&3.into(), &90.into()));
    assert_eq!(status["raters"][0]["marks"][0][1]["flag"], "odd");
    let (_, said) = import(&world, &answers(&packet, 5, "1"), &[]);
    assert!(said.contains("carl has answered 5 of 31 cases"), "more answers are added: {said}");
    // A changed answer is a conflict that is shown, and taken only with leave.
    let (code, said) = import(&world, &answers(&packet, 1, "0"), &[]);
    assert_eq!(code, Some(1));
    assert!(said.contains("B1a is 0 here, but stored with 1"), "{said}");
    let (code, said) = import(&world, &answers(&packet, 1, "0"), &["--revise"]);
    assert_eq!(code, Some(0), "{said}");
    // Exported again, the packet holds what is stored.
    let again = world.run(&["export", "--batch", "page", "--rater", "carl", "--as", "packet"]);
    assert!(again.contains("read offline") && again.matches(" checked").count() >= 20);
}

#[test]
fn answers_to_something_else_are_refused() {
    let world = world("mechanism-v3");
    let packet = world.run(&["export", "--batch", "page", "--rater", "carl", "--as", "packet"]);
    let sound = answers(&packet, 2, "1");
    let digest = attribute(&packet, "data-rubric-digest");
    let case = attribute(packet.split("packet-case\"").nth(1).expect("a case"), "data-digest");
    for (from, to, why) in [
        (digest, &"0".repeat(64), "rubric digest"),
        (case, &"0".repeat(64), "another state of the case"),
        ("\"rater\":\"carl\"", &"\"rater\":\"dora\"".to_owned(), "does not rate batch"),
        ("\"batch\":\"page\"", &"\"batch\":\"demo\"".to_owned(), "does not rate batch"),
    ] {
        let (code, said) = import(&world, &sound.replace(from, to), &[]);
        assert_ne!(code, Some(0), "{why}");
        assert!(said.contains(why), "{why}: {said}");
    }
    assert_eq!(world.events("carl"), 0);
    // With --partial the sound line is taken.
    let (code, said) = import(&world, &sound.replace(case, &"0".repeat(64)), &["--partial"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("carl has answered 1 of 31 cases"), "{said}");
}

/// The policy allows exactly the one script and the one style that are in the file.
#[test]
fn the_packets_policy_names_its_own_script_and_style() {
    let world = world("mechanism-v3");
    let packet = world.run(&["export", "--batch", "page", "--rater", "carl", "--as", "packet"]);
    let policy = packet
        .split("http-equiv=\"Content-Security-Policy\" content=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let policy = policy.expect("a policy").replace("&#39;", "'");
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{policy}");
    for (open, close, directive) in [("<script>", "</script>", "script-src"), ("<style>", "</style>", "style-src")] {
        let inside = packet.split(open).nth(1).and_then(|rest| rest.split(close).next()).expect("inside");
        let digest = Sha256::digest(inside.as_bytes());
        // The last part of a SHA-256 in base64 has one padding sign; compare by decoding what the policy says.
        let said = policy
            .split(&format!("{directive} 'sha256-"))
            .nth(1)
            .and_then(|rest| rest.split('\'').next())
            .expect("a digest");
        assert_eq!(decode(said), digest.to_vec(), "{directive}");
    }
}

fn decode(text: &str) -> Vec<u8> {
    let digit = |c: u8| -> u32 {
        match c {
            b'A'..=b'Z' => u32::from(c - b'A'),
            b'a'..=b'z' => u32::from(c - b'a') + 26,
            b'0'..=b'9' => u32::from(c - b'0') + 52,
            b'+' => 62,
            b'/' => 63,
            _ => u32::MAX,
        }
    };
    let digits: Vec<u32> = text.trim_end_matches('=').bytes().map(digit).collect();
    assert!(digits.iter().all(|digit| *digit < 64), "no base64: {text}");
    let bits: String = digits.iter().map(|digit| format!("{digit:06b}")).collect();
    bits.as_bytes().chunks_exact(8).map(|byte| byte.iter().fold(0, |sum, bit| sum * 2 + (bit - b'0'))).collect()
}

/// Somebody who rewrites a row and every link after it fools `verify`, but not the head that a packet carries.
#[test]
fn the_head_in_a_packet_finds_a_rewritten_chain() {
    let world = world("mechanism-v3");
    let first = world.run(&["export", "--batch", "page", "--rater", "carl", "--as", "packet"]);
    import(&world, &answers(&first, 3, "1"), &[]);
    let packet = world.run(&["export", "--batch", "page", "--rater", "carl", "--as", "packet"]);
    let head = attribute(&packet, "data-head").to_owned();
    assert!(world.try_run(&["verify", "--head", &head]).status.success());
    let sql = world.sql();
    sql.execute_batch("DROP TRIGGER ratings_keep").expect("dropped");
    sql.execute("UPDATE ratings SET value = '0' WHERE rater = 'carl' AND label = 'B4' AND id = (SELECT max(id) FROM ratings WHERE rater = 'carl' AND label = 'B4')", [])
        .expect("edited");
    assert_eq!(world.try_run(&["verify"]).status.code(), Some(5), "an edited row shows by itself");
    // Now every link is made anew, by the written rule.
    let mut statement = sql
        .prepare("SELECT id, CAST(batch AS TEXT), act, identity, label, rater, value, CAST(correct AS TEXT), rationale, rubric_digest, case_digest, source, rated_at FROM ratings ORDER BY id")
        .expect("rows");
    let rows: Vec<(i64, Vec<Option<String>>)> = statement
        .query_map([], |row| Ok((row.get(0)?, (1..13).map(|column| row.get(column)).collect::<Result<_, _>>()?)))
        .expect("rows")
        .collect::<Result<_, _>>()
        .expect("rows");
    let mut link = dualrater::digest::CHAIN_START.to_owned();
    for (id, fields) in rows {
        let fields: Vec<Option<&str>> = fields.iter().map(Option::as_deref).collect();
        let next = dualrater::digest::chain_next(&link, &fields);
        sql.execute("UPDATE ratings SET previous = ?, link = ? WHERE id = ?", rusqlite::params![link, next, id])
            .expect("rewritten");
        link = next;
    }
    assert!(world.try_run(&["verify"]).status.success(), "the rewritten chain is whole in itself");
    let found = world.try_run(&["verify", "--head", &head]);
    assert_eq!(found.status.code(), Some(5), "the packet's head finds it");
    let (_, said) = import(&world, &answers(&packet, 4, "1"), &["--partial"]);
    assert!(said.contains("not part of this database's chain"), "{said}");
}
