//! How large a value is as JSON, and how to make it smaller.

use std::io::{self, Write};

use serde_json::Value;

/// The most that is cut out of strings one by one. A value with more of them is dropped whole.
const MAX_STRINGS: usize = 10_000;

/// How many bytes of text a value has, keys and nested strings included.
pub(crate) fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(|item| 1 + text_bytes(item)).sum(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| key.len() + 4 + text_bytes(value)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

/// The value, with its longest strings cut in the middle so that it has at most `max` bytes as JSON.
/// Control characters count as the six bytes they are written as. `None` if cutting strings is not
/// enough.
///
/// A quarter more than `max` is let through: output of `max` bytes has line ends and quotes in it, and is
/// not cut for those.
pub(crate) fn fitted(mut value: Value, max: usize) -> Option<Value> {
    let total = written_bytes(&value);
    if total <= max.saturating_add(max / 4) {
        return Some(value);
    }
    let mut lengths = Vec::new();
    string_lengths(&value, &mut lengths);
    if lengths.len() > MAX_STRINGS {
        return None;
    }
    let others = total - lengths.iter().sum::<usize>();
    let room = max.checked_sub(others)?;
    let cap = common_cap(&mut lengths, room)?;
    cut_strings(&mut value, cap);
    Some(value)
}

/// The largest length that every string may have, so that all of them fit into `room`.
fn common_cap(lengths: &mut [usize], room: usize) -> Option<usize> {
    lengths.sort_unstable();
    let (mut left, mut count) = (room, lengths.len());
    for length in lengths.iter() {
        let share = left.checked_div(count)?;
        if *length > share {
            // Shorter than its own mark, a string would grow when it is cut.
            return (share > 200).then_some(share);
        }
        left -= length;
        count -= 1;
    }
    None
}

fn string_lengths(value: &Value, lengths: &mut Vec<usize>) {
    match value {
        Value::String(text) => lengths.push(written_text(text)),
        Value::Array(items) => items.iter().for_each(|item| string_lengths(item, lengths)),
        Value::Object(map) => map.values().for_each(|value| string_lengths(value, lengths)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn cut_strings(value: &mut Value, cap: usize) {
    match value {
        Value::String(text) if written_text(text) > cap => *text = cut_in_the_middle(text, cap),
        Value::Array(items) => items.iter_mut().for_each(|item| cut_strings(item, cap)),
        Value::Object(map) => map.values_mut().for_each(|value| cut_strings(value, cap)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Both ends of `text`, in at most `cap` bytes as JSON, with a mark between them.
fn cut_in_the_middle(text: &str, cap: usize) -> String {
    // The mark and the quotes take at most this.
    let half = cap.saturating_sub(100) / 2;
    let head = fits(text.chars(), half);
    let tail = fits(text.chars().rev(), half);
    let end = text.len().saturating_sub(tail).max(head);
    // A mark of an earlier cut goes with what is cut out now.
    let between = text.get(head..end).unwrap_or_default();
    let missing = (end - head) as u64 + marked_missing(between);
    let (head, tail) = (text.get(..head).unwrap_or_default(), text.get(end..).unwrap_or_default());
    let gap = if head.ends_with('\n') { "" } else { "\n" };
    format!("{head}{gap}[… {missing} bytes left out …]\n{tail}")
}

/// How many bytes a mark in `text` says are missing.
fn marked_missing(text: &str) -> u64 {
    let mark = text.split_once("[… ").and_then(|(_, mark)| mark.split_once(" bytes left out …]"));
    let number = mark.map(|(number, _)| number.trim_start_matches("up to "));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// How many bytes of these characters fit into `max` bytes of JSON.
fn fits(chars: impl Iterator<Item = char>, max: usize) -> usize {
    let (mut written, mut bytes) = (0, 0);
    for letter in chars {
        written += written_char(letter);
        if written > max {
            break;
        }
        bytes += letter.len_utf8();
    }
    bytes
}

fn written_text(text: &str) -> usize {
    2 + text.chars().map(written_char).sum::<usize>()
}

const fn written_char(letter: char) -> usize {
    match letter {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        letter => letter.len_utf8(),
    }
}

/// How long a value is as JSON.
fn written_bytes(value: &Value) -> usize {
    let mut counted = Counted(0);
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut counted, value);
    counted.0
}

struct Counted(usize);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_are_measured_as_they_are_written() {
        for text in ["", "plain", "\0\u{1}\n\r\t\"\\", "grün 青 😀", "\u{7f}\u{80}\u{2028}"] {
            assert_eq!(written_text(text), json!(text).to_string().len(), "{text:?}");
        }
    }

    #[test]
    fn the_longest_strings_are_cut_until_it_fits() {
        let nul = "\0".repeat(100_000);
        for value in [
            json!({"a": nul, "b": "short", "n": 1}),
            json!({"stdout": "x".repeat(60_000), "all": "x".repeat(60_000), "c": ["y"]}),
            json!({"a": format!("{}[… 7 bytes left out …]\n{}", "x".repeat(50_000), nul)}),
            json!(["ä\n".repeat(40_000), {"deep": "\"".repeat(50_000)}]),
        ] {
            let fitted = fitted(value, 50_000).unwrap();
            let written = fitted.to_string();
            assert!(written.len() <= 50_000 && written.len() > 45_000, "{}", written.len());
            assert!(written.contains("bytes left out"));
        }
        let kept = json!({"a": "x".repeat(1_000)});
        assert_eq!(fitted(kept.clone(), 2_000), Some(kept));
        assert_eq!(fitted(json!(vec!["abc"; 20_000]), 10_000), None);
        assert_eq!(fitted(json!(vec![1; 20_000]), 10_000), None);
    }
}
