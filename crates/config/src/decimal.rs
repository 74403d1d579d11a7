//! Numbers with a point.

/// A number with a point, such as a price in dollars. Exact to the sixth digit after it, so that sums
/// of money are sums of whole numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decimal {
    millionths: u64,
}

/// More than anything costs, and little enough to be multiplied.
const LARGEST: u64 = 1_000_000 * MILLION;
const MILLION: u64 = 1_000_000;

impl Decimal {
    /// So many millionths; none if that is too much.
    pub const fn from_millionths(millionths: u64) -> Option<Self> {
        if millionths > LARGEST { None } else { Some(Self { millionths }) }
    }

    /// So many; none if that is too much.
    pub(crate) fn from_whole(whole: i128) -> Option<Self> {
        let whole = u64::try_from(whole).ok()?;
        Self::from_millionths(whole.checked_mul(MILLION)?)
    }

    /// The number; none if it is negative, too large, or has more digits after the point than fit.
    pub(crate) fn from_float(float: f64) -> Option<Self> {
        let text = format!("{float:.6}");
        let (whole, fraction) = text.split_once('.')?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let exact = text.parse::<f64>().is_ok_and(|read| read.to_bits() == float.to_bits());
        if !exact || !digits(whole) || !digits(fraction) {
            return None;
        }
        let whole = whole.parse::<u64>().ok()?.checked_mul(MILLION)?;
        Self::from_millionths(whole.checked_add(fraction.parse().ok()?)?)
    }

    /// How many millionths: micro-dollars, if it is dollars.
    pub const fn millionths(self) -> u64 {
        self.millionths
    }

    /// For those who calculate with floats.
    pub fn as_f64(self) -> f64 {
        let (whole, fraction) = (self.millionths / MILLION, self.millionths % MILLION);
        format!("{whole}.{fraction:06}").parse().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn what_is_written_is_what_is_meant() {
        for (float, millionths) in [
            (0.0, Some(0)),
            (0.1, Some(100_000)),
            (0.3, Some(300_000)),
            (3.0, Some(3_000_000)),
            (0.000_001, Some(1)),
            (0.075, Some(75_000)),
            (1_000_000.0, Some(1_000_000_000_000)),
            (1_000_000.1, None),
            (0.000_000_1, None),
            (-0.5, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
        ] {
            let found = Decimal::from_float(float);
            assert_eq!(found.map(Decimal::millionths), millionths, "{float}");
            assert!(found.is_none_or(|found| found.as_f64().to_bits() == float.to_bits()));
        }
        assert_eq!(Decimal::from_whole(3), Decimal::from_float(3.0));
        assert_eq!(Decimal::from_whole(-1), None);
        assert_eq!(Decimal::from_whole(i128::MAX), None);
    }
}
