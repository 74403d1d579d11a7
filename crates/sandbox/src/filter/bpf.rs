//! Programs for the kernel's filter machine.

use libc::{c_long, sock_filter};

use super::list::Rule;
use crate::wire::Sockets;

#[cfg(target_arch = "x86_64")]
const MACHINE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const MACHINE: u32 = 0xC000_00B7;

/// The newest call that was judged: `mseal`.
const NEWEST: u32 = 462;

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const GREATER: u32 = libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K;
const AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
const JUMP: u32 = libc::BPF_JMP | libc::BPF_JA;
const AND: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
const ANY_BIT: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

const NUMBER: u32 = 0;
const ARCH: u32 = 4;

const ALLOW: sock_filter = op(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0);
const KILL: sock_filter = op(RETURN, libc::SECCOMP_RET_KILL_PROCESS, 0, 0);

/// A program in the making.
#[derive(Debug)]
pub(super) struct Program(Vec<sock_filter>);

impl Program {
    /// Ends a process that uses another machine's entry, where the numbers mean something else.
    pub(super) fn only_this_machine() -> Self {
        Self(vec![
            op(LOAD, ARCH, 0, 0),
            op(EQUAL, MACHINE, 1, 0),
            KILL,
            op(LOAD, NUMBER, 0, 0),
            op(GREATER, NEWEST, 0, 3),
            // The x32 entry of x86-64 sets this bit.
            op(GREATER, 0x3FFF_FFFF, 0, 1),
            KILL,
            fail(libc::ENOSYS),
        ])
    }

    /// Judges calls by what `judged` says of them, and allows all others.
    pub(super) fn judge(mut self, mut judged: Vec<(c_long, Rule)>) -> Vec<sock_filter> {
        judged.sort_by_key(|(call, _)| *call);
        self.0.extend(tree(&judged));
        self.0
    }
}

/// A binary tree: the kernel runs a new filter once for every call there is, to remember which are
/// always allowed, so that a list would cost a quarter of what a process does.
fn tree(judged: &[(c_long, Rule)]) -> Vec<sock_filter> {
    let (left, right) = judged.split_at(judged.len() / 2);
    match right {
        [] => vec![ALLOW],
        [(call, rule)] if left.is_empty() => {
            let body = body(rule);
            let mut leaf = vec![op(EQUAL, number(*call), 0, length(&body))];
            leaf.extend(body);
            leaf.push(ALLOW);
            leaf
        }
        [(first, _), ..] => {
            let (left, right) = (tree(left), tree(right));
            let call = number(*first);
            let mut node = if let Ok(skipped) = u8::try_from(left.len()) {
                vec![op(AT_LEAST, call, skipped, 0)]
            } else {
                // Too far for a jump that depends on something.
                let skipped = u32::try_from(left.len()).unwrap_or(u32::MAX);
                vec![op(AT_LEAST, call, 0, 1), op(JUMP, skipped, 0, 0)]
            };
            node.extend(left);
            node.extend(right);
            node
        }
    }
}

fn length(body: &[sock_filter]) -> u8 {
    u8::try_from(body.len()).unwrap_or(u8::MAX)
}

/// What a rule becomes. Every path through it returns.
fn body(rule: &Rule) -> Vec<sock_filter> {
    match *rule {
        Rule::Refused(errno) => vec![fail(errno)],
        Rule::NoBits { arg, bits } => {
            vec![load(arg), op(ANY_BIT, bits, 0, 1), fail(libc::EPERM), ALLOW]
        }
        Rule::NoBitsIf { flags, among, arg, bits } => vec![
            load(flags),
            op(ANY_BIT, among, 0, 3),
            load(arg),
            op(ANY_BIT, bits, 0, 1),
            fail(libc::EPERM),
            ALLOW,
        ],
        Rule::Only { arg, values, errno } => {
            let mut body = vec![load(arg)];
            body.extend(values.iter().flat_map(|value| [op(EQUAL, *value, 0, 1), ALLOW]));
            body.push(fail(errno));
            body
        }
        Rule::AllBut { arg, values } => {
            let mut body = vec![load(arg)];
            let refuse = |value: &u32| [op(EQUAL, *value, 0, 1), fail(libc::EPERM)];
            body.extend(values.iter().flat_map(refuse));
            body.push(ALLOW);
            body
        }
        Rule::Socket(Sockets::Namespaced) => socket(),
        Rule::Socket(Sockets::Unconnected) => unix_streams(),
        Rule::Socket(Sockets::Proxied) => internet(&[libc::SOCK_STREAM]),
        Rule::Socket(Sockets::Open) => internet(&[libc::SOCK_STREAM, libc::SOCK_DGRAM]),
    }
}

/// Streams and datagrams of the usual families, and routing information, which many programs ask
/// for to list addresses. No raw ones: in a network namespace of one's own they are harmless, on
/// the host's they are not.
fn socket() -> Vec<sock_filter> {
    let [unix, inet, inet6, netlink] =
        [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(i32::cast_unsigned);
    let [stream, datagram] = [libc::SOCK_STREAM, libc::SOCK_DGRAM].map(i32::cast_unsigned);
    let refuse = fail(libc::EAFNOSUPPORT);
    vec![
        load(0),
        op(EQUAL, unix, 0, 1),
        ALLOW,
        op(EQUAL, inet, 1, 0),
        op(EQUAL, inet6, 0, 5),
        load(1),
        op(AND, KIND, 0, 0),
        op(EQUAL, stream, 5, 0),
        op(EQUAL, datagram, 4, 0),
        refuse,
        op(EQUAL, netlink, 0, 3),
        load(2),
        op(EQUAL, libc::NETLINK_ROUTE.cast_unsigned(), 0, 1),
        ALLOW,
        refuse,
    ]
}

/// Unix sockets that send nothing without a connection.
fn unix_streams() -> Vec<sock_filter> {
    let [unix, stream, sequence] =
        [libc::AF_UNIX, libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(i32::cast_unsigned);
    vec![
        load(0),
        op(EQUAL, unix, 0, 4),
        load(1),
        op(AND, KIND, 0, 0),
        op(EQUAL, stream, 2, 0),
        op(EQUAL, sequence, 1, 0),
        fail(libc::EAFNOSUPPORT),
        ALLOW,
    ]
}

/// Internet sockets of these kinds, with the protocol that is usual for them.
fn internet(kinds: &[i32]) -> Vec<sock_filter> {
    let [inet, inet6] = [libc::AF_INET, libc::AF_INET6].map(i32::cast_unsigned);
    let refuse = fail(libc::EAFNOSUPPORT);
    let mut body = vec![
        load(0),
        op(EQUAL, inet, 2, 0),
        op(EQUAL, inet6, 1, 0),
        refuse,
        // Other protocols of the same kind would pass by Landlock's rules about TCP.
        load(2),
        op(EQUAL, 0, 3, 0),
        op(EQUAL, libc::IPPROTO_TCP.cast_unsigned(), 2, 0),
        op(EQUAL, libc::IPPROTO_UDP.cast_unsigned(), 1, 0),
        refuse,
        load(1),
        op(AND, KIND, 0, 0),
    ];
    body.extend(kinds.iter().flat_map(|kind| [op(EQUAL, kind.cast_unsigned(), 0, 1), ALLOW]));
    body.push(refuse);
    body
}

/// The bits of a socket's type that are not flags.
const KIND: u32 = 0xF;

/// Loads the low half of an argument; all that are looked at are 32 bits wide for the kernel too.
const fn load(arg: u32) -> sock_filter {
    op(LOAD, 16 + 8 * arg, 0, 0)
}

const fn fail(errno: i32) -> sock_filter {
    op(RETURN, libc::SECCOMP_RET_ERRNO | errno.cast_unsigned(), 0, 0)
}

#[expect(clippy::cast_possible_truncation, reason = "operations have 16 bits")]
const fn op(code: u32, k: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter { code: code as u16, jt: yes, jf: no, k }
}

fn number(call: c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}
