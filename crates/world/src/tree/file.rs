//! Names the content of a file, without reading its holes.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
};

use rustix::{
    fs::{SeekFrom as Whence, seek},
    io::Errno,
};
use tool::{ContentHasher, Digest, Live};

const BUFFER_BYTES: usize = 64 * 1024;
/// Asking whether the call was stopped takes a lock, so not every buffer asks.
const BUFFERS_PER_CHECK: usize = 16;

/// Hashes a file and counts its bytes: [`Digest::of_content`]. The holes of a sparse file cost
/// nothing. Ends with an error when `live` does.
pub(crate) fn hash_file(mut file: &File, live: &Live) -> io::Result<(Digest, u64)> {
    let mut hasher = ContentHasher::default();
    let mut buffer = vec![0; BUFFER_BYTES];
    let (mut at, mut size) = (0, file.metadata()?.len());
    loop {
        live.check().map_err(io::Error::other)?;
        let data = next_data(file, at, size)?;
        hasher.zeros(data - at);
        at = file.seek(SeekFrom::Start(data))?;
        // Up to here there is data; the next hole is looked for then.
        let end = next_hole(file, at, size)?;
        file.seek(SeekFrom::Start(at))?;
        let mut buffers = 0;
        while at < end && buffers < BUFFERS_PER_CHECK {
            let read = file.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            hasher.update(bytes);
            at += bytes.len() as u64;
            buffers += 1;
        }
        let now = file.metadata()?.len();
        if at >= now || (buffers == 0 && at == data && now == size) {
            return Ok(hasher.finish());
        }
        size = now;
    }
}

/// Where the next data begins; the end of the file if there is none.
fn next_data(file: &File, at: u64, size: u64) -> io::Result<u64> {
    match seek(file, Whence::Data(at)) {
        Ok(data) => Ok(data.min(size.max(at))),
        Err(Errno::NXIO) => Ok(size.max(at)),
        // This file system does not know of holes.
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(at),
        Err(errno) => Err(errno.into()),
    }
}

/// Where the next hole begins, or the end of the file.
fn next_hole(file: &File, at: u64, size: u64) -> io::Result<u64> {
    match seek(file, Whence::Hole(at)) {
        Ok(hole) => Ok(hole),
        Err(Errno::NXIO | Errno::INVAL | Errno::OPNOTSUPP) => Ok(size),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write as _, time::Instant};

    use super::*;

    #[test]
    fn a_hole_counts_like_the_zeros_it_stands_for() {
        let temp = tempfile::tempdir().unwrap();
        for (hole, tail) in [(0, 0), (100, 5), (5 << 20, 0), (5 << 20, 70_000), (9 << 20, 1)] {
            let mut file = File::create_new(temp.path().join(format!("{hole}-{tail}"))).unwrap();
            file.write_all(b"head").unwrap();
            file.set_len(4 + hole).unwrap();
            file.seek(SeekFrom::End(0)).unwrap();
            file.write_all(&vec![7; tail]).unwrap();
            let file = File::open(temp.path().join(format!("{hole}-{tail}"))).unwrap();
            let written = std::fs::read(temp.path().join(format!("{hole}-{tail}"))).unwrap();
            let expected = (Digest::of_content(&written), written.len() as u64);
            assert_eq!(hash_file(&file, &Live::default()).unwrap(), expected, "{hole} {tail}");
        }
    }

    #[test]
    fn a_huge_sparse_file_costs_next_to_nothing() {
        let temp = tempfile::tempfile().unwrap();
        temp.set_len(1 << 40).unwrap();
        let began = Instant::now();
        let (_, bytes) = hash_file(&temp, &Live::default()).unwrap();
        assert_eq!(bytes, 1 << 40);
        assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    }

    #[test]
    fn a_call_that_ended_hashes_nothing_more() {
        let temp = tempfile::tempfile().unwrap();
        let live = Live::default();
        live.cancellation().cancel();
        assert!(hash_file(&temp, &live).is_err());
    }
}
