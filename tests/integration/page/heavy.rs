//! Many at once, and death in the middle of saving. Small here; `scripts/prove page` runs them at full size through the
//! two variables.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::{Client, World, world};

fn wanted(variable: &str, small: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(small)
}

/// Saves one answer after the other, each with a rationale of its own; gives those that were acknowledged, and whether
/// one failed.
fn hammer(client: &Client, round: u64, stop: &AtomicBool, saves: &AtomicUsize) -> (Vec<String>, bool) {
    let mut acknowledged = Vec::new();
    let Some(page) = client.raw("GET", "/case/1", &[], b"") else { return (acknowledged, true) };
    let form = page.body.split("data-label=\"B4\"").nth(1).expect("the question");
    let digest = super::value_of(form, "digest");
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let said = format!("round {round} save {number}");
        let value = if number % 2 == 0 { "0" } else { "1" };
        let fields = [("label", "B4"), ("digest", digest.as_str()), ("value", value), ("rationale", said.as_str())];
        match client.try_post("/case/1/answer", &fields) {
            Some(answer) if answer.status == 200 && answer.body.contains("\"saved\"") => {
                acknowledged.push(said);
                saves.fetch_add(1, Ordering::Relaxed);
            }
            Some(answer) if answer.status == 429 => std::thread::sleep(Duration::from_millis(20)),
            _ => return (acknowledged, true),
        }
    }
    (acknowledged, false)
}

fn stored(world: &World, rater: &str) -> std::collections::BTreeSet<String> {
    let sql = world.sql();
    let mut statement = sql.prepare("SELECT rationale FROM ratings WHERE rater = ?").expect("rows");
    let rows = statement.query_map([rater], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("texts")
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are what a proof is for")]
fn what_was_acknowledged_survives_a_kill() {
    let kills = wanted("DUALRATER_KILLS", 3);
    let world = world("mechanism-v3");
    let secrets = [("anna", world.link(&["anna"])), ("ben", world.link(&["ben"]))];
    let mut total = 0;
    for round in 0..kills {
        let served = world.serve();
        let (stop, saves) = (AtomicBool::new(false), AtomicUsize::new(0));
        let acknowledged: Vec<(&str, Vec<String>)> = std::thread::scope(|scope| {
            let workers: Vec<_> = secrets
                .iter()
                .map(|(name, secret)| {
                    let (client, stop, saves) = (served.client(secret), &stop, &saves);
                    (*name, scope.spawn(move || hammer(&client, round, stop, saves)))
                })
                .collect();
            // In the middle of saving, at another moment of a save each time.
            for _ in 0..3000 {
                if saves.load(Ordering::Relaxed) >= 5 {
                    break;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            std::thread::sleep(Duration::from_millis(round * 7 % 50));
            served.kill();
            stop.store(true, Ordering::Relaxed);
            workers.into_iter().map(|(name, worker)| (name, worker.join().expect("joined").0)).collect()
        });
        for (name, said) in acknowledged {
            let stored = stored(&world, name);
            for one in &said {
                assert!(stored.contains(one), "{name}: {one} was acknowledged and is gone");
            }
            total += said.len();
        }
        let report = world.json(&["verify", "--json"].map(|word| word));
        assert!(report["first_broken"].is_null(), "{report}");
    }
    println!("{kills} kills, {total} acknowledged saves, none lost");
    assert!(total as u64 >= 5 * kills, "too little was saved to prove anything: {total}");
}

/// Two raters save as fast as they can while the command line reads, writes and backs up the same file.
#[test]
fn two_raters_and_the_command_line_lose_nothing() {
    let world = world("mechanism-v3");
    let secrets = [("anna", world.link(&["anna"])), ("ben", world.link(&["ben"]))];
    let served = world.serve();
    let (stop, saves) = (AtomicBool::new(false), AtomicUsize::new(0));
    let acknowledged: Vec<(&str, (Vec<String>, bool))> = std::thread::scope(|scope| {
        let workers: Vec<_> = secrets
            .iter()
            .map(|(name, secret)| {
                let (client, stop, saves) = (served.client(secret), &stop, &saves);
                (*name, scope.spawn(move || hammer(&client, 0, stop, saves)))
            })
            .collect();
        for round in 0..6 {
            world.json(&["status", "--batch", "page", "--json", "--kappa"]);
            world.link(&[&format!("guest{round}")]);
            world.run(&["backup", &format!("copy{round}.db")]);
            assert!(world.json(&["verify", "--json"])["first_broken"].is_null());
        }
        stop.store(true, Ordering::Relaxed);
        workers.into_iter().map(|(name, worker)| (name, worker.join().expect("joined"))).collect()
    });
    assert!(!served.kill().contains("locked"));
    for (name, (said, failed)) in acknowledged {
        let stored = stored(&world, name);
        assert!(!failed && said.len() > 10, "{name} saved {}, and then a save failed: {failed}", said.len());
        assert!(said.iter().all(|one| stored.contains(one)), "{name} lost a save");
        let stored = stored.iter().filter(|one| one.starts_with("round")).count();
        assert_eq!(said.len(), stored, "{name}: once each");
    }
}

/// Raters who save every 200 ms: how long a save takes, and that none fails.
#[test]
#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "the test measures time and says what it found")]
fn many_raters_at_once_lose_nothing() {
    let seconds = wanted("DUALRATER_LOAD_SECONDS", 2);
    let world = world("mechanism-v3");
    let raters: Vec<(String, String)> = (0..10)
        .map(|number| {
            let name = format!("rater{number}");
            let secret = world.link(&[&name]);
            (name, secret)
        })
        .collect();
    let served = world.serve();
    let results: Vec<(String, Vec<String>, Vec<Duration>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = raters
            .iter()
            .map(|(name, secret)| {
                let client = served.client(secret);
                scope.spawn(move || {
                    let digests: Vec<String> = (1..=5)
                        .map(|case| client.questions(&format!("/case/{case}")).remove("B4").expect("B4"))
                        .collect();
                    let (mut said, mut times) = (Vec::new(), Vec::new());
                    for number in 0..seconds * 5 {
                        let began = std::time::Instant::now();
                        let text = format!("{name} {number}");
                        let case = usize::try_from(number % 5).expect("small");
                        let fields = [
                            ("label", "B4"),
                            ("digest", digests[case].as_str()),
                            ("value", if number % 2 == 0 { "1" } else { "0" }),
                            ("rationale", text.as_str()),
                        ];
                        let answer = client.post(&format!("/case/{}/answer", case + 1), &fields);
                        assert_eq!(answer.status, 200, "{}", answer.body);
                        times.push(began.elapsed());
                        said.push(text);
                        std::thread::sleep(Duration::from_millis(200).saturating_sub(began.elapsed()));
                    }
                    (name.clone(), said, times)
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("joined")).collect()
    });
    let mut times: Vec<Duration> = Vec::new();
    for (name, said, took) in results {
        let stored = stored(&world, &name);
        assert!(said.iter().all(|text| stored.contains(text)), "{name} lost a save");
        times.extend(took);
    }
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
    println!(
        "{} saves by 10 raters in {seconds} s: median {:.1} ms, p99 {:.1} ms, longest {:.1} ms, no error",
        times.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
    assert!(!served.kill().contains("locked"));
}
