//! Sheets damaged as spreadsheets and editors do it, and files that cannot be read.

use std::collections::BTreeMap;

use super::*;

/// A sheet with answers, as cells; the first row holds the names.
fn filled_cells(rubric: &Rubric) -> (Vec<Vec<String>>, Vec<RaterCase>) {
    let own = own(&[
        ("B1a", "0", "two\nlines; with, all \"marks\""),
        ("B1b", "1", "=not a formula"),
        ("B3", "1", ""),
        ("B4", "0", "déjà vu"),
        ("B5", "0", ""),
        ("B6", "n.a.", ""),
    ]);
    let cases: Vec<RaterCase> = ["r/1", "r/2"]
        .iter()
        .map(|id| rater_case(rubric, &case_text(id, "a \"text\",\r\nof; two lines"), &own))
        .collect();
    let sheet = sheet(rubric, &cases);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(sheet.as_bytes());
    let cells =
        reader.records().map(|record| record.expect("well formed").iter().map(str::to_owned).collect()).collect();
    (cells, cases)
}

fn written(cells: &[Vec<String>], separator: u8, ends: csv::Terminator) -> String {
    let mut builder = csv::WriterBuilder::new();
    let mut writer = builder.delimiter(separator).terminator(ends).flexible(true).from_writer(Vec::new());
    for row in cells {
        writer.write_record(row).expect("written");
    }
    String::from_utf8(writer.into_inner().expect("flushed")).expect("text")
}

fn plain(cells: &[Vec<String>]) -> String {
    written(cells, b',', csv::Terminator::CRLF)
}

/// Damages the cells and expects the undamaged answers.
fn survives(what: &str, damage: impl Fn(Vec<Vec<String>>) -> Vec<u8>) {
    let rubric = rubric();
    let (cells, cases) = filled_cells(&rubric);
    let file = read_csv(damage(cells).as_slice()).expect("read");
    assert_eq!(file.problems, [], "{what}");
    let outcome = check_import(&expectation(&rubric, &cases), file.rows);
    assert_eq!(outcome.problems, [], "{what}");
    let mut taken: Vec<(&str, &str, &str, &str)> = outcome
        .accepted
        .iter()
        .map(|r| (r.case.as_str(), r.label.as_str(), r.value.as_str(), r.rationale.as_str()))
        .collect();
    // Answers come in the order of the file's rows; within a row in that of the rubric.
    taken.sort_by_key(|(case, ..)| *case);
    let expected: Vec<(&str, &str, &str, &str)> = ["r/1", "r/2"]
        .into_iter()
        .flat_map(|case| {
            [
                (case, "B1a", "0", "two\nlines; with, all \"marks\""),
                (case, "B1b", "1", "=not a formula"),
                (case, "B3", "1", ""),
                (case, "B4", "0", "déjà vu"),
                (case, "B5", "0", ""),
                (case, "B6", "n.a.", ""),
                (case, "B7", "n.a.", ""),
            ]
        })
        .collect();
    assert_eq!(taken, expected, "{what}");
}

/// Replaces the values (not rationales) of all rows.
fn revalued(mut cells: Vec<Vec<String>>, change: fn(&str) -> String) -> Vec<u8> {
    let is_value: Vec<bool> =
        cells[0].iter().map(|name| name.starts_with('B') && !name.ends_with("_rationale")).collect();
    for row in cells.iter_mut().skip(1) {
        for (cell, is_value) in row.iter_mut().zip(&is_value) {
            if *is_value {
                *cell = change(cell);
            }
        }
    }
    plain(&cells).into_bytes()
}

#[test]
fn sheets_survive_what_spreadsheets_do() {
    survives("nothing", |cells| plain(&cells).into_bytes());
    survives("byte order mark", |cells| format!("\u{feff}{}", plain(&cells)).into_bytes());
    survives("LF for CRLF", |cells| written(&cells, b',', csv::Terminator::Any(b'\n')).into_bytes());
    survives("CR for CRLF", |cells| written(&cells, b',', csv::Terminator::Any(b'\r')).into_bytes());
    survives("semicolons", |cells| written(&cells, b';', csv::Terminator::CRLF).into_bytes());
    survives("tabs", |cells| written(&cells, b'\t', csv::Terminator::CRLF).into_bytes());
    survives("a sep= line", |cells| format!("sep=;\r\n{}", written(&cells, b';', csv::Terminator::CRLF)).into_bytes());
    survives("byte order mark and semicolons", |cells| {
        format!("\u{feff}{}", written(&cells, b';', csv::Terminator::CRLF)).into_bytes()
    });
    survives("UTF-16 with tabs (Excel's Unicode text)", |cells| {
        let text = format!("\u{feff}{}", written(&cells, b'\t', csv::Terminator::CRLF));
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    });
    survives("every cell in quotes", |cells| {
        let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
        let rows = cells.iter().map(|row| row.iter().map(quoted).collect::<Vec<_>>().join(","));
        rows.collect::<Vec<_>>().join("\r\n").into_bytes()
    });
    survives("columns in another order", |mut cells| {
        for row in &mut cells {
            row.reverse();
        }
        plain(&cells).into_bytes()
    });
    survives("optional columns removed", |mut cells| {
        let optional = ["rubric", "category", "stratum", "case_text", "B7", "B7_rationale", "B5_rationale"];
        let keep: Vec<bool> = cells[0].iter().map(|name| !optional.contains(&name.as_str())).collect();
        for row in &mut cells {
            let mut keep = keep.iter();
            row.retain(|_| keep.next().copied().unwrap_or(true));
        }
        plain(&cells).into_bytes()
    });
    survives("column names with blanks and in capitals", |mut cells| {
        for name in &mut cells[0] {
            *name = format!(" {}\u{a0}", name.to_uppercase());
        }
        plain(&cells).into_bytes()
    });
    survives("blank rows and rows of separators", |cells| {
        let text = plain(&cells);
        let (header, rest) = text.split_once("\r\n").expect("header");
        format!("{header}\r\n\r\n,,,,,,,\r\n\" \",\r\n{rest}\r\n,,,\r\n\r\n").into_bytes()
    });
    survives("blank cells at the end of rows dropped", |mut cells| {
        for row in &mut cells {
            while row.last().is_some_and(String::is_empty) {
                row.pop();
            }
        }
        plain(&cells).into_bytes()
    });
    survives("empty columns at the end", |mut cells| {
        for row in &mut cells {
            row.extend([String::new(), String::new()]);
        }
        plain(&cells).into_bytes()
    });
    survives("the case text cut at 32,767 characters or edited", |mut cells| {
        let column = cells[0].iter().position(|name| name == "case_text").expect("column");
        for row in cells.iter_mut().skip(1) {
            row[column] = "cut".to_owned();
        }
        plain(&cells).into_bytes()
    });
    survives("rows in another order", |mut cells| {
        cells.swap(1, 2);
        plain(&cells).into_bytes()
    });
    survives("numbers with decimals", |cells| {
        revalued(cells, |v| if v == "0" || v == "1" { format!("{v}.0") } else { v.to_owned() })
    });
    survives("numbers with a decimal comma", |cells| {
        revalued(cells, |v| if v == "0" || v == "1" { format!("{v},0") } else { v.to_owned() })
    });
    survives("trailing blanks", |cells| revalued(cells, |v| format!("{v} \u{a0}\t")));
    survives("N/A", |cells| revalued(cells, |v| v.replace("n.a.", "N/A")));
    survives("text marks", |cells| revalued(cells, |v| format!("'{v}")));
}

fn problems(bytes: &[u8]) -> Vec<(u64, String)> {
    let file = read_csv(bytes).expect("read");
    assert!(file.problems.iter().all(|problem| problem.hint.is_some() || problem.message.contains("empty")));
    file.problems.into_iter().map(|problem| (problem.line, problem.message)).collect()
}

#[test]
fn what_cannot_be_read_is_named_by_line() {
    let rubric = rubric();
    let (cells, _) = filled_cells(&rubric);
    let text = plain(&cells);
    // The second case begins behind the first one's line breaks in quotes.
    let second = text.find("\r\nmain").and_then(|at| text[at + 2..].find("\r\nmain").map(|next| at + next + 4));
    let second = second.expect("second row");
    let second_line = text[..second].matches('\n').count() as u64 + 1;
    assert!(second_line > 10);
    assert_eq!(read_csv(text.as_bytes()).expect("read").rows[1].line, second_line);

    assert_eq!(problems(b""), [(1, "the file is empty".to_owned())]);
    let missing = problems(b"case,B1a\r\nr/1,1\r\n");
    assert_eq!(missing, [(1, "the first row lacks the columns batch, rubric_digest, rater, case_digest".to_owned())]);
    assert_eq!(problems(text.replacen("B1b,", "B1a,", 1).as_bytes())[0].1, "the column \"B1a\" stands twice");
    let latin1: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect();
    assert!(problems(&latin1)[0].1.contains("not UTF-8"));
    let long = format!("{text}main,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,aa\r\n");
    assert!(problems(long.as_bytes())[0].1.contains("28 cells"), "{:?}", problems(long.as_bytes()));
    let unclosed = problems(format!("{text}\"main,1").as_bytes());
    assert_eq!(unclosed[0].0, text.matches('\n').count() as u64 + 1);
    assert!(unclosed[0].1.contains("never closed"));
}

#[test]
fn lines_that_are_no_answers_are_named() {
    let rubric = rubric();
    let case = rater_case(&rubric, &case_text("r/1", "x"), &BTreeMap::new());
    let good = lines(&rubric, &[case]);
    let text = format!(
        "\u{feff}\n{}\nnot json\n[1]\n{{\"case\": \"r/1\"}}\r\n{}",
        good.trim_end(),
        good.replace("\"labels\"", "\"x\"")
    );
    let file = read_jsonl(text.as_bytes()).expect("read");
    let found: Vec<(u64, &str)> =
        file.problems.iter().map(|p| (p.line, p.message.split(':').next().unwrap_or(""))).collect();
    let expected = [
        (3, "no JSON object"),
        (4, "no JSON object"),
        (5, "the line lacks batch, rubric_digest, rater, case_digest"),
        (6, "the line has neither \"labels\" nor \"answer\""),
    ];
    assert_eq!(found, expected);
    assert_eq!(file.rows[0].line, 2);
    let doubled = good.replacen("\"case\":", "\"case\":\"r/2\",\"case\":", 1);
    assert!(read_jsonl(doubled.as_bytes()).expect("read").problems[0].message.contains("stands twice"));
    assert!(read_jsonl(&b"\"\xff\""[..]).expect("read").problems[0].message.contains("not UTF-8"));
}
