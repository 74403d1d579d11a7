//! Archives and compressed files, listed or printed.

use super::super::{
    Operands,
    entry::{Arguments, Entry},
};

pub(super) const ENTRIES: &[Entry] = &[
    Entry::paths("bzcat", "").with(&["bzcat a.bz2"], &["bzcat -f a"]),
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
                "tar tf a.tar",
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
