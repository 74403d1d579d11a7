//! Bodies, bounded before and after they are decompressed.

use std::io::{self, Write};

use flate2::write::{MultiGzDecoder, ZlibDecoder};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tool::Source;

/// What was read of a body.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) bytes: Vec<u8>,
    /// Whether there was more.
    pub(super) truncated: bool,
}

/// How a body was made smaller on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    /// As it is, or in a way that we did not ask for and pass on.
    Plain,
    Gzip,
    Deflate,
}

impl Coding {
    /// What a `content-encoding` means.
    pub(super) fn named(name: Option<&str>) -> Self {
        match name.map(|name| name.trim().to_ascii_lowercase()).as_deref() {
            Some("gzip" | "x-gzip") => Self::Gzip,
            Some("deflate") => Self::Deflate,
            Some(_) | None => Self::Plain,
        }
    }
}

/// Reads at most `max` bytes of `body`, counted on the wire and again decompressed.
pub(super) async fn read(mut body: Incoming, coding: Coding, max: u64) -> Result<Read, Source> {
    let mut reader = Reader::new(coding, max);
    while let Some(frame) = body.frame().await {
        // What is no data is a trailer, which nobody asked for.
        let Ok(data) = frame?.into_data() else { continue };
        if !reader.push(&data)? {
            return Ok(reader.cut());
        }
    }
    Ok(reader.finish()?)
}

/// Takes pieces of a body until there are too many.
struct Reader {
    decoder: Decoder,
    on_the_wire: u64,
    max: u64,
}

enum Decoder {
    Plain(Bounded),
    Gzip(MultiGzDecoder<Bounded>),
    Deflate(ZlibDecoder<Bounded>),
}

impl Reader {
    fn new(coding: Coding, max: u64) -> Self {
        let bounded = Bounded { bytes: Vec::new(), max, over: false };
        let decoder = match coding {
            Coding::Plain => Decoder::Plain(bounded),
            Coding::Gzip => Decoder::Gzip(MultiGzDecoder::new(bounded)),
            Coding::Deflate => Decoder::Deflate(ZlibDecoder::new(bounded)),
        };
        Self { decoder, on_the_wire: 0, max }
    }

    /// Takes a piece; false if that was too much.
    fn push(&mut self, data: &[u8]) -> io::Result<bool> {
        self.on_the_wire = self.on_the_wire.saturating_add(data.len() as u64);
        let written = match &mut self.decoder {
            Decoder::Plain(bounded) => bounded.write_all(data),
            Decoder::Gzip(decoder) => decoder.write_all(data),
            Decoder::Deflate(decoder) => decoder.write_all(data),
        };
        if self.bounded().over {
            return Ok(false);
        }
        written?;
        // A stream can be long and decompress to nothing.
        Ok(self.on_the_wire <= self.max)
    }

    fn bounded(&mut self) -> &mut Bounded {
        match &mut self.decoder {
            Decoder::Plain(bounded) => bounded,
            Decoder::Gzip(decoder) => decoder.get_mut(),
            Decoder::Deflate(decoder) => decoder.get_mut(),
        }
    }

    /// The end of the body. What still comes out of the decoder counts too.
    fn finish(mut self) -> io::Result<Read> {
        // An answer to `HEAD` has an encoding and no body.
        let ended = match &mut self.decoder {
            _ if self.on_the_wire == 0 => Ok(()),
            Decoder::Plain(_) => Ok(()),
            Decoder::Gzip(decoder) => decoder.try_finish(),
            Decoder::Deflate(decoder) => decoder.try_finish(),
        };
        if !self.bounded().over {
            ended?;
        }
        let Bounded { bytes, max: _, over } = std::mem::take(self.bounded());
        Ok(Read { bytes, truncated: over })
    }

    fn cut(mut self) -> Read {
        Read { bytes: std::mem::take(self.bounded()).bytes, truncated: true }
    }
}

/// Keeps so many bytes, and remembers that there were more.
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
    max: u64,
    over: bool,
}

impl Write for Bounded {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let room = self.max.saturating_sub(self.bytes.len() as u64);
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let taken = data.get(..room).unwrap_or(data);
        self.bytes.extend_from_slice(taken);
        if taken.len() < data.len() {
            self.over = true;
            return Err(io::Error::other("more than may be read"));
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use flate2::{
        Compression,
        write::{GzEncoder, ZlibEncoder},
    };

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read_all(coding: Coding, max: u64, body: &[u8]) -> io::Result<Read> {
        let mut reader = Reader::new(coding, max);
        for piece in body.chunks(7) {
            if !reader.push(piece)? {
                return Ok(reader.cut());
            }
        }
        reader.finish()
    }

    #[test]
    fn reads_what_fits_and_says_when_there_was_more() {
        let mut deflated = ZlibEncoder::new(Vec::new(), Compression::best());
        deflated.write_all(b"hello hello hello").unwrap();
        let deflated = deflated.finish().unwrap();
        let zipped = gzip(b"hello hello hello");
        for (coding, max, body, text, truncated) in [
            (Coding::Plain, 5, &b"hello"[..], "hello", false),
            (Coding::Plain, 4, b"hello", "hell", true),
            (Coding::Plain, 0, b"", "", false),
            (Coding::Gzip, 100, &zipped, "hello hello hello", false),
            (Coding::Gzip, 0, b"", "", false),
            (Coding::Deflate, 100, &deflated, "hello hello hello", false),
        ] {
            let read = read_all(coding, max, body).unwrap();
            assert_eq!(
                (String::from_utf8(read.bytes).unwrap().as_str(), read.truncated),
                (text, truncated)
            );
        }
    }

    #[test]
    fn a_bomb_is_cut_and_a_broken_stream_is_an_error() {
        let bomb = gzip(&vec![0; 10_000_000]);
        assert!(bomb.len() < 20_000);
        let read = read_all(Coding::Gzip, 50_000, &bomb).unwrap();
        assert_eq!((read.bytes.len(), read.truncated), (50_000, true));
        // Members that decompress to nothing, for ever.
        let empty = gzip(b"").repeat(1_000);
        assert!(read_all(Coding::Gzip, 1_000, &empty).unwrap().truncated);
        assert!(read_all(Coding::Gzip, 1_000, b"not gzip at all").is_err());
        assert!(read_all(Coding::Gzip, 1_000, &gzip(b"hello")[..15]).is_err());
    }
}
