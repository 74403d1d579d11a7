//! One server runs a long line of hostile commands: it stays up, its memory returns, and no process,
//! overlay or temporary file is left. `HOSTILE_COMMANDS=1000` runs as many; 62, two rounds, by default.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "real processes are started, and a failed setup should fail the test"
)]

#[path = "../clients/http.rs"]
#[expect(dead_code, reason = "other tests share it and need more of it")]
mod http;
#[path = "../clients/served.rs"]
#[expect(dead_code, reason = "other tests share it and need more of it")]
mod served;

use std::{fs, path::Path, time::Instant};

use serde_json::json;

use crate::served::Served;

const CONFIG: &str = "[tools]\nask = \"auto\"\nexec.timeout = \"1s\"\n\
    sandbox.written = \"50MB\"\nsandbox.memory = \"256MB\"\nsandbox.processes = 64\n\
    [tools.by_channel.http]\nalso_allow = [\"exec\"]\n";

/// Each does harm in its own way. `N` becomes the command's number.
const COMMANDS: &[&str] = &[
    // Deep, wide, long, odd.
    "python3 -c \"\nimport os\nfor i in range(1500):\n os.mkdir('d'); os.chdir('d')\n\"",
    "mkdir wideN && cd wideN && seq 3000 | xargs touch && rm -rf ../wideN",
    "touch $(printf 'n%.0s' $(seq 255)) && rm n*; touch \"$(printf 'n%.0s' $(seq 256))\"",
    "mkdir oddN && cd oddN && touch $'a\\nb' $'\\xff\\xfe' ' ' '-rf' '*' && cd .. && rm -rf oddN",
    // Sparse, large, endless.
    "truncate -s 40M sN && truncate -s 49M /tmp/tN",
    "for i in $(seq 50); do truncate -s 40M fN-$i; done; rm -f fN-*",
    "fallocate -n -l 2G /tmp/z; head -c 200000000 /dev/zero > /tmp/big",
    "head -c 200000000 /dev/zero > bigN",
    "yes",
    "head -c 3000000 /dev/zero",
    "head -c 3000000 /dev/urandom",
    "cat /dev/zero > /dev/shm/x",
    // Floods.
    ":(){ :|:& };:",
    "for i in $(seq 200); do sleep 60 & done; wait",
    "python3 -c \"x = []\nwhile True: x.append(bytearray(10**7))\"",
    "setsid sleep 60 & disown; nohup sleep 60 >/dev/null 2>&1 & echo left",
    "while true; do :; done",
    // Things that are no files.
    "mkfifo pN; (sleep 60 > pN) & exit 0",
    "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('sockN')\"",
    "ln -s loopN loopN; ln -s . selfN; ln -s ../../../.. upN; ls -LR . | head -c 100000",
    "ln -s b aN; ln -s aN b; cat b",
    // Closed, marked, protected.
    "mkdir -p zeroN/x && chmod 000 zeroN/x && chmod 000 zeroN",
    "echo x > modeN && chmod 000 modeN",
    "python3 -c \"import os; open('attrN','w'); os.setxattr('attrN', 'user.x', b'y' * 1000)\"",
    "mkdir c; echo evil > c/settings.json; ln -s c .claude; rm -rf c",
    "mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit; rm -rf .git/hooks",
    // Ends in odd ways.
    "kill -9 $$",
    "kill -STOP $$",
    "exec 1>&- 2>&-; sleep 60",
    "exit 137",
    "python3 -c \"import os; os.abort()\"",
];

/// Resident memory, in KiB.
fn resident(process: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

/// Processes below another one.
fn below(process: u32) -> Vec<u32> {
    let children = |pid: u32| {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
        let lists: Vec<_> = lists.collect();
        let ids = lists.iter().flat_map(|list| list.split_whitespace());
        ids.filter_map(|id| id.parse().ok()).collect::<Vec<u32>>()
    };
    let (mut found, mut next) = (Vec::new(), vec![process]);
    while let Some(pid) = next.pop() {
        let all = children(pid);
        found.extend(&all);
        next.extend(all);
    }
    found
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn a_server_outlives_hostile_commands() {
    let total = std::env::var("HOSTILE_COMMANDS").map_or(62, |text| text.parse().unwrap());
    let served = Served::new(CONFIG);
    let granted = served.command().args(["permissions", "grant", "exec"]).output().unwrap();
    assert!(granted.status.success(), "{granted:?}");
    let call = |command: &str| {
        let body = json!({"command": command}).to_string();
        let target = ("POST", "/v1/tools/exec");
        http::send((&served.base, &served.token), target, &[], &body).unwrap()
    };
    let works = |when: &str| {
        let answer = call("echo here");
        let json = answer.json();
        assert_eq!(json["result"]["stdout"], "here\n", "{when}: {answer:?}\n{}", served.log());
    };
    works("at first");
    let (began, mut first) = (Instant::now(), 0);
    for number in 0..total {
        let command = COMMANDS[number % COMMANDS.len()].replace('N', &number.to_string());
        let answer = call(&command);
        assert!(!answer.json()["status"].is_null(), "{number} `{command}`: {answer:?}");
        if number + 1 == COMMANDS.len().min(total) {
            first = resident(served.id());
        }
    }
    works("at last");
    let took = began.elapsed();
    // Clean-up happens after the answer, so give it some time.
    let data = served.data().join("data");
    let mut checks_left = 600;
    let idle = |ids: &[u32]| {
        let name = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        ids.iter().map(name).all(|name| !name.starts_with("sleep") && !name.starts_with("yes"))
    };
    while (count(&data.join("overlays")) > 0 || !idle(&below(served.id()))) && checks_left > 0 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        checks_left -= 1;
    }
    assert_eq!(count(&data.join("overlays")), 0, "overlays are left");
    assert!(idle(&below(served.id())), "processes are left: {:?}", below(served.id()));
    assert_eq!(count(&data.join("copies")), 0, "copies are left");
    let last = resident(served.id());
    println!(
        "{total} commands in {took:?}; resident {first} kB after the first round, {last} kB now"
    );
    assert!(last < first + first / 4 + 50_000, "memory grew from {first} kB to {last} kB");
    let temp = fs::read_dir(served.workspace()).unwrap().flatten();
    let ours = temp.filter(|entry| entry.file_name().to_string_lossy().starts_with(".toolgate"));
    assert_eq!(ours.count(), 0, "temp files are left");
}
