//! Runs lines in bash, in a folder of their own, where the only programs are stubs.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        process::CommandExt as _,
    },
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// What bash ran for one line.
pub(crate) struct Ran {
    pub(crate) line: usize,
    pub(crate) words: Vec<String>,
}

/// Programs that only write down that they ran; other programs run these by name.
const STUBS: &[&str] = &["s0", "s1", "s2"];
/// Real programs that run other programs. They find nothing but stubs.
const WRAPPERS: &[&str] = &["env", "nice", "nohup", "stdbuf", "timeout", "xargs", "bash", "sh"];

/// Far more than any line takes that ends.
const PATIENCE: Duration = Duration::from_secs(4);

const STUB: &str = "#!/bin/sh
line=\"$_ID$_US${0##*/}$_US\"
for word; do line=\"$line$word$_US\"; done
printf '%s' \"$line$_RS\" >>\"$_LOG\"
";

/// Every program that bash does not find ends here. Half of the names fail.
const DRIVER: &str = r#"
ulimit -t 120 -f 20000
FUNCNEST=50
export _US=$'\037' _RS=$'\036'
command_not_found_handle() {
    local line="$_ID$_US" word
    for word; do line+="$word$_US"; done
    builtin printf '%s' "$line$_RS" >>"$_LOG"
    [[ $1 != [d-f]* ]]
}
export -f command_not_found_handle
readonly -f command_not_found_handle
export _ID _LOG
mapfile -d '' -t _LINES <"$1"
for ((_ID = $2; _ID < ${#_LINES[@]}; _ID++)); do
    builtin echo "$_ID" >"$_LOG.at"
    ( builtin cd "$_ID" && eval "${_LINES[_ID]}" ) </dev/null >/dev/null 2>&1
done
"#;

pub(crate) fn run(lines: &[String]) -> Vec<Ran> {
    let folder = tempfile::tempdir().unwrap();
    let (bin, work) = (folder.path().join("bin"), folder.path().join("work"));
    programs(&bin);
    for line in 0..lines.len() {
        fs::create_dir_all(work.join(line.to_string())).unwrap();
    }
    let (input, log) = (folder.path().join("lines"), folder.path().join("log"));
    let driver = folder.path().join("driver");
    fs::write(&input, lines.join("\0") + "\0").unwrap();
    fs::write(&log, "").unwrap();
    fs::write(&driver, DRIVER).unwrap();
    let at = folder.path().join("log.at");
    let (mut start, mut endless) = (0, Vec::new());
    while start < lines.len() {
        #[expect(clippy::disallowed_methods, reason = "bash is the judge")]
        let mut bash = Command::new("/bin/bash");
        bash.args(["--norc", "--noprofile"]).arg(&driver).arg(&input).arg(start.to_string());
        bash.current_dir(&work).env_clear();
        bash.env("PATH", &bin).env("HOME", &work).env("_LOG", &log);
        bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Some lines never end; the next process goes on behind them.
        match stuck(bash.process_group(0).spawn().unwrap(), &at) {
            Some(line) => {
                endless.push(line);
                start = line + 1;
            }
            None => break,
        }
    }
    // What was killed while it wrote has written half of it.
    let mut ran = records(&fs::read(&log).unwrap());
    ran.retain(|one| !endless.contains(&one.line));
    ran
}

/// The line that does not end, if one does not.
fn stuck(mut bash: Child, at: &Path) -> Option<usize> {
    let line = || fs::read_to_string(at).ok()?.trim().parse::<usize>().ok();
    let (mut now, mut since) = (line(), Instant::now());
    while bash.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
        if line() != now {
            (now, since) = (line(), Instant::now());
        }
        if since.elapsed() > PATIENCE {
            end_group(bash.id());
            bash.wait().unwrap();
            return now;
        }
    }
    // What went on in the background writes a moment later, and some of it would do so for ever.
    std::thread::sleep(Duration::from_millis(200));
    end_group(bash.id());
    None
}

fn end_group(id: u32) {
    #[expect(clippy::disallowed_methods, reason = "the whole group, which is ours")]
    let mut kill = Command::new("/bin/kill");
    kill.args(["-KILL", "--", &format!("-{id}")]).stderr(Stdio::null()).status().unwrap();
}

fn programs(bin: &Path) {
    fs::create_dir_all(bin).unwrap();
    for stub in STUBS {
        let path = bin.join(stub);
        fs::write(&path, STUB).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for wrapper in WRAPPERS {
        let real = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(wrapper));
        let real = real.iter().find(|path| path.exists());
        symlink(real.expect("a usual program"), bin.join(wrapper)).unwrap();
    }
}

fn records(log: &[u8]) -> Vec<Ran> {
    let text = String::from_utf8_lossy(log);
    let records = text.split('\u{1e}').filter(|record| !record.is_empty());
    let read = |record: &str| {
        let mut words = record.split('\u{1f}').map(str::to_owned);
        let line = words.next()?.parse().ok()?;
        let mut words: Vec<_> = words.collect();
        words.pop();
        Some(Ran { line, words })
    };
    records.filter_map(read).collect()
}
