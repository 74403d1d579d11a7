//! Our ends of what a command reads and writes.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use rustix::{io::Errno, pipe::PipeFlags};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf, unix::AsyncFd},
    net::unix::pipe,
};

use crate::sys;

/// What a command reads. Dropping it is the end of its input; on a terminal that is typed instead.
#[derive(Debug)]
pub struct Input(Into);

/// What a command writes.
#[derive(Debug)]
pub struct Output(From);

#[derive(Debug)]
enum Into {
    Pipe(pipe::Sender),
    Terminal(Arc<AsyncFd<OwnedFd>>),
}

#[derive(Debug)]
enum From {
    Pipe(pipe::Receiver),
    Terminal(Arc<AsyncFd<OwnedFd>>),
}

impl Output {
    /// A pipe: the end that commands write to, and ours. It ends when nobody has the first any more.
    pub fn pipe() -> io::Result<(OwnedFd, Self)> {
        let (ours, theirs) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        Ok((theirs, Self(From::Pipe(pipe::Receiver::from_owned_fd(ours)?))))
    }
}

/// Our ends before they can be used.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    stdin: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
}

/// Our ends.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    pub(crate) stdin: Option<Input>,
    pub(crate) stdout: Option<Output>,
    pub(crate) stderr: Option<Output>,
    pub(crate) terminal: Option<Arc<AsyncFd<OwnedFd>>>,
}

impl Ends {
    /// Three pipes: the command's ends, and ours.
    pub(crate) fn pipes() -> io::Result<([OwnedFd; 3], Self)> {
        let pipe = || rustix::pipe::pipe_with(PipeFlags::CLOEXEC);
        let ((stdin, to), (from, stdout), (errors, stderr)) = (pipe()?, pipe()?, pipe()?);
        let ours = Self { stdin: Some(to), stdout: Some(from), stderr: Some(errors) };
        Ok(([stdin, stdout, stderr], ours))
    }

    /// Makes them usable here and now; `terminal` is our end of a terminal, if there is one.
    pub(crate) fn open(self, terminal: Option<OwnedFd>) -> io::Result<Streams> {
        if let Some(terminal) = terminal {
            rustix::io::ioctl_fionbio(&terminal, true)?;
            let terminal = Arc::new(sys::watch(terminal)?);
            return Ok(Streams {
                stdin: Some(Input(Into::Terminal(terminal.clone()))),
                stdout: Some(Output(From::Terminal(terminal.clone()))),
                stderr: None,
                terminal: Some(terminal),
            });
        }
        let receiver = |fd| pipe::Receiver::from_owned_fd(fd).map(|pipe| Output(From::Pipe(pipe)));
        let sender = |fd| pipe::Sender::from_owned_fd(fd).map(|pipe| Input(Into::Pipe(pipe)));
        Ok(Streams {
            stdin: self.stdin.map(sender).transpose()?,
            stdout: self.stdout.map(receiver).transpose()?,
            stderr: self.stderr.map(receiver).transpose()?,
            terminal: None,
        })
    }
}

impl AsyncRead for Output {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            From::Pipe(pipe) => Pin::new(pipe).poll_read(cx, into),
            From::Terminal(terminal) => loop {
                let mut ready = ready!(terminal.poll_read_ready(cx))?;
                let room = into.initialize_unfilled();
                match ready.try_io(|terminal| Ok(rustix::io::read(terminal.as_fd(), room)?)) {
                    Ok(Ok(count)) => {
                        into.advance(count);
                        return Poll::Ready(Ok(()));
                    }
                    // Nobody has the terminal any more, and everything has been read.
                    Ok(Err(error)) if Errno::from_io_error(&error) == Some(Errno::IO) => {
                        return Poll::Ready(Ok(()));
                    }
                    Ok(Err(error)) => return Poll::Ready(Err(error)),
                    Err(_would_block) => {}
                }
            },
        }
    }
}

impl AsyncWrite for Input {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().0 {
            Into::Pipe(pipe) => Pin::new(pipe).poll_write(cx, bytes),
            Into::Terminal(terminal) => loop {
                let mut ready = ready!(terminal.poll_write_ready(cx))?;
                match ready.try_io(|terminal| Ok(rustix::io::write(terminal.as_fd(), bytes)?)) {
                    Ok(written) => return Poll::Ready(written),
                    Err(_would_block) => {}
                }
            },
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            Into::Pipe(pipe) => Pin::new(pipe).poll_shutdown(cx),
            Into::Terminal(_) => Poll::Ready(Ok(())),
        }
    }
}
