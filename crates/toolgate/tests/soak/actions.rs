//! What clients do, and how often.

use futures_util::future::LocalBoxFuture;

use crate::{asking, chat, gone, mcp, people, random::Random, reload, rest, sockets, turn::Turn};

type Act = for<'a> fn(&'a mut Turn) -> LocalBoxFuture<'a, ()>;

macro_rules! actions {
    ($($weight:literal $module:ident::$name:ident)*) => {
        &[$(($weight, concat!(stringify!($module), " ", stringify!($name)), |turn| {
            Box::pin($module::$name(turn))
        })),*]
    };
}

/// Each with its share of all.
const ACTIONS: &[(u64, &str, Act)] = actions![
    60 rest::read
    50 rest::write_and_edit
    40 rest::tasks
    40 rest::notes
    40 rest::look_around
    40 rest::wrong
    30 rest::on_one_connection
    25 rest::exec
    25 rest::told_as_it_runs
    20 rest::undo
    15 rest::cancel
    50 chat::whole
    50 chat::streamed
    20 chat::other_formats
    20 chat::session
    15 chat::sent_and_removed
    10 chat::stopped
    10 chat::failing
    40 asking::answered
    15 asking::answered_by_socket
    15 asking::answered_in_chat
    10 asking::cancelled
    60 mcp::call
    20 mcp::progress
    20 mcp::comes_back
    10 mcp::comes_back_late
    5 mcp::never_comes_back
    20 mcp::session
    15 mcp::elicited
    10 mcp::abandoned
    15 mcp::listens
    30 sockets::call
    15 sockets::watch
    10 sockets::speak
    10 sockets::cancel
    15 gone::in_a_request
    15 gone::in_a_call
    15 gone::in_a_stream
    15 gone::in_a_question
    10 gone::in_a_socket
    20 gone::at_once
    15 gone::slow_reader
    10 people::token
    10 people::user
    10 reload::reload
];

/// The next one.
pub(crate) fn next(random: &mut Random) -> (&'static str, Act) {
    let all = ACTIONS.iter().map(|(weight, ..)| weight).sum();
    let mut left = random.below(all);
    for &(weight, kind, act) in ACTIONS {
        if left < weight {
            return (kind, act);
        }
        left -= weight;
    }
    unreachable!("it is below the sum")
}
