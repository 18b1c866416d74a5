//! What stands around every page: the head with its policy, the bar, the keys.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::rate::visible;

/// Style of all pages.
pub(in crate::serve) const STYLE: &str = include_str!("page.css");
/// Script of all pages; they work without it.
pub(in crate::serve) const SCRIPT: &str = concat!(
    include_str!("script/common.js"),
    include_str!("script/server.js"),
    include_str!("script/packet.js"),
    include_str!("script/start.js")
);

/// Style and script: from the server, or inside a file that stands alone.
pub(in crate::serve) enum Assets {
    /// `page.css` and `page.js` beside the page.
    Linked,
    /// Inside the page, under this policy.
    Inside {
        /// A content security policy that names the digests of both.
        policy: String,
    },
}

/// A page.
pub(in crate::serve) struct Page<'a> {
    pub title: &'a str,
    pub assets: Assets,
    /// Class of the body.
    pub class: &'a str,
    /// `data-*` attributes of the body: what the script must know.
    pub data: Vec<(&'static str, String)>,
    pub bar: Markup,
    pub main: Markup,
}

/// The whole document.
pub(in crate::serve) fn document(page: &Page<'_>) -> String {
    let mut attributes = String::new();
    for (name, value) in &page.data {
        let value = html! { (value) }.into_string().replace('"', "&quot;");
        attributes.push_str(&format!(" data-{name}=\"{value}\""));
    }
    // maud has no computed attribute names; the values above are escaped by it.
    let open = format!("<body class=\"{}\"{attributes}>", page.class);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                @if let Assets::Inside { policy } = &page.assets { meta http-equiv="Content-Security-Policy" content=(policy); }
                title { (visible(page.title)) }
                link rel="icon" href="data:,";
                @match page.assets {
                    Assets::Linked => { link rel="stylesheet" href="/page.css"; script src="/page.js" defer {} }
                    Assets::Inside { .. } => { style { (PreEscaped(STYLE)) } }
                }
            }
            (PreEscaped(open))
            a.skip href="#main" { "To the case" }
            header.bar { (page.bar) }
            main id="main" tabindex="-1" { (page.main) }
            @if let Assets::Inside { .. } = page.assets { script { (PreEscaped(SCRIPT)) } }
            (PreEscaped("</body>"))
        }
    }
    .into_string()
}

/// The keys, for the bar.
pub(in crate::serve) fn keys(undo: bool) -> Markup {
    let rows = [
        ("0–9 x n", "answer the current question; then type why"),
        ("Enter", "next question; after the last one, next open case"),
        ("s w", "next, previous question"),
        ("j k", "next, previous case"),
        ("r", "write the rationale (Shift+Enter: new line, Esc: leave)"),
        ("h", "show or hide how to decide"),
        ("g", "go to the gold turn"),
        ("o", "open or fold all long texts"),
        ("f", "flag the case, with a note"),
        ("u", "undo the last answer"),
        ("?", "show or hide the keys"),
    ];
    html! {
        details.keys id="keys" {
            summary { "Keys" kbd aria-hidden="true" { "?" } }
            dl { @for (key, what) in rows { @if undo || key != "u" { div { dt { @for key in key.split(' ') { kbd { (key) } " " } } dd { (what) } } } } }
        }
    }
}

/// How far the rater is.
pub(in crate::serve) fn progress(done: usize, total: usize, left: Option<u64>) -> Markup {
    html! {
        div.progress {
            progress max=(total) value=(done) aria-label="Cases done" {}
            span.count {
                span.done-count { (done) } " of " span.total { (total) } " done"
                span.time-left { @if let Some(left) = left { " · about " (crate::serve::status::duration(left)) " left" } }
            }
        }
    }
}
