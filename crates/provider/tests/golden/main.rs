//! What goes in and comes out of each format, compared with fixtures.
//!
//! `UPDATE_FIXTURES=1 cargo test -p provider` writes what comes out now; read the difference.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod conversations;
mod cuts;
mod fixtures;
mod odd;
mod replies;
mod talks;

use provider::{Assembler, Format, calls, definitions, parse_results, write_results};
use serde_json::{Value, json};

#[test]
fn definitions_are_what_each_provider_takes() {
    let tools = fixtures::tools();
    for format in Format::ALL {
        fixtures::compare(format, "definitions", &definitions(format, tools.iter()));
    }
}

#[test]
fn calls_are_read_as_far_as_they_mean_one_thing() {
    for format in Format::ALL {
        fixtures::compare_cases(format, "calls", |case| match calls(format, &case["message"]) {
            Ok(calls) => json!({"calls": calls.iter().map(fixtures::call).collect::<Vec<_>>()}),
            Err(error) => json!({"error": error.to_string()}),
        });
    }
}

#[test]
fn results_are_written_as_each_provider_wants_them() {
    let results = fixtures::results();
    for format in Format::ALL {
        let written: Value = results
            .iter()
            .map(|(name, results)| json!({"case": name, "wire": write_results(format, results)}))
            .collect();
        fixtures::compare(format, "results", &written);
    }
}

#[test]
fn results_are_read_back() {
    for format in Format::ALL {
        for (name, results) in fixtures::results() {
            let read = parse_results(format, &write_results(format, &results)).unwrap();
            assert_eq!(read.len(), results.len(), "{format} {name}");
            for (read, written) in read.iter().zip(&results) {
                assert_eq!(read.is_error, written.is_error, "{format} {name}");
                let id = if format == Format::Mcp { &None } else { &written.id };
                assert_eq!(&read.id, id, "{format} {name}");
                assert!(read.text().starts_with(&written.text()), "{format} {name}");
                // Chat completions put them into a message of the user.
                if format != Format::OpenAi {
                    assert_eq!(read.blocks, written.blocks, "{format} {name}");
                }
            }
        }
        fixtures::compare_cases(format, "results_in", |case| {
            match parse_results(format, &case["message"]) {
                Ok(results) => results.iter().map(fixtures::result).collect(),
                Err(error) => json!({"error": error.to_string()}),
            }
        });
    }
}

#[test]
fn streams_are_put_together() {
    for format in Format::ALL {
        let assembled: Value = fixtures::streams(format)
            .into_iter()
            .map(|(name, bytes)| {
                let mut assembler = Assembler::new(format);
                let outcome = assembler.push(&bytes).and_then(|()| assembler.finish());
                json!({"stream": name, "outcome": fixtures::assembled(&outcome)})
            })
            .collect();
        fixtures::compare(format, "streams", &assembled);
    }
}
