//! The folders the judge sees, and the programs in them.
//!
//! There is no system in there: every file that can be executed by a name a line may write is a stub
//! that writes down that it ran. The stub of a wrapper or a shell then goes on as the real program,
//! which lies in a folder whose name nobody knows.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use sandbox::{Access, Bind, Source};
use tempfile::TempDir;

/// Programs that only write down that they ran.
const STUBS: &[&str] = &["s0", "s1", "s2"];
/// Programs that run other programs, and write it down too.
const WRAPPERS: &[&str] = &["env", "nice", "nohup", "stdbuf", "timeout", "xargs", "bash", "sh"];
/// Where lines find programs by their absolute paths, and where they are looked up without `PATH`.
pub(crate) const FOLDERS: &[&str] = &["/bin", "/usr/bin"];

/// Where the locale is that commands of ours have; on some machines libraries bring it.
const LOCALES: &[&str] = &["/usr/lib/locale/C.utf8", "/usr/lib/locale/C.UTF-8"];

/// Between words, and behind what ran.
pub(crate) const UNIT: char = '\u{1f}';
pub(crate) const RECORD: char = '\u{1e}';
/// In place of a line break: bash writes line by line, and several at once would write into each other.
pub(crate) const BREAK: char = '\u{1d}';

/// Writes a record down. Which line it belongs to is said by a limit that nothing uses, because a
/// limit is handed on whatever becomes of variables, folders and descriptors.
const WRITE: &str = r#"#!@REAL@/bash -p
mapfile -t limits </proc/self/limits
id=(${limits[11]#Max file locks})
printf -v record '%s\037' "${id[0]}" "$0" "$@"
record=${record//$'\n'/$'\035'}
printf '%s\036' "$record" >>"@LOG@"
"#;

/// Goes on as the real program.
const GO_ON: &str = r#"exec "@REAL@/${0##*/}" "$@"
"#;

/// The same for a shell, which also gets the handler for what it does not find.
const GO_ON_AS_SHELL: &str = r#"export _ID=${id[0]}
@HANDLER@
exec "@REAL@/${0##*/}" "$@"
"#;

/// Every program that bash does not find ends here. Half of the names fail.
const HANDLER: &str = r#"
command_not_found_handle() {
    local record
    builtin printf -v record '%s\037' "$_ID" "$@"
    record=${record//$'\n'/$'\035'}
    builtin printf '%s\036' "$record" >>"@LOG@"
    [[ $1 != [d-f]* ]]
}
export -f command_not_found_handle
"#;

/// Runs one line after the other. A line has no arguments, as a command of ours has none: with them
/// it could write to the files they name. What went on in the background gets a moment at the end.
const DRIVER: &str = r#"
exec >/dev/null 2>&1
FUNCNEST=50
@HANDLER@
readonly -f command_not_found_handle
export _ID
mapfile -d '' -t _LINES <"$1"
_ID=$2 _AT=$3 _FOLDERS=$4
set --
for ((; _ID < ${#_LINES[@]}; _ID++)); do
    builtin echo "$_ID" >"$_AT"
    ( builtin ulimit -Sx "$_ID"; builtin cd "$_FOLDERS/$_ID" && eval "${_LINES[_ID]}" ) </dev/null
done
builtin read -rt 0.2
builtin echo "$_ID" >"$_AT"
"#;

/// What is the same for all lines.
pub(crate) struct Room {
    folder: TempDir,
}

impl Room {
    pub(crate) fn new() -> Self {
        // Not in `/tmp`, which is another one inside.
        let folder = tempfile::Builder::new().prefix("judge-").tempdir_in("/var/tmp").unwrap();
        let room = Self { folder };
        let wrappers: Vec<_> = WRAPPERS.iter().map(|name| (name, find(name))).collect();
        for (name, real) in &wrappers {
            copy(real, &room.tools().join("real").join(name), 0o755);
        }
        for file in needed(wrappers.iter().map(|(_, real)| real.as_path())) {
            // Only what loads a program must be executable itself.
            let loads =
                file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ld"));
            copy(&file, &room.inside_root(&file), if loads { 0o755 } else { 0o644 });
        }
        let folders = FOLDERS.iter().map(|folder| room.inside_root(Path::new(folder)));
        for folder in folders.chain([room.path()]) {
            room.stubs(&folder);
        }
        write(&room.driver(), &room.text(DRIVER), 0o644);
        room
    }

    /// Where bash looks for programs.
    pub(crate) fn path(&self) -> PathBuf {
        self.tools().join("path")
    }

    /// The shell itself.
    pub(crate) fn bash(&self) -> PathBuf {
        self.tools().join("real/bash")
    }

    pub(crate) fn driver(&self) -> PathBuf {
        self.tools().join("driver")
    }

    /// Where a folder of lines is, inside. It has the same name for every batch.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn tools(&self) -> PathBuf {
        self.folder.path().join("tools")
    }

    /// All that a job needs to see.
    pub(crate) fn binds(&self) -> Vec<Bind> {
        let root = self.inside_root(Path::new("/"));
        let tops = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
        let mut binds: Vec<_> =
            tops.map(|top| (Path::new("/").join(top.file_name().unwrap()), top)).collect();
        binds.push((self.tools(), self.tools()));
        let bind = |(target, source)| Bind {
            source: Source::Path(source),
            target,
            access: Access::ReadOnly,
        };
        binds.into_iter().map(bind).collect()
    }

    fn inside_root(&self, path: &Path) -> PathBuf {
        self.folder.path().join("root").join(path.strip_prefix("/").unwrap())
    }

    fn stubs(&self, folder: &Path) {
        for name in STUBS {
            write(&folder.join(name), &self.text(WRITE), 0o755);
        }
        for name in WRAPPERS {
            let shell = matches!(*name, "bash" | "sh");
            let text = format!("{WRITE}{}", if shell { GO_ON_AS_SHELL } else { GO_ON });
            write(&folder.join(name), &self.text(&text), 0o755);
        }
    }

    fn text(&self, of: &str) -> String {
        let (real, log) = (self.tools().join("real"), self.work().join("log"));
        let text = of.replace("@HANDLER@", HANDLER);
        let text = text.replace("@REAL@", real.to_str().unwrap());
        text.replace("@LOG@", log.to_str().unwrap())
    }
}

fn find(name: &str) -> PathBuf {
    let mut places = FOLDERS.iter().map(|folder| Path::new(folder).join(name));
    places.find(|path| path.exists()).unwrap_or_else(|| panic!("this machine has no `{name}`"))
}

/// The files that some programs need: their libraries, the one `stdbuf` brings, and a locale.
fn needed<'a>(programs: impl Iterator<Item = &'a Path>) -> Vec<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "it only lists what is loaded")]
    let list = Command::new("ldd").args(programs).output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let libraries = list.lines().filter_map(|line| {
        let path =
            line.split_whitespace().find(|word| word.starts_with('/') && !word.ends_with(':'));
        path.map(PathBuf::from)
    });
    let buffering = ["/usr/libexec/coreutils/libstdbuf.so", "/usr/lib/coreutils/libstdbuf.so"];
    let buffering = buffering.map(PathBuf::from).into_iter().filter(|path| path.exists());
    let locale = LOCALES.iter().flat_map(|folder| files(Path::new(folder)));
    libraries.chain(buffering).chain(locale).collect()
}

/// Every file beneath a folder; none if there is no such folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn copy(from: &Path, to: &Path, mode: u32) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap();
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).unwrap();
}

fn write(path: &Path, text: &str, mode: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
