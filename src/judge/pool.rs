//! A bounded number of threads that ask, and one that hands out and stores. Work in flight is bounded too, so memory does not
//! grow with the batch, and a stop loses nothing that was answered.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, sync_channel};

use super::ask::{Failure, FailureKind, Job, Judge, Judged};

/// Works through the jobs that `next` gives, `concurrency` at a time, and gives what came of them to `done`, in groups, in
/// the order in which they were answered. Both are called on this thread. Ends when `next` has no more, when the judge is
/// told to stop, when the server refuses for good, or when several cases in a row could not be asked; what is in flight is
/// then waited for and still given to `done`.
///
/// # Errors
/// What `next` or `done` return.
pub fn run<E>(
    judge: &Judge<'_>,
    concurrency: usize,
    mut next: impl FnMut() -> Result<Option<Job>, E>,
    mut done: impl FnMut(Vec<Judged>) -> Result<(), E>,
) -> Result<(), E> {
    let concurrency = concurrency.max(1);
    let given_up = AtomicBool::new(false);
    let (jobs, taken) = sync_channel::<Job>(concurrency * 2);
    let taken = Mutex::new(taken);
    let (taken, given_up) = (&taken, &given_up);
    std::thread::scope(|scope| {
        let (results, answered) = channel();
        for _ in 0..concurrency {
            let results = results.clone();
            scope.spawn(move || {
                loop {
                    let job = match taken.lock() {
                        Ok(jobs) => jobs.recv(),
                        Err(_) => return,
                    };
                    let Ok(job) = job else { return };
                    let judged = if given_up.load(Ordering::Relaxed) { not_asked(&job) } else { judge.judge(&job) };
                    if results.send(judged).is_err() {
                        return;
                    }
                }
            });
        }
        drop(results);
        let mut in_flight = 0_usize;
        let mut more = true;
        let mut failures_in_a_row = 0_usize;
        let mut failed = None;
        loop {
            while more && in_flight < concurrency * 2 && !given_up.load(Ordering::Relaxed) {
                if judge.stop.load(Ordering::Relaxed) {
                    more = false;
                    break;
                }
                match next() {
                    Ok(Some(job)) => {
                        if jobs.send(job).is_err() {
                            more = false;
                            break;
                        }
                        in_flight += 1;
                    }
                    Ok(None) => more = false,
                    Err(error) => {
                        failed.get_or_insert(error);
                        given_up.store(true, Ordering::Relaxed);
                    }
                }
            }
            if in_flight == 0 {
                break;
            }
            let Ok(first) = answered.recv() else { break };
            let mut group = vec![first];
            group.extend(answered.try_iter().take(63));
            in_flight -= group.len();
            for judged in &group {
                match &judged.failure {
                    None => failures_in_a_row = 0,
                    Some(Failure { kind: FailureKind::Never, .. }) => given_up.store(true, Ordering::Relaxed),
                    Some(Failure { kind: FailureKind::GaveUp, .. }) => failures_in_a_row += 1,
                    Some(_) => {}
                }
            }
            if failures_in_a_row > concurrency.max(3) {
                given_up.store(true, Ordering::Relaxed);
            }
            if failed.is_none()
                && let Err(error) = done(group)
            {
                failed = Some(error);
                given_up.store(true, Ordering::Relaxed);
            }
        }
        drop(jobs);
        failed.map_or(Ok(()), Err)
    })
}

fn not_asked(job: &Job) -> Judged {
    Judged {
        case: job.case.view.case.clone(),
        pass: job.pass,
        replies: Vec::new(),
        failure: Some(Failure { kind: FailureKind::Stopped, message: "not asked any more".to_owned() }),
    }
}
