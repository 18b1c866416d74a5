//! Stopped in the middle, politely and not: what was answered is stored, what was not is asked for later.

use std::process::Child;
use std::time::Duration;

use super::*;

fn slow() -> Server {
    Server::start(|asked| Answer::SayAfter(Duration::from_millis(60), asked.valid().to_string()))
}

/// Starts the program and waits until the server was asked so often.
fn until(server: &Server, at: &Path, arguments: &[&str], asked: usize) -> Child {
    let mut child =
        program(at, arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    for _ in 0..6000 {
        if server.asked().len() >= asked {
            return child;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("killed");
    let _ = child.wait();
    unreachable!("the server was not asked")
}

fn signal(child: &Child, name: &str) {
    let done = Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill runs");
    assert!(done.success());
}

#[cfg(unix)]
#[test]
fn ctrl_c_waits_for_what_is_in_flight_and_the_next_run_goes_on() {
    let folder = project();
    let at = folder.path();
    let cases = cases(at);
    let server = slow();
    let url = server.url();
    let arguments = judge(&url, &["--concurrency", "3"]);
    let child = until(&server, at, &arguments, 7);
    signal(&child, "-INT");
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("waiting for the replies in flight"), "{said}");
    assert!(said.contains("everything that was answered is stored"), "{said}");
    let asked = server.asked().len();
    assert!((7..cases as usize).contains(&asked), "{asked} asked");
    assert_eq!(query(at, "SELECT count(*) FROM judge_replies") as usize, asked, "all in flight came home");
    done(at, &["verify"]);
    let found = json(at, &arguments);
    assert_eq!(count(&found, "/totals/verdicts"), cases);
    assert_eq!(server.asked().len() as u64, cases, "nobody was asked for twice");
}

/// Even kill -9 leaves whole replies only; those that were in flight are asked for again.
#[cfg(unix)]
#[test]
fn a_killed_run_is_gone_on_with() {
    let folder = project();
    let at = folder.path();
    let cases = cases(at);
    let server = slow();
    let url = server.url();
    let arguments = judge(&url, &["--concurrency", "3"]);
    let mut child = until(&server, at, &arguments, 9);
    child.kill().expect("killed");
    child.wait().expect("gone");
    done(at, &["verify"]);
    let halves = "SELECT count(*) FROM judge_replies r WHERE outcome = 'verdict' AND
        (SELECT count(*) FROM judge_answers WHERE reply = r.id) <> 7";
    assert_eq!(query(at, halves), 0);
    let before = query(at, "SELECT count(*) FROM judge_replies") as usize;
    let asked = server.asked().len();
    assert!(before < asked, "{before} stored of {asked}");
    let found = json(at, &arguments);
    assert_eq!(count(&found, "/totals/verdicts"), cases);
    assert_eq!(server.asked().len() - asked, cases as usize - before);
    assert_eq!(query(at, "SELECT count(DISTINCT identity) FROM judge_replies") as u64, cases);
    done(at, &["verify"]);
}

/// A stop between the two askings: the second run asks the second time, with the first answer in the conversation.
#[test]
fn a_reply_that_waits_for_its_second_asking_is_not_asked_from_the_start() {
    let folder = project();
    let at = folder.path();
    let server = Server::start(|asked| match asked.messages() {
        2 => Answer::Say("B1a is 1, I think.".to_owned()),
        _ => Answer::Raw(503, Vec::new(), "gone".to_owned()),
    });
    let url = server.url();
    assert_eq!(run(at, &judge(&url, &["--limit", "1", "--attempts", "1"])).status.code(), Some(74));
    assert_eq!(query(at, "SELECT count(*) FROM judge_replies WHERE outcome = 'again'"), 1);
    let better = sound();
    let url = better.url();
    done(at, &judge(&url, &["--limit", "1"]));
    let asked = better.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].messages(), asked[0].message(2)), (4, "B1a is 1, I think."));
    assert_eq!(query(at, "SELECT count(*) FROM judge_replies WHERE asking = 2 AND outcome = 'verdict'"), 1);
}
