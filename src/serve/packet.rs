//! The offline packet: one HTML file with cases, questions and the page's own style and script. It needs no network and
//! no server; answers stay in the browser's storage until they are saved as a file for `dualrater import`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use maud::html;
use sha2::{Digest as _, Sha256};

use super::look::{self, Assets, Page, Questions, SCRIPT, STYLE};
use super::rater_pages::rationale_word;
use crate::rate::{Meta, RaterCase, visible};
use crate::rubric::Rubric;
use crate::store::Marks;

/// The packet of one rater. `head`: the chain's head at the time of writing, which the answers file carries back.
#[must_use]
pub fn packet(meta: &Meta, rubric: &Rubric, cases: &[RaterCase], head: &str) -> String {
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        base64(&Sha256::digest(SCRIPT.as_bytes())),
        base64(&Sha256::digest(STYLE.as_bytes()))
    );
    let (drafts, messages, marks) = (BTreeMap::new(), BTreeMap::new(), Marks::default());
    let total = cases.len();
    let main = html! {
        noscript { p.warning { "This file needs JavaScript, which your browser has turned off: without it the cases can be read, but no answer can be kept." } }
        p.warning id="storage-warning" hidden { "This browser keeps nothing for files like this one. Save your answers to a file before you close the page, and load them again when you go on." }
        article.text-page.packet-start id="start" {
            h1 { (rubric.title) }
            p { "Packet of " strong { (meta.rater) } " for batch " strong { (meta.batch) } ": " (total) " cases. Answers stay in this browser until you save them to a file; send that file back. You can save as often as you like." }
            (look::advice(rubric))
            p.small { "Rubric " code { (meta.rubric_digest) } br; "Chain head " code { (head) } }
            p { button.main id="begin" type="button" { "Begin" } }
        }
        @for (index, case) in cases.iter().enumerate() {
            @let number = index + 1;
            @let prefix = format!("c{number}-");
            div.split.packet-case id={ (prefix) "sheet" } data-number=(number) data-case=(case.view.case) data-digest=(case.digest) {
                section.case aria-labelledby={ (prefix) "title" } tabindex="-1" id={ (prefix) "case" } {
                    h1 id={ (prefix) "title" } { "Case " (number) span.of { " of " (total) } }
                    p.identity { code { (visible(case.view.case.as_str())) } }
                    (look::case(&case.view, &prefix))
                }
                section.questions aria-labelledby={ (prefix) "questions-title" } id={ (prefix) "questions" } {
                    h2 id={ (prefix) "questions-title" } { "Questions" }
                    (look::questions(&Questions { rubric, case, drafts: &drafts, messages: &messages, marks: &marks, action: None, prefix: &prefix }))
                    nav.steps aria-label="Previous and next case" {
                        button type="button" data-do="prev" { "‹ Previous" }
                        button type="button" data-do="undo" { "Undo" }
                        button type="button" data-do="next" { "Next ›" }
                    }
                    p.announce role="status" {}
                }
            }
        }
        nav.places aria-label="Parts of the page" { a href="#" data-place="case" { "Case" } a href="#" data-place="questions" { "Questions" } }
    };
    let bar = html! {
        strong.name { (meta.batch) } " " span.whose { (meta.rater) }
        (look::progress(0, total, None))
        nav aria-label="Cases" {
            select id="jump" aria-label="Go to case" { option value="0" { "Rubric" } @for number in 1..=total { option value=(number) { (number) } } }
            select id="only" aria-label="Which cases" { option value="all" { "All" } option value="unrated" { "Not done" } option value="flagged" { "Flagged" } }
            button.main type="button" id="save-file" { "Save answers" }
            label.file { "Load answers" input type="file" id="load-file" accept=".jsonl,.json,.txt"; }
        }
        (look::keys(true))
    };
    look::document(&Page {
        title: &format!("{} · {}", meta.batch, meta.rater),
        assets: Assets::Inside { policy },
        class: "rating packet",
        data: vec![
            ("mode", "packet".to_owned()),
            ("key", format!("packet/{}/{}/{}", meta.batch, meta.rater, meta.rubric_digest)),
            ("batch", meta.batch.to_string()),
            ("rubric", meta.rubric.clone()),
            ("rubric-digest", meta.rubric_digest.clone()),
            ("rater", meta.rater.to_string()),
            ("head", head.to_owned()),
            ("rationale", rationale_word(rubric.rationale)),
        ],
        bar,
        main,
    })
}

/// Base64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0_u32, |word, place| word << 8 | u32::from(chunk.get(place).copied().unwrap_or(0)));
        for place in 0..4_usize {
            let digit = DIGITS.get((word >> (18 - 6 * place) & 63) as usize).copied().unwrap_or(b'=');
            let shown = if place <= chunk.len() { char::from(digit) } else { '=' };
            // Writing to a String cannot fail.
            let _ = out.write_char(shown);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of RFC 4648, section 10.
    #[test]
    fn base64_of_rfc_4648() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
