//! Cases of τ²-bench on the page and in the packet: the same rooms, other furniture.

use super::packet::{answers, import};
use super::{World, question};
use crate::tau2::fixture;

/// The writes of our own small run (`tau2/fixture.rs`: five, one of them failed), waiting in batch `page`.
fn writes() -> World {
    let world = World { folder: tempfile::tempdir().expect("temp dir") };
    fixture::save(world.folder.path(), "results.json", &fixture::run());
    world.run(&["ingest", "tau2", "results.json", "--run", "own"]);
    world.run(&[
        "draw",
        "tau2-writes",
        "--rubric",
        "confirm-v1",
        "--batch",
        "page",
        "--seed",
        "s",
        "--bind",
        "run=own",
    ]);
    world
}

/// A start tag that gives an attribute twice: browsers keep the first and drop the other in silence.
pub fn repeated_attribute(html: &str) -> Option<String> {
    html.split('<').skip(1).filter(|tag| tag.starts_with(|c: char| c.is_ascii_lowercase())).find_map(|tag| {
        let (mut names, mut rest) = (Vec::new(), tag);
        loop {
            let end = rest.find(['>', '"'])?;
            let (name, value) = rest.split_at(end);
            if value.starts_with('>') {
                return None;
            }
            let name = name.trim_end_matches('=').rsplit(' ').next().unwrap_or_default();
            if names.contains(&name) {
                return Some(format!("<{} …: {name}", tag.split(' ').next().unwrap_or_default()));
            }
            names.push(name);
            rest = value.get(1..)?.split_once('"')?.1;
        }
    })
}

#[test]
fn repeated_attributes_are_found() {
    assert_eq!(repeated_attribute("<p class=\"a\">x</p><a href=\"/\" class=\"b\" hidden>"), None);
    assert_eq!(
        repeated_attribute("<p>1 < 2</p><div class=\"\" id=\"a\" class=\"b\">").as_deref(),
        Some("<div …: class")
    );
}

#[test]
fn a_write_is_shown_with_its_dialogue_and_rated() {
    let world = writes();
    let anna = world.link(&["anna"]);
    let served = world.serve();
    let anna = served.client(&anna);
    let mut marked = 0;
    for number in 1..=5 {
        let page = anna.get(&format!("/case/{number}")).body;
        assert_eq!(repeated_attribute(&page), None);
        // Of the BFCL facts there are none, and the box is not there either.
        assert!(!page.contains("<dl class=\"facts\"></dl>"));
        assert!(
            page.contains("class=\"said user\"") && page.contains("class=\"said baseline\""),
            "who says what is seen"
        );
        marked += page.matches("class=\"said about\"").count();
    }
    assert_eq!(marked, 5, "each case marks the call that the question is about");
    let state = anna.answer(1, "consent", "1", "listed, then yes").json();
    assert_eq!(question(&state, "consent")["value"], "1");
    assert_eq!(world.events("anna"), 1);
}

#[test]
fn a_packet_of_writes_goes_out_and_comes_back() {
    let world = writes();
    let packet = world.run(&["export", "--batch", "page", "--rater", "carl", "--as", "packet"]);
    assert_eq!(repeated_attribute(packet.split("<script").next().expect("a body")), None);
    let (code, said) = import(&world, &answers(&packet, 5, "0"), &[]);
    assert_eq!((code, world.events("carl")), (Some(0), 5), "{said}");
    let rows = world.json(&["confirm", "--batch", "page", "--rater", "carl", "--json"]);
    assert_eq!(
        serde_json::json!([rows[0]["n"], rows[0]["judged"], rows[0]["gar_pct"]]),
        serde_json::json!([5, 5, 0.0])
    );
}

/// A task's scenario is read as text and not as the JSON that it is stored in.
#[test]
fn what_the_user_is_told_is_text() {
    let world = World { folder: tempfile::tempdir().expect("temp dir") };
    let mut run = fixture::run();
    run["tasks"][1]["user_scenario"] = serde_json::json!({ "persona": null, "instructions": {
        "reason_for_call": "You want a refund.", "task_instructions": "Be brief.\n\nIf the agent asks, say no." } });
    fixture::save(world.folder.path(), "results.json", &run);
    world.run(&["ingest", "tau2", "results.json", "--run", "own"]);
    world.run(&["tau2", "ask-candidates", "--run", "own", "--batch", "page"]);
    let sheet = world.run(&["export", "--batch", "page", "--rater", "anna", "--as", "packet"]);
    let told = "reason for call: You want a refund.\ntask instructions:\nBe brief.\n\nIf the agent asks, say no.";
    assert!(sheet.contains(told) && !sheet.contains("persona"), "{sheet}");
}
