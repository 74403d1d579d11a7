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
    Entry::new("ifconfig", "-a -s").with(&["ifconfig", "ifconfig -a"], &["ifconfig lo down", "ifconfig lo"]),
    Entry::new("ip a", "").with(&["ip a"], &["ip a add 1.2.3.4 dev lo", "ip a flush dev lo"]),
    Entry::new("ip addr", "").with(&["ip addr"], &["ip addr add 1.2.3.4/8 dev lo", "ip -b x addr"]),
    Entry::new("ip addr show", "").with(&["ip addr show"], &["ip netns exec x ls"]),
    Entry::new("ip link", "").with(&["ip link"], &["ip link set lo up"]),
    Entry::new("ip route", "").with(&["ip route"], &["ip route add default via 1.2.3.4"]),
    Entry::new("last", "-a -F -i -w -0..9 -n:text").taking(Operands::Text).with(&["last", "last -5"], &["last -f /x"]),
    Entry::new("locale", "-a -m").with(&["locale", "locale -a"], &["locale -x"]),
    Entry::new("lsblk", "-a -f -l -m -n -p -t -J -o:text --json --output:text --all --fs").with(&["lsblk", "lsblk -f"], &["lsblk --sysroot=/x"]),
    Entry::new("lsof", "-n -P -i?text -t -p:text -u:text").taking(Operands::Text).with(&["lsof -i :80", "lsof -nP -iTCP:80"], &["lsof -F x -r 1", "lsof -D b"]),
    Entry::new("netstat", "-t -l -n -p -a -u -r -i -s -e -W").with(&["netstat -tln"], &["netstat -c"]),
    Entry::new("pgrep", "-f -l -a -x -n -o -c -u:text -P:text").taking(Operands::Text).with(&["pgrep -fl node"], &["pgrep -F file", "pkill node", "pgrep -L x"]),
    Entry::new("printenv", "-0 --null").taking(Operands::Text).finding().with(&["printenv", "printenv PATH"], &["printenv --x"]),
    Entry::new("sleep", "").taking(Operands::Text).with(&["sleep 1", "sleep 0.5"], &["sleep 1 > x"]),
    Entry::new("ss", "-t -u -l -n -p -a -x -s -4 -6 -H -O -e -m -i -r").with(&["ss -tlnp"], &["ss -K", "ss -F x", "ss -D x", "ss --kill"]),
    Entry::new("stty", "-a --all").reading(stty).with(&["stty size", "stty -a"], &["stty raw", "stty -F /dev/x size"]),
    Entry::new("tput", "").reading(tput).with(&["tput cols"], &["tput reset", "tput -T x cols"]),
    Entry::new("tty", "-s").with(&["tty"], &["tty x"]),
    Entry::new("w", "-h -s -f").with(&["w"], &["w x"]),
    Entry::new("who", "-a -b -H -q -r -u -m").with(&["who", "who -b"], &["who /x"]),
    Entry::new("groups", "").with(&["groups"], &["groups $(touch x)"]),
    Entry::new("hostname", "-s -I -i --short --all-ip-addresses --ip-address")
        .with(&["hostname", "hostname -s"], &["hostname evil", "hostname -F a", "hostname -b x"]),
    Entry::new("id", "-u -g -G -n -r -z --user --group --groups --name --real --zero")
        .taking(Operands::Text)
        .with(&["id", "id -un"], &["id -Z", "id $(touch x)"]),
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

/// Anything else changes the terminal.
fn stty(words: &[String]) -> Result<Vec<String>, String> {
    match words {
        [one] if matches!(one.as_str(), "size" | "-a" | "speed") => Ok(words.to_vec()),
        _ => Err("`stty` is only known to be harmless when it tells about the terminal".to_owned()),
    }
}

fn tput(words: &[String]) -> Result<Vec<String>, String> {
    match words {
        [one] if matches!(one.as_str(), "cols" | "lines" | "colors") => Ok(words.to_vec()),
        _ => Err("`tput` is only known to be harmless when it tells about the terminal".to_owned()),
    }
}
