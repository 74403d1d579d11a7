//! A stream may be cut anywhere, and may end anywhere.

use proptest::prelude::*;
use provider::{Assembled, Assembler, Format, ProviderError};

use crate::fixtures;

fn assemble(format: Format, pieces: &[&[u8]]) -> Result<Assembled, ProviderError> {
    let mut assembler = Assembler::new(format);
    for piece in pieces {
        assembler.push(piece)?;
    }
    assembler.finish()
}

#[test]
fn a_stream_in_two_pieces_is_the_same_stream() {
    for format in Format::ALL {
        for (name, bytes) in fixtures::streams(format) {
            let whole = assemble(format, &[&bytes]);
            for at in 0..=bytes.len() {
                let (one, other) = bytes.split_at(at);
                assert_eq!(assemble(format, &[one, other]), whole, "{format} {name} at {at}");
            }
            let single: Vec<_> = bytes.chunks(1).collect();
            assert_eq!(assemble(format, &single), whole, "{format} {name} byte by byte");
        }
    }
}

#[test]
fn a_stream_that_ends_early_has_the_same_calls_or_one_clear_error() {
    for format in Format::ALL {
        for (name, bytes) in fixtures::streams(format) {
            let whole = assemble(format, &[&bytes]);
            for at in 0..bytes.len() {
                match (assemble(format, &[&bytes[..at]]), &whole) {
                    (Ok(cut), Ok(whole)) => {
                        // Whole messages, one after the other: those that came are whole.
                        let calls = whole.calls.get(..cut.calls.len()).unwrap();
                        assert_eq!(cut.calls, calls, "{format} {name} at {at}");
                        if format != Format::Mcp {
                            assert_eq!(
                                cut.calls.len(),
                                whole.calls.len(),
                                "{format} {name} at {at}"
                            );
                            assert_eq!(cut.text, whole.text, "{format} {name} at {at}");
                        }
                    }
                    (Ok(_), Err(whole)) => {
                        let late =
                            matches!(whole, ProviderError::Remote(_) | ProviderError::NotJson(_));
                        assert!(late, "{format} {name} at {at}: {whole}");
                    }
                    (Err(error), _) => assert!(!error.to_string().is_empty()),
                }
            }
        }
    }
}

fn any_format() -> impl Strategy<Value = Format> {
    prop::sample::select(Format::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_pieces_of_a_stream_are_the_same_stream(format in any_format(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        for (_, bytes) in fixtures::streams(format) {
            let mut at: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.sort_unstable();
            let mut assembler = Assembler::new(format);
            let mut from = 0;
            let mut outcome = Ok(());
            for to in at.into_iter().chain([bytes.len()]) {
                outcome = outcome.and_then(|()| assembler.push(&bytes[from..to]));
                from = to;
            }
            prop_assert_eq!(outcome.and_then(|()| assembler.finish()), assemble(format, &[&bytes]));
        }
    }

    #[test]
    fn a_damaged_stream_never_panics(
        format in any_format(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        for (_, mut bytes) in fixtures::streams(format) {
            for (at, byte) in &damage {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            let _ = assemble(format, &[&bytes]);
        }
    }

    #[test]
    fn any_bytes_at_all_never_panic(format in any_format(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = assemble(format, &[&bytes]);
    }
}
