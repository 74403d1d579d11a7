//! Answers to clients, whole and in pieces.

use provider::{
    Assembler, Finish, Format, IncludeUsage, ProviderError, Reply, ReplyStream, calls, error,
    models, response,
};
use serde_json::{Value, json};

use crate::{
    fixtures,
    talks::{self, FORMATS},
};

/// The events of an answer, in pieces of so many characters.
fn streamed(format: Format, reply: &Reply, include: IncludeUsage, chars: usize) -> String {
    let mut stream = ReplyStream::new(format, talks::head(), include);
    let mut sent = stream.start();
    let text: Vec<_> = reply.text.chars().collect();
    for piece in text.chunks(chars) {
        sent += &stream.text(&piece.iter().collect::<String>());
        sent += stream.ping();
    }
    for call in &reply.calls {
        sent += &stream.call(call);
    }
    sent + &stream.end(&reply.finish, reply.usage, &reply.tool_calls)
}

#[test]
fn answers_are_what_each_client_expects() {
    for format in Format::ALL {
        let mut written = Vec::new();
        for (name, reply) in talks::replies() {
            let whole = response(format, &talks::head(), &reply);
            let stream = streamed(format, &reply, IncludeUsage::Yes, 16);
            let lines: Vec<_> = stream.lines().map(line).collect();
            written.push(json!({"case": name, "whole": whole, "stream": lines}));
        }
        fixtures::compare(format, "replies", &Value::Array(written));
    }
}

/// A line; JSON in it without the order of its keys.
fn line(line: &str) -> Value {
    let data = line.strip_prefix("data: ").and_then(|data| serde_json::from_str(data).ok());
    data.map_or_else(|| json!(line), |data: Value| json!({"data": data}))
}

#[test]
fn a_client_reads_what_was_answered_wherever_the_stream_is_cut() {
    for format in FORMATS {
        for (name, reply) in talks::replies() {
            let whole = response(format, &talks::head(), &reply).to_string();
            assert_eq!(calls(format, &serde_json::from_str(&whole).unwrap()).unwrap(), reply.calls);
            check(format, name, &reply, &[whole.as_bytes()]);
            let stream = streamed(format, &reply, IncludeUsage::Yes, 6);
            for at in (0..stream.len()).step_by(7) {
                let (one, other) = stream.as_bytes().split_at(at);
                check(format, name, &reply, &[one, other]);
            }
        }
    }
}

fn check(format: Format, name: &str, reply: &Reply, pieces: &[&[u8]]) {
    let mut assembler = Assembler::new(format);
    for piece in pieces {
        assembler.push(piece).unwrap();
    }
    let read = assembler.finish().unwrap();
    assert_eq!(read.text, reply.text, "{format} {name}");
    assert_eq!(read.calls, reply.calls, "{format} {name}");
    assert_eq!(read.finish, reply.finish, "{format} {name}");
    let mut usage = reply.usage;
    if format == Format::Gemini {
        usage.cache_write = 0;
    }
    assert_eq!(read.usage, Some(usage), "{format} {name}");
}

#[test]
fn calls_of_ours_stand_beside_the_answer_and_in_the_last_event() {
    let (_, reply) = talks::replies().swap_remove(1);
    let expected = json!(reply.tool_calls);
    assert_eq!(expected.as_array().unwrap().len(), 2);
    for format in Format::ALL {
        assert_eq!(response(format, &talks::head(), &reply)["tool_calls"], expected, "{format}");
        for include in [IncludeUsage::Yes, IncludeUsage::No] {
            let stream = streamed(format, &reply, include, 100);
            let events = stream.lines().filter_map(|line| line.strip_prefix("data: "));
            let last = events.rev().find(|data| *data != "[DONE]").unwrap();
            let last: Value = serde_json::from_str(last).unwrap();
            assert_eq!(last["tool_calls"], expected, "{format}");
        }
    }
}

#[test]
fn what_it_cost_is_said_to_who_asks() {
    let (_, reply) = talks::replies().swap_remove(0);
    for (include, expected) in [(IncludeUsage::Yes, true), (IncludeUsage::No, false)] {
        let stream = streamed(Format::OpenAi, &reply, include, 100);
        assert_eq!(stream.contains("\"usage\""), expected, "{stream}");
        assert!(stream.ends_with("data: [DONE]\n\n"));
    }
}

#[test]
fn an_answer_that_fails_says_so_in_the_stream() {
    for format in FORMATS {
        let mut stream = ReplyStream::new(format, talks::head(), IncludeUsage::Yes);
        let mut sent = stream.text("Once");
        sent += &stream.error(503, "network_error", "the provider cannot be reached");
        let mut assembler = Assembler::new(format);
        let read = assembler.push(sent.as_bytes());
        let expected = ProviderError::Remote("the provider cannot be reached".to_owned());
        assert_eq!(read, Err(expected), "{format}");
        assert_eq!(assembler.text(), "Once", "{format}");
    }
}

#[test]
fn why_it_stopped_fits_to_what_there_is_to_answer() {
    let (_, with_calls) = talks::replies().swap_remove(2);
    let (_, text) = talks::replies().swap_remove(0);
    for format in FORMATS {
        let stopped = Reply { finish: Finish::Stop, ..with_calls.clone() };
        let called = Reply { finish: Finish::Calls, ..text.clone() };
        let head = talks::head();
        assert_eq!(response(format, &head, &stopped), response(format, &head, &with_calls));
        assert_eq!(response(format, &head, &called), response(format, &head, &text));
        let stream = |reply| streamed(format, reply, IncludeUsage::Yes, 100);
        assert_eq!(stream(&stopped), stream(&with_calls));
        assert_eq!(stream(&called), stream(&text));
    }
}

#[test]
fn errors_and_lists_of_models_are_what_each_client_expects() {
    let list = [("helper".to_owned(), 1_767_225_600), ("writer".to_owned(), 0)];
    for format in Format::ALL {
        let errors: Vec<_> = [400, 401, 403, 404, 413, 429, 499, 500, 503, 504]
            .map(|status| error(format, status, "some_error", "it broke; try again"))
            .into();
        let found = json!({"errors": errors, "models": models(format, &list)});
        fixtures::compare(format, "errors_and_models", &found);
    }
}
