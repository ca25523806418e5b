//! Random changes to bytes, lines and JSON values.

use segue_testkit::chance::Chance;

use crate::json::{JsonPartKind, Span, spans};

/// The maximum length of a case in bytes while it is changed. Each change scans the whole case.
const MOST_BYTES: usize = 1 << 19;

/// Parts of the names of keys whose values link records, such as `id`, `sessionId` or `parentUuid`.
const LINKING_KEYS: [&str; 4] = ["id", "Id", "ID", "arent"];

/// Returns one sample, or parts of several, with random changes.
pub(crate) fn changed(samples: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = some_of(&samples[chance.below(samples.len())], chance);
    let times = if chance.below(8) == 0 { 20 } else { 1 + chance.below(4) };
    for _ in 0..times {
        match chance.below(8) {
            0 => change_bytes(&mut bytes, chance),
            1 | 2 => change_lines(&mut bytes, samples, chance),
            _ => change_values(&mut bytes, chance),
        }
        bytes.truncate(MOST_BYTES);
    }
    if chance.below(200) == 0 {
        grow(&mut bytes, chance);
    }
    bytes
}

/// Returns a few lines of a sample, or all of it. Short cases run faster.
fn some_of(sample: &[u8], chance: &mut Chance) -> Vec<u8> {
    let lines: Vec<&[u8]> = sample.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.len() < 12 || chance.below(4) == 0 {
        return sample.to_vec();
    }
    let first = if chance.below(2) == 0 { 0 } else { chance.below(lines.len() - 8) };
    lines[first..lines.len().min(first + 4 + chance.below(8))].concat()
}

fn change_bytes(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let at = chance.below(bytes.len() + 1);
    let end = bytes.len().min(at + 1 + chance.below(40));
    match chance.below(6) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..end)),
        2 => drop(bytes.splice(at..at, [0xff, 0xfe, 0xc3, b'"', 0xed, 0xa0, 0x80])),
        3 => bytes[at..end].reverse(),
        4 => bytes.insert(at, u8::try_from(chance.below(256)).unwrap_or_default()),
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << chance.below(8);
            }
        }
    }
}

fn change_lines(bytes: &mut Vec<u8>, samples: &[Vec<u8>], chance: &mut Chance) {
    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (one, other) = (chance.below(lines.len()), chance.below(lines.len()));
    match chance.below(11) {
        0 => drop(lines.remove(one)),
        1 => lines.insert(other, lines[one].clone()),
        2 => lines.swap(one, other),
        3 => {
            let moved = lines.remove(one);
            lines.insert(other.min(lines.len()), moved);
        }
        4 => lines.reverse(),
        5 => lines.truncate(one),
        6 => drop(lines.drain(..one)),
        7 => {
            let next = if one + 1 < lines.len() { lines.remove(one + 1) } else { Vec::new() };
            lines[one].extend(next);
        }
        8 => {
            let cut = chance.below(lines[one].len() + 1);
            lines[one].truncate(cut);
        }
        9 => {
            let line = lines[one].clone();
            lines.extend(std::iter::repeat_n(line, 1 + chance.below(20)));
        }
        _ => {
            let sample = &samples[chance.below(samples.len())];
            let theirs: Vec<&[u8]> = sample.split(|byte| *byte == b'\n').collect();
            lines.truncate(one);
            lines.extend(theirs[chance.below(theirs.len())..].iter().map(|line| line.to_vec()));
        }
    }
    *bytes = lines.join(&b'\n');
}

fn change_values(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let spans = spans(bytes);
    if spans.is_empty() {
        return;
    }
    match chance.below(4) {
        0 => link(bytes, &spans, chance),
        1 => {
            let other = spans[chance.below(spans.len())].range.clone();
            let other = bytes[other].to_vec();
            replace(bytes, &spans, chance, &other);
        }
        _ => {
            let new = value(chance);
            replace(bytes, &spans, chance, &new);
        }
    }
}

/// Replaces a key or a value with `new`, wraps a value in another one, or inserts a key before a
/// key.
fn replace(bytes: &mut Vec<u8>, spans: &[Span], chance: &mut Chance, new: &[u8]) {
    let Span { range, kind } = spans[chance.below(spans.len())].clone();
    let old = bytes[range.clone()].to_vec();
    let new = match chance.below(8) {
        0 if kind != JsonPartKind::Key => [b"[", &old[..], b",", &old, b"]"].concat(),
        1 if kind != JsonPartKind::Key => [b"{\"text\":", &old[..], b"}"].concat(),
        2 if kind == JsonPartKind::Key => [b"\"x\":1,", &old[..]].concat(),
        _ => new.to_vec(),
    };
    bytes.splice(range, new);
}

/// Replaces the value of one linking key with the value of another, so that records refer to wrong
/// records or to themselves.
fn link(bytes: &mut Vec<u8>, spans: &[Span], chance: &mut Chance) {
    let is_link = |at: &usize| {
        let Span { range, kind } = &spans[*at];
        let key = || String::from_utf8_lossy(&bytes[range.clone()]);
        *kind == JsonPartKind::Key && LINKING_KEYS.iter().any(|it| key().contains(it))
    };
    let links: Vec<usize> = (0..spans.len() - 1).filter(is_link).map(|at| at + 1).collect();
    if links.is_empty() {
        return;
    }
    let from = links[chance.below(links.len())];
    let to = links[chance.below(links.len())];
    let new = bytes[spans[from].range.clone()].to_vec();
    bytes.splice(spans[to].range.clone(), new);
}

/// Returns an unusual JSON value, which may be invalid.
fn value(chance: &mut Chance) -> Vec<u8> {
    const SHORT: [&[u8]; 22] = [
        b"null",
        b"true",
        b"false",
        b"0",
        b"-1",
        b"1e999",
        b"1.5",
        b"18446744073709551615",
        b"9223372036854775808",
        b"-9223372036854775808",
        b"99999999999999999999999",
        b"\"\"",
        b"\" \"",
        b"[]",
        b"{}",
        b"[null]",
        b"\"\\ud83d\"",
        b"\"\\u0000\\n\"",
        b"\"\xff\xc3\"",
        b"\"2026-11-16T01:00:00Z\"",
        b"\"\xc3\xbc\xf0\x9f\x98\x80\"",
        b"{\"type\":\"text\",\"text\":\"x\"}",
    ];
    let short = SHORT[chance.below(SHORT.len())].to_vec();
    match chance.below(24) {
        0 => deep(chance.below(300)),
        1 if chance.below(8) == 0 => deep(20_000),
        2 => [b"\"", "lang \u{fc} ".repeat(chance.below(400)).as_bytes(), b"\""].concat(),
        3 => [b"[", &[&short[..], b","].concat().repeat(chance.below(500))[..], b"1]"].concat(),
        _ => short,
    }
}

fn deep(levels: usize) -> Vec<u8> {
    [b"[{\"content\":".repeat(levels), b"1".to_vec(), b"}]".repeat(levels)].concat()
}

/// Makes a case large: lengthens one string by megabytes, or repeats the whole case.
fn grow(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let texts: Vec<Span> =
        spans(bytes).into_iter().filter(|span| span.kind == JsonPartKind::Text).collect();
    if chance.below(2) == 0 && !texts.is_empty() {
        let inside = texts[chance.below(texts.len())].range.start + 1;
        let unit = ["x", "\u{fc}", "\\n", "\\\"", "\\ud83d\\ude00", "\u{1f600}", "{\"a\":["];
        let unit = unit[chance.below(unit.len())];
        let long = unit.repeat((1 << 20) * (1 + chance.below(6)) / unit.len());
        bytes.splice(inside..inside, long.bytes());
    } else if !bytes.is_empty() {
        let times = (chance.below(4) << 20) / bytes.len();
        *bytes = bytes.repeat(times + 1);
    }
}
