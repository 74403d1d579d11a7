//! Archives and compressed files, listed or printed.

use super::super::{
    Operands,
    entry::{Arguments, Entry},
    path,
};

pub(super) const ENTRIES: &[Entry] = &[
    Entry::paths("bzcat", "").with(&["bzcat a.bz2"], &["bzcat -f a"]),
    Entry::paths("7z l", "-ba -slt").at_most(1).in_full()
        .with(&["7z l a.7z"], &["7z x a.7z", "7z l @list", "7z l a.7z -o/x"]).checked(no_list),
    Entry::new("ar", "").reading(ar).with(&["ar t lib.a", "ar -tv lib.a"], &["ar x lib.a", "ar r lib.a a.o", "ar t @list", "ar tx lib.a", "ar d lib.a a.o"]),
    Entry::paths("bzip2", "-c -d -k -q -t -v --stdout --decompress --keep --quiet --test --verbose").checked(prints)
        .with(&["bzip2 -dc a.bz2", "bzip2 -t a.bz2"], &["bzip2 a", "bzip2 -d a.bz2", "bzip2 -k a"]),
    Entry::paths("gunzip", "-c -l -q -t -v -k --stdout --to-stdout --list --quiet --test --verbose --keep").checked(prints)
        .with(&["gunzip -c a.gz", "gunzip -l a.gz"], &["gunzip a.gz", "gunzip -k a.gz", "gunzip -r ."]),
    Entry::paths("gzip", "-c -d -l -q -t -v -k -1 -9 --stdout --to-stdout --decompress --uncompress --list --quiet --test --verbose --keep").checked(prints)
        .with(&["gzip -l a.gz", "gzip -dc a.gz", "gzip -c a"], &["gzip a", "gzip -d a.gz", "gzip -k a", "gzip -r ."]),
    Entry::new("tar", "").reading(old_tar).with(&["tar tf a.tar", "tar tzvf a.tgz"], &["tar xf a.tar", "tar cf a.tar b", "tar tfx a.tar", "tar tfI a.tar ./x", "tar tf h:a.tar", "tar tf a.tar -I x", "tar tf /x.tar", "tar tf a.tar --to-command=x"]),
    Entry::new("unzip", "-l -v -t -p -q -Z -1 -qq").taking(Operands::Text).in_full().checked(unzip)
        .with(&["unzip -l a.zip", "unzip -p a.zip b.txt", "unzip -Z1 a.zip"], &["unzip a.zip", "unzip -o a.zip", "unzip -l /x.zip", "unzip -d x a.zip", "unzip -q a.zip", "unzip -l"]),
    Entry::paths("xz", "-c -d -l -q -t -v -k --stdout --to-stdout --decompress --list --quiet --test --verbose --keep").checked(prints)
        .with(&["xz -dc a.xz", "xz -l a.xz"], &["xz a", "xz -d a.xz", "xz --files=x -dc"]),
    Entry::paths("zipinfo", "-1 -s -m -l -h -t -v").at_most(1).with(&["zipinfo a.zip", "zipinfo -1 a.zip"], &["zipinfo /x.zip", "zipinfo -T a"]),
    Entry::paths("zstd", "-c -d -l -q -t -v -k --stdout --decompress --list --quiet --test --verbose --keep").checked(prints)
        .with(&["zstd -dc a.zst", "zstd -l a.zst"], &["zstd a", "zstd -d a.zst", "zstd --filelist=x -dc"]),
    Entry::paths("zstdcat", "").with(&["zstdcat a.zst"], &["zstdcat -o x a"]),
    Entry::new("tar", "-t -v -z -j -J -a -f:path --list --verbose --gzip --bzip2 --xz --auto-compress --file:path")
        .taking(Operands::Text)
        .before(&["--force-local"])
        .checked(tar)
        .with(
            &["tar -tf a.tar", "tar -tzvf a.tgz", "tar -tf a.tar src", "tar --list --file=a.tar"],
            &[
                "tar -xf a.tar",
                "tar -cf b a",
                "tar -tf a.tar -F ./evil.sh -M",
                "tar --rsh-command=./evil.sh -tf host:/x",
                "tar -tf /x.tar",
                "tar -tf a.tar --to-command=x",
                "tar -tf a.tar -I ./x",
                "tar -tf a.tar --use-compress-program=x",
                "tar -tf h:a.tar",
                "tar -f a.tar",
                "tar -tf a.tar --checkpoint-action=exec=x",
                "tar -tf a.tar -T list",
            ],
        ),
    Entry::paths("xzcat", "").with(&["xzcat a.xz"], &["xzcat --files=x"]),
    Entry::paths("zcat", "").with(&["zcat a.gz"], &["zcat /x.gz", "zcat -S x a"]),
];

/// Only to list, and only a file: `host:file` is another machine.
fn tar(arguments: &Arguments) -> Result<(), String> {
    let files =
        arguments.options.iter().filter(|(name, _)| matches!(name.as_str(), "-f" | "--file"));
    let files: Vec<_> = files.filter_map(|(_, value)| value.as_deref()).collect();
    if !arguments.has(&["-t", "--list"])
        || files.is_empty()
        || files.iter().any(|file| file.contains(':'))
    {
        return Err("`tar` is only known to be harmless when it lists a file".to_owned());
    }
    Ok(())
}

/// Old options without a dash: the letters of [`tar`]'s, the first of them `t`.
fn old_tar(words: &[String]) -> Result<Vec<String>, String> {
    let refuse = || Err("`tar` is only known to be harmless when it lists a file".to_owned());
    let [letters, file, members @ ..] = words else { return refuse() };
    let known = letters.starts_with('t')
        && letters.matches('f').count() == 1
        && letters.chars().all(|letter| "tvzjJaf".contains(letter));
    if !known || file.contains(':') || members.iter().any(|member| member.starts_with('-')) {
        return refuse();
    }
    path::check(file)?;
    let letters: String = letters.chars().filter(|letter| *letter != 'f').collect();
    let mut given = vec![
        "--force-local".to_owned(),
        format!("-{letters}"),
        format!("-f{file}"),
        "--".to_owned(),
    ];
    given.extend(members.iter().cloned());
    Ok(given)
}

/// `ar t archive`, with members.
fn ar(words: &[String]) -> Result<Vec<String>, String> {
    let [operation, archive, members @ ..] = words else {
        return Err("`ar` lists no archive".to_owned());
    };
    let lists = matches!(operation.trim_start_matches('-'), "t" | "tv" | "p" | "pv");
    if !lists || members.iter().any(|member| member.starts_with(['-', '@'])) {
        return Err(format!("`ar {operation}` is not known to be harmless"));
    }
    path::check(archive)?;
    if archive.starts_with('@') {
        return Err(format!("`{archive}` names a file with options"));
    }
    Ok(words.to_vec())
}

/// Only to print, list or test: everything else writes a file.
fn prints(arguments: &Arguments) -> Result<(), String> {
    let ways = ["-c", "-l", "-t", "--stdout", "--to-stdout", "--list", "--test"];
    if arguments.has(&ways) {
        return Ok(());
    }
    Err("it would write a file".to_owned())
}

fn unzip(arguments: &Arguments) -> Result<(), String> {
    let Some(archive) = arguments.operands.first() else {
        return Err("`unzip` has no file".to_owned());
    };
    path::check(archive)?;
    if arguments.has(&["-l", "-v", "-t", "-p", "-Z"]) {
        return Ok(());
    }
    Err("`unzip` would write files".to_owned())
}

fn no_list(arguments: &Arguments) -> Result<(), String> {
    match arguments.operands.iter().find(|operand| operand.starts_with('@')) {
        Some(operand) => Err(format!("`{operand}` names a list of files")),
        None => Ok(()),
    }
}
