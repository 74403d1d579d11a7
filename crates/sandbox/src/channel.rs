//! Messages with descriptors beside them.

use std::{
    fs::File,
    io::{self, IoSlice, IoSliceMut, Read, Seek, Write},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{MemfdFlags, memfd_create},
    io::Errno,
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
        SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg,
        sendmsg, socketpair,
    },
};
use serde::{Serialize, de::DeserializeOwned};

/// What the kernel passes along with one message.
pub(crate) const MOST_DESCRIPTORS: usize = 250;

// What fits into the buffer of a socket many times over; more goes by a file in memory.
const LONGEST: usize = 32 << 10;

const HERE: u8 = 0;
const IN_FILE: u8 = 1;

/// Two connected ends. Each message arrives whole; neither end survives an `exec`.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC;
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// Sends a message. It either goes at once or not at all on a socket that does not block.
pub(crate) fn send(
    socket: impl AsFd,
    body: &impl Serialize,
    fds: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut bytes = postcard::to_extend(body, vec![HERE]).map_err(io::Error::other)?;
    if bytes.len() <= LONGEST {
        return send_bytes(socket, &bytes, fds);
    }
    let mut file = File::from(memfd_create("message", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes.get(1..).unwrap_or_default())?;
    bytes.truncate(1);
    bytes.fill(IN_FILE);
    let mut fds = fds.to_vec();
    fds.push(file.as_fd());
    send_bytes(socket, &bytes, &fds)
}

/// Takes a message; none if the other end is gone.
pub(crate) fn receive<T: DeserializeOwned>(
    socket: impl AsFd,
) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut bytes = vec![0; LONGEST];
    let Some((length, mut fds)) = receive_bytes(socket, &mut bytes)? else { return Ok(None) };
    bytes.truncate(length);
    let (kind, body) = bytes.split_first().ok_or(io::ErrorKind::InvalidData)?;
    let body = if *kind == IN_FILE {
        let mut file = File::from(fds.pop().ok_or(io::ErrorKind::InvalidData)?);
        let mut body = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut body)?;
        body
    } else {
        body.to_vec()
    };
    Ok(Some((postcard::from_bytes(&body).map_err(io::Error::other)?, fds)))
}

fn send_bytes(socket: impl AsFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    if fds.len() > MOST_DESCRIPTORS {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    rustix::io::retry_on_intr(|| {
        sendmsg(&socket, &[IoSlice::new(bytes)], &mut beside, SendFlags::NOSIGNAL)
    })?;
    Ok(())
}

fn receive_bytes(socket: impl AsFd, bytes: &mut [u8]) -> io::Result<Option<(usize, Vec<OwnedFd>)>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let received = rustix::io::retry_on_intr(|| {
        recvmsg(&socket, &mut [IoSliceMut::new(bytes)], &mut beside, RecvFlags::CMSG_CLOEXEC)
    });
    let received = match received {
        Err(Errno::CONNRESET) => return Ok(None),
        other => other?,
    };
    if received.bytes == 0 {
        return Ok(None);
    }
    let cut = ReturnFlags::TRUNC | ReturnFlags::CTRUNC;
    if received.flags.intersects(cut) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut fds = Vec::new();
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    Ok(Some((received.bytes, fds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_any_length_arrive_whole_with_their_descriptors() {
        for length in [0, 1, LONGEST - 8, LONGEST, 5 << 20] {
            let (here, there) = pair().unwrap();
            let body = vec![7_u8; length];
            let fds = vec![here.as_fd(); 3];
            send(&here, &body, &fds).unwrap();
            let (got, beside) = receive::<Vec<u8>>(&there).unwrap().unwrap();
            assert_eq!((got.len(), beside.len()), (length, 3));
            assert_eq!(got, body);
        }
    }

    #[test]
    fn an_end_that_is_gone_is_the_end() {
        let (here, there) = pair().unwrap();
        drop(there);
        assert!(receive::<u8>(&here).unwrap().is_none());
        assert!(send(&here, &1, &[]).is_err());
    }
}
