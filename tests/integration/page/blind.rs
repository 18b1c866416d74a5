//! What each role can reach: every page is crawled for values that must not be there.

use std::collections::{BTreeMap, BTreeSet};

use super::tau2::repeated_attribute;
use super::{Client, World, world};

const ANNA: &str = "SENTINEL-ANNA";
const BEN: &str = "SENTINEL-BEN";
const RULING: &str = "SENTINEL-RULING";
const CLASS: &str = "SENTINEL-CLASS";

/// Every page that can be reached from the start by links, with forms that are sent by GET; and what answers to posts say.
fn crawl(client: &Client) -> BTreeMap<String, String> {
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    let mut waiting: Vec<String> =
        ["/", "/cases", "/rubric", "/owner", "/rulings", "/jump?to=3", "/page.js"].map(str::to_owned).to_vec();
    let mut seen: BTreeSet<String> = waiting.iter().cloned().collect();
    while let Some(path) = waiting.pop() {
        let mut answer = client.get(&path);
        while answer.status == 429 {
            std::thread::sleep(std::time::Duration::from_millis(60));
            answer = client.get(&path);
        }
        let mut links: Vec<String> = answer.header("location").map(str::to_owned).into_iter().collect();
        for mark in ["href=\"", "data-next=\"", "data-prev=\"", "data-open=\""] {
            links.extend(answer.body.split(mark).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned));
        }
        if path != "/page.js" {
            assert_eq!(repeated_attribute(&answer.body), None, "{path}");
        }
        let everything = format!("{:?}\n{}", answer.headers, answer.body);
        pages.insert(path, everything);
        for link in links {
            let link = link.split('#').next().unwrap_or_default().to_owned();
            if link.starts_with('/') && seen.insert(link.clone()) {
                waiting.push(link);
            }
        }
    }
    for number in [1, 2, 31] {
        for (path, fields) in [
            (format!("/case/{number}/marks"), vec![("known", "1")]),
            (format!("/case/{number}/draft"), vec![("label", "B4"), ("rationale", "hm")]),
            (format!("/case/{number}/time"), vec![("visit", "abcdefgh"), ("seconds", "3")]),
        ] {
            pages.insert(path.clone(), client.post(&path, &fields).body);
        }
    }
    pages.insert("POST /undo".to_owned(), client.post("/undo", &[]).body);
    pages
}

fn assert_free(role: &str, pages: &BTreeMap<String, String>, foreign: &[&str]) {
    for (path, body) in pages {
        for word in foreign {
            assert!(!body.contains(word), "{role} finds {word} at {path}");
        }
    }
}

fn has(pages: &BTreeMap<String, String>, word: &str) -> bool {
    pages.values().any(|body| body.contains(word))
}

fn cases(world: &World) -> usize {
    usize::try_from(world.json(&["status", "--batch", "page", "--json"])["cases"].as_u64().expect("a count"))
        .expect("small")
}

#[test]
fn no_role_reaches_what_is_not_theirs() {
    let world = world("mechanism-v3");
    let (anna, ben) = (world.link(&["rater-anna"]), world.link(&["rater-ben"]));
    let judge = world.link(&["the-judge", "--role", "adjudicator"]);
    let owner = world.link(&["--owner"]);
    // What the automatic metric says of an emission, made recognisable.
    world.sql().execute_batch(&format!("UPDATE emissions SET class = '{CLASS}', cue = '{CLASS}'")).expect("planted");
    let count = cases(&world);
    let served = world.serve();
    let (anna, ben) = (served.client(&anna), served.client(&ben));
    let (judge, owner) = (served.client(&judge), served.client(&owner));
    anna.finish(count, "1", ANNA);

    // One rater is done, the other is not: nothing is up for adjudication.
    let early = crawl(&judge);
    assert_free("the adjudicator before both are done", &early, &[ANNA, BEN, "rater-anna", "rater-ben", CLASS]);

    for number in 1..=count / 2 {
        for (label, digest) in ben.questions(&format!("/case/{number}")) {
            let value = match label.as_str() {
                "B6" => "n.a.",
                "B7" => "unclassified",
                _ => "0",
            };
            let fields = [("label", label.as_str()), ("digest", &digest), ("value", value), ("rationale", BEN)];
            let mut answer = ben.post(&format!("/case/{number}/answer"), &fields);
            while answer.status == 429 {
                std::thread::sleep(std::time::Duration::from_millis(50));
                answer = ben.post(&format!("/case/{number}/answer"), &fields);
            }
        }
    }
    let rulings = crawl(&judge);
    let ruling = rulings.keys().find(|path| path.starts_with("/ruling/")).expect("something to rule on").clone();
    assert!(has(&rulings, ANNA) && has(&rulings, BEN), "the adjudicator sees both rationales");
    assert_free("the adjudicator", &rulings, &["rater-anna", "rater-ben", CLASS, "kappa", "Agreement so far"]);
    let waiting = world.json(&["status", "--batch", "page", "--json"])["adjudication"]["waiting"].as_u64();
    assert!(waiting.is_some_and(|waiting| waiting >= (count - count / 2) as u64), "{waiting:?}");

    // The adjudicator rules with a note of its own.
    let (label, digest) = judge.questions(&ruling).into_iter().next().expect("an item");
    let state = judge.post(
        &format!("{ruling}/answer"),
        &[("label", &label), ("digest", &digest), ("value", "0"), ("rationale", RULING)],
    );
    assert_eq!(super::question(&state.json(), &label)["state"], "saved");

    let pages = crawl(&anna);
    assert!(has(&pages, ANNA) && pages.keys().filter(|path| path.starts_with("/case/")).count() >= count);
    assert_free("anna", &pages, &[BEN, RULING, CLASS, "rater-ben", "the-judge", "kappa", "Agreement so far"]);
    let pages = crawl(&ben);
    assert!(has(&pages, BEN));
    assert_free("ben", &pages, &[ANNA, RULING, CLASS, "rater-anna", "the-judge", "kappa", "Agreement so far"]);
    for path in ["/owner", "/rulings", &ruling] {
        assert_eq!(anna.get(path).status, 404, "{path}");
    }
    assert_eq!(anna.post(&format!("{ruling}/answer"), &[("label", &label), ("value", "1")]).status, 404);
    for path in ["/case/1", "/cases", "/rubric", "/owner"] {
        assert_eq!(judge.get(path).status, 404, "{path}");
    }
    assert_eq!(judge.post("/case/1/answer", &[("label", "B4"), ("value", "1")]).status, 404);
    let pages = crawl(&owner);
    assert!(has(&pages, "Agreement so far") && has(&pages, "rater-anna"));
    for path in ["/case/1", "/cases", "/rulings"] {
        assert_eq!(owner.get(path).status, 404, "{path}");
    }
    assert!(!has(&pages, ANNA), "the owner's page counts and does not quote");
    // The packet is as blind as the page.
    let packet = world.run(&["export", "--batch", "page", "--rater", "rater-ben", "--as", "packet"]);
    for word in [ANNA, RULING, CLASS, "rater-anna", "the-judge"] {
        assert!(!packet.contains(word), "the packet holds {word}");
    }
}

/// The rater's code cannot name what reaches other people's answers.
#[test]
fn the_raters_code_names_no_source_of_other_answers() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/serve");
    let files =
        ["rater.rs", "rater_pages.rs", "sheet.rs", "room.rs", "save.rs", "look/case.rs", "look/form.rs", "packet.rs"];
    for file in files {
        let text = std::fs::read_to_string(folder.join(file)).expect("source");
        for word in ["Desk", ".audit(", ".history(", "adjudication", "agree::", "gar::", "status::status"] {
            assert!(!text.contains(word), "src/serve/{file} names {word}");
        }
    }
}
