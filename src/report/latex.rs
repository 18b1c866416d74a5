//! The tables that a paper prints, for LaTeX with `booktabs`.

use super::document::{Document, Table};
use super::text::one_line;

/// All printed tables, one `table` environment each.
pub(super) fn text(document: &Document) -> String {
    let mut out = format!(
        "% {}\n% {}\n% Needs \\usepackage{{booktabs}}; a wide table fits with \\usepackage{{rotating}} and sidewaystable.\n",
        comment(&document.title),
        comment(&document.subtitle)
    );
    for table in document.tables().filter(|table| table.print) {
        out += &environment(table);
    }
    out
}

fn environment(table: &Table) -> String {
    // A column of remarks that is empty throughout only takes width.
    let used: Vec<usize> = (0..table.columns.len())
        .filter(|place| table.rows.iter().any(|row| row.cells.get(*place).is_some_and(|cell| !cell.shown().is_empty())))
        .collect();
    let columns = used.iter().filter_map(|place| table.columns.get(*place));
    let form: String = columns.clone().map(|column| if column.numeric { 'r' } else { 'l' }).collect();
    let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let mut out = format!(
        "\n\\begin{{table}}\n\\centering\\footnotesize\n\\caption{{{}}}\n\\label{{tab:{}}}\n\\begin{{tabular}}{{{form}}}\n\\toprule\n",
        escape(&table.caption),
        table.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect::<String>()
    );
    out += &line(columns.map(|column| escape(&column.head)).collect());
    out += "\\midrule\n";
    for row in &table.rows {
        let cells = used.iter().filter_map(|place| row.cells.get(*place));
        out += &line(cells.map(|cell| escape(&cell.shown())).collect());
    }
    out + "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
}

/// Text in which no character is a command. What plain LaTeX cannot set becomes a question mark.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text).chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => {
                out.push('\\');
                out.push(c);
            }
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '"' => out.push_str("\\textquotedbl{}"),
            // Brackets after a line break would be read as its optional argument.
            '[' => out.push_str("{[}"),
            ']' => out.push_str("{]}"),
            '*' => out.push_str("{*}"),
            '`' => out.push_str("\\textasciigrave{}"),
            'κ' => out.push_str("$\\kappa$"),
            '\u{2212}' => out.push_str("$-$"),
            '±' => out.push_str("$\\pm$"),
            '–' => out.push_str("--"),
            '—' => out.push_str("---"),
            '…' => out.push_str("\\ldots{}"),
            c if c.is_ascii() || ('\u{a1}'..='\u{17f}').contains(&c) => out.push(c),
            _ => out.push('?'),
        }
    }
    out
}

/// A line that stays a comment.
fn comment(text: &str) -> String {
    one_line(text)
}
