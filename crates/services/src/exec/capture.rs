//! Keeps the beginning and the end of what a command writes.

use std::collections::VecDeque;

use tool::{Captured, Stream};

/// Pieces of one stream grow up to this, so that many small writes do not cost a piece each.
const PIECE: usize = 64 * 1024;

/// Bounded: what is in the middle is counted and forgotten.
#[derive(Debug)]
pub(super) struct Capture {
    /// The most of each end.
    half: usize,
    head: Vec<(Stream, Vec<u8>)>,
    head_bytes: usize,
    tail: VecDeque<(Stream, Vec<u8>)>,
    tail_bytes: usize,
    left_out: u64,
}

impl Capture {
    /// Keeps at most `max` bytes, half of them from the beginning.
    pub(super) const fn new(max: usize) -> Self {
        Self {
            half: max / 2,
            head: Vec::new(),
            head_bytes: 0,
            tail: VecDeque::new(),
            tail_bytes: 0,
            left_out: 0,
        }
    }

    pub(super) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let room = self.half.saturating_sub(self.head_bytes);
        let (first, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        if !first.is_empty() {
            self.head_bytes += first.len();
            match self.head.last_mut() {
                Some((last, piece)) if *last == stream && piece.len() < PIECE => {
                    piece.extend_from_slice(first);
                }
                _ => self.head.push((stream, first.to_vec())),
            }
        }
        if !rest.is_empty() {
            self.tail_bytes += rest.len();
            match self.tail.back_mut() {
                Some((last, piece)) if *last == stream && piece.len() < PIECE => {
                    piece.extend_from_slice(rest);
                }
                _ => self.tail.push_back((stream, rest.to_vec())),
            }
            self.forget();
        }
    }

    pub(super) fn done(self) -> Captured {
        let Self { head, tail, left_out, .. } = self;
        Captured { head, left_out, tail: tail.into() }
    }

    /// Drops the oldest bytes of the tail, to the byte.
    fn forget(&mut self) {
        while self.tail_bytes > self.half {
            let excess = self.tail_bytes - self.half;
            let Some((_, piece)) = self.tail.front_mut() else { return };
            let dropped = if piece.len() <= excess {
                let whole = piece.len();
                self.tail.pop_front();
                whole
            } else {
                piece.drain(..excess);
                excess
            };
            self.tail_bytes -= dropped;
            self.left_out += dropped as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(pieces: &[(Stream, Vec<u8>)]) -> Vec<u8> {
        pieces.iter().flat_map(|(_, piece)| piece).copied().collect()
    }

    #[test]
    fn both_ends_are_exact_whatever_the_pieces() {
        let all: Vec<u8> = (0..=255).cycle().take(4_000).collect();
        for size in [1, 3, 7, 64, 1_000, 10_000] {
            let mut capture = Capture::new(100);
            for piece in all.chunks(size) {
                capture.push(Stream::Stdout, piece);
            }
            let captured = capture.done();
            assert_eq!(joined(&captured.head), all[..50]);
            assert_eq!(joined(&captured.tail), all[3_950..]);
            assert_eq!(captured.left_out, 3_900);
        }
    }

    #[test]
    fn what_fits_is_whole_and_in_order() {
        let mut capture = Capture::new(10);
        capture.push(Stream::Stdout, b"ab");
        capture.push(Stream::Stderr, b"cd");
        capture.push(Stream::Stdout, b"efghi");
        let Captured { head, left_out, tail } = capture.done();
        assert_eq!((joined(&[head.clone(), tail].concat()), left_out), (b"abcdefghi".to_vec(), 0));
        assert_eq!(head[1], (Stream::Stderr, b"cd".to_vec()));
    }
}
