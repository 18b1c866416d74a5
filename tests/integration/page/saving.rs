//! Answers, drafts, undo, times: what is stored, and that it is stored once.

use super::{question, world};

#[test]
fn the_same_answer_twice_is_one_event_and_a_change_is_another() {
    let world = world("mechanism-v3");
    let secret = world.link(&["anna"]);
    let served = world.serve();
    let anna = served.client(&secret);
    assert_eq!(question(&anna.answer(1, "B4", "1", "turn 0").json(), "B4")["state"], "saved");
    let after_first = world.events("anna");
    // A double submit, at the same time and later.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(anna.answer(1, "B4", "1", "turn 0").status, 200));
        }
    });
    assert_eq!(world.events("anna"), after_first);
    anna.answer(1, "B4", "0", "turn 0 again").json();
    assert_eq!(world.events("anna"), after_first + 1);
    let case = world
        .sql()
        .query_row("SELECT identity FROM ratings WHERE rater = 'anna' LIMIT 1", [], |row| row.get::<_, String>(0));
    let history = world.run(&["history", &case.expect("a case")]);
    assert!(history.contains("turn 0 again") && history.matches("B4").count() >= 2, "{history}");
}

#[test]
fn drafts_are_no_ratings_and_outlive_the_page() {
    let world = world("mechanism-v3");
    let secret = world.link(&["anna"]);
    let served = world.serve();
    let anna = served.client(&secret);
    let state = anna.post("/case/2/draft", &[("label", "B4"), ("rationale", "half a thought\r\nin two lines")]).json();
    assert_eq!(question(&state, "B4")["state"], "draft");
    assert_eq!(world.events("anna"), 0);
    assert!(anna.get("/case/2").body.contains("half a thought\nin two lines"));
    let state = anna.answer(2, "B4", "1", "a whole thought").json();
    assert_eq!((&question(&state, "B4")["state"], &question(&state, "B4")["value"]), (&"saved".into(), &"1".into()));
    assert_eq!(world.sql().query_row("SELECT count(*) FROM drafts", [], |row| row.get::<_, i64>(0)), Ok(0));
}

#[test]
fn contradicting_answers_wait_as_drafts_until_both_fit() {
    let world = world("mechanism-v3");
    let secret = world.link(&["anna"]);
    let served = world.serve();
    let anna = served.client(&secret);
    anna.answer(1, "B1b", "0", "").json();
    let state = anna.answer(1, "B1a", "1", "").json();
    assert_eq!(question(&state, "B1a")["state"], "draft");
    assert_eq!(question(&state, "B1a")["level"], "refused");
    assert!(question(&state, "B1a")["message"].as_str().is_some_and(|text| text.contains("B1b is 0 although B1a = 1")));
    assert!(anna.get("/case/1").body.contains("Not taken: B1b is 0"), "the page says it again");
    let state = anna.answer(1, "B1b", "1", "").json();
    for label in ["B1a", "B1b"] {
        assert_eq!(question(&state, label)["state"], "saved");
    }
    // What is not an answer is refused by the same check as an imported file's.
    let state = anna.answer(1, "B4", "7", "").json();
    assert!(
        question(&state, "B4")["message"].as_str().is_some_and(|text| text.contains("is no answer to B4")),
        "{state}"
    );
}

#[test]
fn undo_goes_back_step_by_step_and_takes_what_followed_with_it() {
    let world = world("mechanism-v3");
    let secret = world.link(&["anna"]);
    let served = world.serve();
    let anna = served.client(&secret);
    anna.answer(1, "B1a", "0", "first").json();
    let derived = anna.answer(1, "B1a", "1", "second").json();
    assert_eq!(question(&derived, "B5")["value"], "0", "B5 follows");
    assert_eq!(anna.post("/undo", &[]).json()["go"], "/case/1#q-B1a");
    let state = anna.post("/case/1/time", &[]).json();
    assert_eq!(
        (&question(&state, "B1a")["value"], &question(&state, "B1a")["rationale"]),
        (&"0".into(), &"first".into())
    );
    assert_eq!(anna.post("/undo", &[]).status, 200);
    let state = anna.post("/case/1/time", &[]).json();
    for label in ["B1a", "B5"] {
        assert_eq!(question(&state, label)["value"], "", "{label} was taken back");
    }
    assert_eq!(anna.post("/undo", &[]).status, 409, "nothing is left to undo");
    let status = world.json(&["status", "--batch", "page", "--json"]);
    assert_eq!((&status["raters"][0]["done"], &status["raters"][0]["begun"]), (&0.into(), &0.into()));
    assert_eq!(world.json(&["raters", "--batch", "page", "--json"])[0]["cases_rated"], 0);
    assert!(world.try_run(&["verify"]).status.success());
}

#[test]
fn times_marks_and_progress_add_up() {
    let world = world("mechanism-v3");
    let secret = world.link(&["anna"]);
    let served = world.serve();
    let anna = served.client(&secret);
    for (visit, seconds) in
        [("visitone", "40"), ("visitone", "30"), ("visitone", "50"), ("visittwo", "10"), ("no", "999")]
    {
        anna.post("/case/1/time", &[("visit", visit), ("seconds", seconds)]).json();
    }
    for (label, _) in anna.questions("/case/1") {
        let value = if label == "B6" { "n.a." } else { "1" };
        anna.answer(1, &label, value, "seen").json();
    }
    anna.post("/case/3/marks", &[("flag", "1"), ("note", "odd")]).json();
    anna.post("/case/4/marks", &[("known", "1")]).json();
    let status = world.json(&["status", "--batch", "page", "--json"]);
    let row = &status["raters"][0];
    assert_eq!((&row["done"], &row["left"], &row["median_seconds"]), (&1.into(), &30.into(), &60.into()), "{row}");
    assert_eq!(row["marks"].as_array().map(Vec::len), Some(2));
    assert!(status.get("agreement").is_none(), "agreement is for the owner: --kappa");
    world.link(&["ben"]);
    assert!(world.json(&["status", "--batch", "page", "--json", "--kappa"]).get("agreement").is_some());
    let list = anna.get("/cases?only=flagged").body;
    assert!(list.contains("flagged: odd") && list.matches("<tr>").count() == 2, "{list}");
    assert!(anna.get("/case/2").body.contains("1</span> of <span class=\"total\">31</span> done"));
    anna.post("/case/3/marks", &[]).json();
    assert_eq!(
        world.json(&["status", "--batch", "page", "--json"])["raters"][0]["marks"].as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn a_page_of_another_state_of_the_case_saves_nothing() {
    let world = world("mechanism-v3");
    let secret = world.link(&["anna"]);
    let served = world.serve();
    let anna = served.client(&secret);
    let state =
        anna.post("/case/1/answer", &[("label", "B4"), ("digest", "beef"), ("value", "1"), ("rationale", "")]).json();
    assert_eq!(question(&state, "B4")["state"], "draft");
    assert_eq!(world.events("anna"), 0);
}
