//! Addresses that are not public, in every form they can hide in.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range that is not public.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Special {
    pub(super) rule: &'static str,
    /// To read on after "is".
    pub(super) what: &'static str,
}

/// A range, how many bits its addresses share, and what it is. The first that fits counts.
type Row<T> = (T, u8, &'static str, &'static str);

const V4: &[Row<Ipv4Addr>] = &[
    (v4(169, 254, 169, 254), 32, "address.metadata", "a cloud's metadata service"),
    (v4(169, 254, 170, 2), 32, "address.metadata", "a cloud's metadata service"),
    (v4(168, 63, 129, 16), 32, "address.metadata", "a cloud's metadata service"),
    (v4(100, 100, 100, 200), 32, "address.metadata", "a cloud's metadata service"),
    (v4(0, 0, 0, 0), 8, "address.unspecified", "an address of this machine"),
    (v4(10, 0, 0, 0), 8, "address.private", "a private address"),
    (v4(100, 64, 0, 0), 10, "address.private", "an address shared inside a provider's network"),
    (v4(127, 0, 0, 0), 8, "address.loopback", "an address of this machine"),
    (v4(169, 254, 0, 0), 16, "address.link_local", "a link-local address"),
    (v4(172, 16, 0, 0), 12, "address.private", "a private address"),
    (v4(192, 0, 0, 0), 24, "address.reserved", "reserved for protocols"),
    (v4(192, 0, 2, 0), 24, "address.reserved", "reserved for documentation"),
    (v4(192, 88, 99, 0), 24, "address.reserved", "a relay to IPv6 that is no longer used"),
    (v4(192, 168, 0, 0), 16, "address.private", "a private address"),
    (v4(198, 18, 0, 0), 15, "address.reserved", "reserved for benchmarks"),
    (v4(198, 51, 100, 0), 24, "address.reserved", "reserved for documentation"),
    (v4(203, 0, 113, 0), 24, "address.reserved", "reserved for documentation"),
    (v4(224, 0, 0, 0), 4, "address.multicast", "a multicast address"),
    (v4(240, 0, 0, 0), 4, "address.reserved", "reserved"),
];

const V6: &[Row<Ipv6Addr>] = &[
    (
        v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254]),
        128,
        "address.metadata",
        "a cloud's metadata service",
    ),
    (
        v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254]),
        128,
        "address.metadata",
        "a cloud's metadata service",
    ),
    (v6([0, 0, 0, 0, 0, 0, 0, 0]), 128, "address.unspecified", "an address of this machine"),
    (v6([0, 0, 0, 0, 0, 0, 0, 1]), 128, "address.loopback", "an address of this machine"),
    (v6([0, 0, 0, 0, 0, 0, 0, 0]), 96, "address.embedded", "an IPv4 address inside IPv6"),
    (v6([0, 0, 0, 0, 0xffff, 0, 0, 0]), 96, "address.embedded", "an IPv4 address inside IPv6"),
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0]), 48, "address.embedded", "an IPv4 address inside IPv6"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0]), 32, "address.embedded", "a tunnel to an IPv4 address"),
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0]), 16, "address.embedded", "a tunnel to an IPv4 address"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0]), 23, "address.reserved", "reserved for protocols"),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0]), 32, "address.reserved", "reserved for documentation"),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0]), 20, "address.reserved", "reserved for documentation"),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0]), 7, "address.private", "a private address"),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0]), 10, "address.link_local", "a link-local address"),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0]), 10, "address.private", "a private address"),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0]), 8, "address.multicast", "a multicast address"),
];

/// What the Internet gives out; everything else in IPv6 is not public, listed or not.
const GLOBAL_V6: (Ipv6Addr, u8) = (v6([0x2000, 0, 0, 0, 0, 0, 0, 0]), 3);

/// Where a network translates IPv4 for machines that have only IPv6. Such a machine gets every
/// public IPv4 host in this form, so what is inside decides.
const NAT64: (Ipv6Addr, u8) = (v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0]), 96);

/// What `ip` is if it is not public.
pub(super) fn special(ip: IpAddr) -> Option<Special> {
    match ip {
        IpAddr::V4(ip) => special_v4(ip),
        IpAddr::V6(ip) => special_v6(ip),
    }
}

fn special_v4(ip: Ipv4Addr) -> Option<Special> {
    let row = V4.iter().find(|(net, bits, ..)| covers((*net).into(), *bits, ip.into()));
    row.map(|(_, _, rule, what)| Special { rule, what })
}

fn special_v6(ip: Ipv6Addr) -> Option<Special> {
    if let Some(ip) = ip.to_ipv4_mapped().or_else(|| nat64(ip)) {
        return special_v4(ip);
    }
    let row = V6.iter().find(|(net, bits, ..)| covers((*net).into(), *bits, ip.into()));
    if let Some((_, _, rule, what)) = row {
        return Some(Special { rule, what });
    }
    if !covers(GLOBAL_V6.0.into(), GLOBAL_V6.1, ip.into()) {
        return Some(Special { rule: "address.reserved", what: "not a public address" });
    }
    isatap(ip).and_then(special_v4)
}

/// The IPv4 address that `ip` leads to, if it carries one.
pub(super) fn inner(ip: IpAddr) -> Option<IpAddr> {
    let IpAddr::V6(ip) = ip else { return None };
    let [_, high, low, ..] = ip.segments();
    let six_to_four = (ip.segments().first() == Some(&0x2002)).then(|| join(high, low));
    let found = ip.to_ipv4_mapped().or_else(|| nat64(ip)).or(six_to_four).or_else(|| isatap(ip));
    found.map(IpAddr::V4)
}

fn nat64(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    covers(NAT64.0.into(), NAT64.1, ip.into()).then(|| last_four(ip))
}

/// An interface identifier of `0:5efe` or `200:5efe` with an IPv4 address after it.
fn isatap(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [_, _, _, _, five, six, ..] = ip.segments();
    (matches!(five, 0 | 0x200) && six == 0x5efe).then(|| last_four(ip))
}

fn last_four(ip: Ipv6Addr) -> Ipv4Addr {
    let [.., high, low] = ip.segments();
    join(high, low)
}

const fn join(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits((high as u32) << 16 | low as u32)
}

/// Whether the first `bits` of `ip` are those of `net`.
pub(super) fn covers(net: IpAddr, bits: u8, ip: IpAddr) -> bool {
    let (difference, width) = match (net, ip) {
        (IpAddr::V4(net), IpAddr::V4(ip)) => (u128::from(net.to_bits() ^ ip.to_bits()), 32),
        (IpAddr::V6(net), IpAddr::V6(ip)) => (net.to_bits() ^ ip.to_bits(), 128),
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
    };
    let rest = u32::saturating_sub(width, u32::from(bits));
    difference.checked_shr(rest).unwrap_or(0) == 0
}

const fn v4(a: u8, b: u8, c: u8, d: u8) -> Ipv4Addr {
    Ipv4Addr::new(a, b, c, d)
}

/// From its eight groups.
const fn v6(groups: [u16; 8]) -> Ipv6Addr {
    let mut bits = 0;
    let mut rest = groups.as_slice();
    while let [first, after @ ..] = rest {
        bits = bits << 16 | *first as u128;
        rest = after;
    }
    Ipv6Addr::from_bits(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_every_range_to_its_edges() {
        for (first, last, rule) in [
            ("0.0.0.0", "0.255.255.255", "address.unspecified"),
            ("10.0.0.0", "10.255.255.255", "address.private"),
            ("100.64.0.0", "100.127.255.255", "address.private"),
            ("127.0.0.0", "127.255.255.255", "address.loopback"),
            ("169.254.0.0", "169.254.255.255", "address.link_local"),
            ("172.16.0.0", "172.31.255.255", "address.private"),
            ("192.0.0.0", "192.0.0.255", "address.reserved"),
            ("192.0.2.0", "192.0.2.255", "address.reserved"),
            ("192.88.99.0", "192.88.99.255", "address.reserved"),
            ("192.168.0.0", "192.168.255.255", "address.private"),
            ("198.18.0.0", "198.19.255.255", "address.reserved"),
            ("198.51.100.0", "198.51.100.255", "address.reserved"),
            ("203.0.113.0", "203.0.113.255", "address.reserved"),
            ("224.0.0.0", "239.255.255.255", "address.multicast"),
            ("240.0.0.0", "255.255.255.255", "address.reserved"),
            ("169.254.169.254", "169.254.169.254", "address.metadata"),
            ("168.63.129.16", "168.63.129.16", "address.metadata"),
            ("::1", "::1", "address.loopback"),
            ("::7f00:1", "::ffff:ffff", "address.embedded"),
            ("::ffff:0:7f00:1", "::ffff:0:ffff:ffff", "address.embedded"),
            ("::ffff:127.0.0.1", "::ffff:127.255.255.255", "address.loopback"),
            ("64:ff9b::10.0.0.1", "64:ff9b::10.255.255.255", "address.private"),
            ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "address.embedded"),
            ("100::1", "100::ffff", "address.reserved"),
            ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "address.embedded"),
            ("2001:2::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "address.reserved"),
            ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "address.reserved"),
            ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "address.embedded"),
            ("2600::5efe:10.0.0.1", "2600::200:5efe:10.0.0.1", "address.private"),
            ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "address.reserved"),
            ("4000::", "5f00:ffff::", "address.reserved"),
            ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "address.private"),
            ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "address.link_local"),
            ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "address.private"),
            ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "address.multicast"),
        ] {
            for ip in [first, last] {
                let special = special(ip.parse().unwrap());
                assert_eq!(special.map(|special| special.rule), Some(rule), "{ip}");
            }
        }
    }

    #[test]
    fn lets_public_addresses_be() {
        for ip in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2000::1",
            "2001:200::1",
            "2606:4700:4700::1111",
            "2a00:1450::1",
            "3ffe::1",
            "64:ff9b::1.1.1.1",
            "::ffff:1.1.1.1",
        ] {
            assert_eq!(special(ip.parse().unwrap()), None, "{ip}");
        }
    }
}
