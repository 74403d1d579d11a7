//! Programs that look at files, not into them.

use super::super::{Operands, entry::Entry};

pub(super) const ENTRIES: &[Entry] = &[
    Entry::paths(
        "df",
        "-h -H -T -i -k -m -l -P -a -B:text -t:text -x:text --human-readable --print-type --inodes \
         --local --portability --total --all --type:text --exclude-type:text --output?text \
         --block-size:text --si",
    )
    .with(&["df -h", "df -hT ."], &["df /etc", "df --sync"]),
    Entry::paths(
        "du",
        "-h -s -a -c -k -m -b -x -l -S -0 -d:text -B:text -t:text --human-readable --summarize --all --total \
         --max-depth:text --apparent-size --bytes --exclude:text --one-file-system --time?text \
         --block-size:text --si --null --threshold:text --separate-dirs",
    )
    .with(
        &["du -sh .", "du -h -d 1", "du --max-d=1 src"],
        &["du --files0-from=list0", "du -L .", "du -X list", "du /etc", "du -D x"],
    ),
    Entry::paths(
        "file",
        "-b -i -k -N -n -0 -r -e:text --brief --mime --mime-type --mime-encoding --keep-going --raw \
         --extension --no-pad",
    )
    .with(
        &["file README.md", "file -bi a b"],
        &["file -f list", "file -m magic a", "file -C -m x", "file -z a", "file -Z a", "file -s a"],
    ),
    Entry::paths(
        "ls",
        "-a -A -l -h -r -t -R -1 -d -F -i -s -S -X -c -u -U -n -o -g -p -C -x -m -k -G -N -Q -q -b -B -v -f \
         -H -L -T:text -I:text -w:text -Z --all --almost-all --human-readable --reverse --recursive --directory \
         --classify?text --file-type --inode --size --sort:text --time:text --time-style:text --full-time \
         --color?text --format:text --ignore:text --hide:text --ignore-backups --width:text --block-size:text --si \
         --group-directories-first --no-group --author --escape --literal --quote-name --quoting-style:text \
         --indicator-style:text --numeric-uid-gid --kibibytes --tabsize:text --zero --context \
         --dereference --dereference-command-line --dereference-command-line-symlink-to-dir --show-control-chars \
         --hide-control-chars --hyperlink?text",
    )
    .with(&["ls", "ls -la src", "ls --rev -1 .", "ls -I '*.o'"], &["ls /", "ls ..", "ls ../*", "ls ~", "ls --x"]),
    Entry::paths("readlink", "-f -e -m -n -q -s -v -z --canonicalize --no-newline --zero")
        .with(&["readlink -f a"], &["readlink /proc/self/exe"]),
    Entry::paths(
        "realpath",
        "-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --relative-to:path \
         --relative-base:path --strip --no-symlinks --zero --quiet",
    )
    .with(&["realpath a"], &["realpath /etc", "realpath --relative-to=/ a"]),
    Entry::paths("stat", "-f -t -c:text --format:text --printf:text --file-system --terse")
        .with(&["stat a", "stat -c %s a b"], &["stat -L a", "stat /etc/shadow"]),
    Entry::paths(
        "tree",
        "-a -d -f -i -q -N -Q -p -u -g -s -h -D -F -C -n -v -t -c -U -r -x -J -X -S -A -L1 -L2 -L3 -L4 -L5 -L6 -L:text -P:text -I:text \
         --du --si --dirsfirst --filesfirst --noreport --prune --matchdirs --ignore-case --gitignore \
         --filelimit:text --timefmt:text --sort:text --charset:text --inodes --device",
    )
    .separated()
    .in_full()
    .with(
        &["tree", "tree -L 2 -I target src", "tree -L2"],
        &["tree -o OUT",
            "tree -Lo 1 OUT",
            "tree -Lo1", "tree -R -L 1", "tree -H .", "tree --fromfile a", "tree -l", "tree /etc", "tree --gitfile=/x"],
    ),
    Entry::paths(
        "fd",
        "-e:text -t:text -H -I -d:text -g -i -s -a -p -u -0 -E:text --extension:text --type:text --hidden \
         --no-ignore --max-depth:text --glob --ignore-case --case-sensitive --absolute-path --full-path \
         --exclude:text --color:text --min-depth:text --size:text --changed-within:text --print0 --fixed-strings -F",
    )
    .taking(Operands::TextThenPaths(""))
    .in_full()
    .with(&["fd -e rs", "fd main src", "fd"], &["fd -x rm", "fd -X rm", "fd --exec rm", "fd -l", "fd -L x", "fd x /etc", "fd --ignore-file x"]),
    Entry::paths("getfacl", "-p -c -a -d -n").with(&["getfacl a"], &["getfacl -R /", "getfacl -L a"]),
    Entry::new("locate", "-i -c -b -e -l:text -n:text").taking(Operands::Text).with(&["locate main.rs"], &["locate -d /x a", "locate --database=x a"]),
    Entry::paths("lsattr", "-a -d -l").with(&["lsattr a"], &["lsattr -R /"]),
    Entry::paths("tokei", "-f -C").with(&["tokei", "tokei src"], &["tokei -i x", "tokei /etc"]),
    Entry::new("whereis", "-b -m -s").taking(Operands::Text).with(&["whereis gcc"], &["whereis -B /x -f a"]),
    Entry::new("which", "-a").taking(Operands::Text).finding().with(&["which ls", "which -a git"], &["which --x"]),
];
