//! Private keys with a missing part, in the formats in which tools print their lines.

use super::super::*;
use crate::rules::shapes::samples::fill;

/// The text before and after each line. `@` stands for the line number.
const FORMS: &[(&str, &str)] = &[
    ("", ""),
    ("    ", ""),
    ("+", ""),
    ("-", ""),
    (" ", ""),
    ("> ", ""),
    ("key.pem:", ""),
    ("deploy/key.pem:@:", ""),
    ("@:", ""),
    ("@-", ""),
    ("     @\t", ""),
    ("    @→", ""),
    ("2026-05-01T10:00:@.123Z INFO ", ""),
    ("[2026-05-01 10:00:00,@] app - ", ""),
    ("May  1 10:00:@ web app[71]: ", ""),
    ("web-1  | ", ""),
    ("# ", ""),
    ("// ", ""),
    (" * ", ""),
    ("//", ""),
    ("  '", "\\n' +"),
    ("  \"", "\\n\""),
    ("    \"", "\","),
    ("\u{1b}[32m+\u{1b}[m\u{1b}[32m", "\u{1b}[m"),
];

fn lines_of_key() -> Vec<String> {
    let mut lines: Vec<String> =
        ["{b64}", "+{b63}", "/{b63}", "n{b63}", "{b62}/+", "9{b63}"].map(fill).to_vec();
    lines.push("Ab3dE9+x/Q==".to_owned());
    lines
}

fn shown(lines: &[String], (before, after): (&str, &str)) -> String {
    let line = |(number, line): (usize, &String)| {
        format!("{}{line}{after}", before.replace('@', &(number + 7).to_string()))
    };
    lines.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the text with Windows line ends, unchanged, and inside one and two JSON strings.
fn wrapped(text: &str) -> [String; 4] {
    let text = format!("some words before it\n{text}\nand a line behind it\n");
    let inside = serde_json::json!({ "output": text }).to_string();
    let twice = serde_json::json!({ "result": inside }).to_string();
    [text.replace('\n', "\r\n"), text, inside, twice]
}

fn assert_removed(lines: &[String], body: &[String]) {
    for form in FORMS {
        for text in wrapped(&shown(lines, *form)) {
            let left = redact(&text).into_owned();
            let kept: Vec<&String> =
                body.iter().filter(|line| left.contains(&line[1..line.len() - 1])).collect();
            assert!(kept.is_empty(), "{form:?} keeps {kept:#?} of\n{text}\nas\n{left}");
            assert!(left.contains("some words before it"), "{left}");
            assert!(left.contains("and a line behind it"), "{left}");
        }
    }
}

fn label(word: &str) -> String {
    format!("-----{word} RSA PRIVATE KEY-----")
}

#[test]
fn key_without_its_first_line_is_removed_after_any_prefix() {
    let body = lines_of_key();
    let lines = [body.clone(), vec![label("END")]].concat();
    assert_removed(&lines, &body);
}

#[test]
fn key_without_its_last_line_is_removed_after_any_prefix() {
    let body = lines_of_key();
    let lines = [vec![label("BEGIN")], body.clone()].concat();
    assert_removed(&lines, &body);
}

#[test]
fn encrypted_key_without_its_last_line_is_removed_after_any_prefix() {
    let body = lines_of_key();
    let headers = ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0011223344556677"];
    let headers = headers.map(str::to_owned).to_vec();
    let lines = [vec![label("BEGIN")], headers, vec![String::new()], body.clone()].concat();
    assert_removed(&lines, &body);
}

#[test]
fn key_that_grep_prints_around_a_match_is_removed() {
    let body = lines_of_key();
    let around = shown(&body, ("key.pem-@-", ""));
    for text in [
        format!("key.pem:6:{}\n{around}", label("BEGIN")),
        format!("{around}\nkey.pem:99:{}", label("END")),
    ] {
        let left = redact(&text).into_owned();
        assert!(body.iter().all(|line| !left.contains(&line[1..])), "{left}");
    }
}

#[test]
fn key_in_several_results_is_removed_after_a_prefix() {
    let body = lines_of_key();
    let form = ("2026-05-01 10:00:@ INFO ", "");
    let mut redactor = Redactor::default();
    let first = shown(&[vec![label("BEGIN")], body.clone()].concat()[..4], form);
    let middle = shown(&body[3..5], form);
    let last = shown(&[body[5..].to_vec(), vec![label("END")]].concat(), form) + "\nmore words";
    let left = [first, middle, last].map(|text| redactor.redact_result(&text, false).into_owned());
    let is_left = |line: &String| left.iter().any(|text| text.contains(&line[1..]));
    assert!(!body.iter().any(is_left), "{left:#?}");
    assert!(left[2].ends_with("[redacted]\nmore words"), "{left:#?}");
}

#[test]
fn lines_around_a_label_that_are_not_a_key_are_unchanged() {
    let end = label("END");
    let begin = label("BEGIN");
    for text in [
        format!("// see\n// crates/core\n// {end} is the last line"),
        format!("# {begin}\n# is how it begins, and then there are lines\n"),
        format!("12:let begin = \"{begin}\";\n13:let name = \"plain\";\n"),
        format!("+    assert(text.contains(\"{end}\"));\n+    done\n"),
    ] {
        assert_eq!(redact(&text), text);
    }
}
