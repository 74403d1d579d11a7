//! What commands write, however much and however fast.

use std::fs;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::{
    alone::{ALONE, alone},
    helper::{Setup, count, trial},
};

/// Short commands of which no byte is lost, unless `COMMANDS_TEST_RUNS` says otherwise.
const RUNS: usize = 200;
/// Numbers that are a gigabyte together, one on a line.
const NUMBERS: u64 = 112_000_000;
/// The most that our own memory may grow meanwhile.
const GROWTH: u64 = 64 << 20;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("answers_are_bounded_after_escaping", answers_are_bounded),
        trial("a_long_line_reaches_the_model", a_long_line_reaches_the_model),
        trial("no_byte_is_lost_of_a_command_that_ends_at_once", no_byte_is_lost),
        trial("output_for_a_model_is_cut_and_the_rest_can_be_read", output_is_cut),
        Trial::test("a_gigabyte_of_output_costs_little_memory", || {
            // What the allocator keeps for later differs from run to run; large pieces go back at once.
            println!("{}", alone(ALONE, "flood", &[("MALLOC_MMAP_THRESHOLD_", "131072")]));
            Ok(())
        }),
    ]
}

async fn no_byte_is_lost() {
    let setup = Setup::new().await;
    let sizes = [1, 2, 63, 4_096, 4_097, 20_000, 65_535, 65_536, 65_537, 100_000];
    for run in 0..count("COMMANDS_TEST_RUNS", RUNS) {
        let size = sizes[run % sizes.len()];
        let (stream, to) = if run % 3 == 0 { ("stderr", ">&2") } else { ("stdout", "") };
        // The last byte tells the end from the middle.
        let command = format!("head -c {} /dev/zero | tr '\\0' a {to}; printf z {to}", size - 1);
        let outcome = setup.sh(&command).await;
        let expected = "a".repeat(size - 1) + "z";
        for field in [stream, "aggregated"] {
            let written = outcome["result"][field].as_str().unwrap();
            let fits = written == expected;
            assert!(fits, "run {run}: {} of {size} bytes in {field}", written.len());
        }
    }
}

async fn output_is_cut() {
    let setup = Setup::new().await;
    let outcome = setup.sh("seq 1 100000").await;
    let written = outcome["result"]["stdout"].as_str().unwrap();
    assert!(written.lines().eq((1..=100_000).map(|number: u32| number.to_string())));
    let artifact = outcome["meta"]["artifacts"][0]["id"].as_str().unwrap();
    let path = format!("artifact:{artifact}");
    let read = json!({"path": path, "offset": 1, "limit": 10});
    let read = setup.call("read", read).await;
    let text = read["result"].as_str().unwrap();
    assert!(text.contains("bytes of output]"), "{text}");
}

/// The process whose memory is measured.
pub(crate) async fn flood() {
    let setup = Setup::new().await;
    setup.sh("seq 1 100000").await;
    // From here on the peak is counted.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory("VmRSS");
    let args = json!({"command": format!("seq 1 {NUMBERS}")});
    let outcome = setup.gate.call(&setup.caller, "exec", args).await;
    let grown = memory("VmHWM").saturating_sub(before);
    println!("grown by {} MB", grown >> 20);
    let outcome = serde_json::to_value(outcome).unwrap();
    assert_eq!(outcome["status"], "success", "{}", outcome["message"]);
    exact(&outcome);
    assert!(grown < GROWTH, "grown by {} MB", grown >> 20);
}

/// Beginning and end are there to the byte, and what is missing is counted to the byte.
fn exact(outcome: &Value) {
    let Some(text) = outcome["result"]["stdout"].as_str().or(outcome["result"].as_str()) else {
        panic!("no output")
    };
    assert!(outcome["result"].get("aggregated").is_none(), "it is the same as `stdout`");
    assert_eq!(outcome["result"]["stderr"], "");
    let (head, rest) = text.split_once("[… up to ").unwrap();
    let (missing, tail) = rest.split_once(" bytes left out …]\n").unwrap();
    let missing: u64 = missing.parse().unwrap();
    assert_eq!(outcome["result"]["leftOut"], missing);
    assert!(head.len() > 4_000_000 && tail.len() > 4_000_000, "{} {}", head.len(), tail.len());
    // Lines from the beginning; the last of them may be cut, and has a line end then.
    let mut number = 0;
    let mut lines = head.lines().peekable();
    while let Some(line) = lines.next() {
        number += 1;
        let expected = number.to_string();
        let fits = line == expected || lines.peek().is_none() && expected.starts_with(line);
        assert!(fits, "{line} for {expected}");
    }
    let mut number = NUMBERS + 1;
    let mut lines = tail.lines().rev().peekable();
    while let Some(line) = lines.next() {
        number -= 1;
        let expected = number.to_string();
        let fits = line == expected || lines.peek().is_none() && expected.ends_with(line);
        assert!(fits, "{line} for {expected}");
    }
    let added = u64::from(!ends_a_line(head));
    let all = head.len() as u64 - added + missing + tail.len() as u64;
    assert_eq!(all, written(), "of all bytes");
}

/// Whether the last line of `head` is whole, so that no line end was put behind it.
fn ends_a_line(head: &str) -> bool {
    let mut lines = head.lines().rev();
    let (last, before) = (lines.next().unwrap(), lines.next().unwrap());
    last.len() >= before.len()
}

/// How many bytes the numbers are.
fn written() -> u64 {
    let of_length = |length: u32| {
        let (first, last) = (10_u64.pow(length - 1), (10_u64.pow(length) - 1).min(NUMBERS));
        (last + 1).saturating_sub(first) * u64::from(length + 1)
    };
    (1..=9).map(of_length).sum()
}

/// A line of our own status, in bytes.
fn memory(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes << 10
}

/// Whatever a command prints, the answer as JSON is no longer than what may go out, and a quarter.
pub(crate) async fn answers_are_bounded() {
    let setup = Setup::new().await;
    for (command, expected) in [
        ("head -c 12000000 /dev/zero | tr '\\0' x", 9_000_000..12_500_000),
        ("head -c 10000000 /dev/zero", 9_000_000..12_500_000),
        ("yes '\"' | head -c 10000000; yes '\"' | head -c 10000000 >&2", 9_000_000..12_500_000),
    ] {
        let args = json!({"command": command});
        let outcome = setup.gate.call(&setup.caller, "exec", args).await;
        let body = serde_json::to_vec(&outcome).unwrap();
        assert!(expected.contains(&body.len()), "{command}: {}", body.len());
        assert_eq!(outcome.status(), "success");
    }
}

/// Of a line that is longer than a model gets, it gets as much as of many lines, and the way to the rest.
pub(crate) async fn a_long_line_reaches_the_model() {
    let setup = Setup::new().await;
    setup.file("one.json", &"0123456789".repeat(20_000));
    let args = json!({"command": "cat one.json"});
    let outcome = setup.gate.call(&setup.caller, "exec", args).await;
    let toolgate::Outcome::Success { blocks, .. } = &outcome else { panic!("{outcome:?}") };
    let tool::Block::Text(text) = &blocks[0] else { panic!("{blocks:?}") };
    assert!(text.len() > 49_000 && text.len() < 50_500, "{}", text.len());
    let notice = text.rsplit_once('[').unwrap().1;
    let words: Vec<_> =
        notice.split([' ', ',', '`', ']']).filter(|word| !word.is_empty()).collect();
    let after = |name: &str| words[words.iter().rposition(|word| *word == name).unwrap() + 1];
    let (path, offset, byte) = (after("path"), after("offset"), after("fromByte"));
    let args = json!({
        "path": path,
        "offset": offset.parse::<u64>().unwrap(),
        "fromByte": byte.parse::<u64>().unwrap(),
    });
    let next = setup.call("read", args).await;
    let next = next["result"].as_str().unwrap();
    let cut = text.rsplit_once("\n[").unwrap().0.chars().last().unwrap();
    let follows = (cut.to_digit(10).unwrap() + 1) % 10;
    assert!(next.starts_with(&follows.to_string()), "{notice}: {}", next.get(..50).unwrap_or(next));
}
