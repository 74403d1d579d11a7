//! Programs that say something about the machine.

use super::{
    super::{Operands, entry::Entry},
    ps,
};

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new(
        "free",
        "-b -k -m -g -h -t -l -w -v --bytes --kilo --mega --giga --kibi --mebi --gibi --human --si --total \
         --lohi --wide",
    )
    .with(&["free -m", "free -h"], &["free -s 1", "free -c 5"]),
    Entry::new("groups", "").with(&["groups"], &["groups $x"]),
    Entry::new("hostname", "-s -I -i --short --all-ip-addresses --ip-address")
        .with(&["hostname", "hostname -s"], &["hostname evil", "hostname -F a", "hostname -b x"]),
    Entry::new("id", "-u -g -G -n -r -z --user --group --groups --name --real --zero")
        .taking(Operands::Text)
        .with(&["id", "id -un"], &["id -Z", "id $x"]),
    Entry::new("lscpu", "-a -b -c -e?text -J -p?text -x -y --all --json --extended?text --parse?text --output-all")
        .with(&["lscpu"], &["lscpu -s /", "lscpu --sysroot=/x"]),
    Entry::new("ps", "-e -A -a -f -F -l -x -u?text -p:text -o:text -C:text --pid:text --sort:text --no-headers --forest -H -w -L")
        .taking(Operands::Text)
        .checked(ps::check)
        .with(&["ps", "ps aux", "ps -ef", "ps -o pid,comm"], &["ps auxe", "ps e", "ps -o pid,environ -e", "ps --info"]),
    Entry::new("uname", "-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --machine --operating-system")
        .with(&["uname -a", "uname -sr"], &["uname x"]),
    Entry::new("uptime", "-p -s --pretty --since").with(&["uptime"], &["uptime x"]),
    Entry::new("whoami", "").with(&["whoami"], &["whoami x"]),
];
