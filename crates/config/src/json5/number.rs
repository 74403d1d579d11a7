//! Numbers of JSON5.

use crate::node::Value;

/// What is said about numbers that are none.
pub(super) const NOT_FINITE: &str = "`Infinity` and `NaN` are no settings; write a number";

const WRONG: &str = "expected a number such as `5`, `-0.5`, `1e3` or `0x1F`";
const TOO_LARGE: Value = Value::Other("a number that is too large");

/// The number that `token` is, or what is wrong. JSON5 has more ways to write one than Rust.
pub(super) fn number(token: &str) -> Result<Value, &'static str> {
    let (sign, digits) = match token.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", token.strip_prefix('+').unwrap_or(token)),
    };
    if matches!(digits, "Infinity" | "NaN") {
        return Err(NOT_FINITE);
    }
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        let fits = !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        return if fits { Ok(integer(sign, hex, 16)) } else { Err(WRONG) };
    }
    if !is_decimal(digits) {
        return Err(WRONG);
    }
    if all_digits(digits) {
        return Ok(integer(sign, digits, 10));
    }
    format!("{sign}{digits}").parse().map(float).map_err(|_| WRONG)
}

fn integer(sign: &str, digits: &str, radix: u32) -> Value {
    let number = i128::from_str_radix(&format!("{sign}{digits}"), radix);
    number.map_or(TOO_LARGE, Value::Integer)
}

/// There is one kind of number in JSON5, so `3.0` is as good as `3`.
fn float(number: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if !number.is_finite() {
        return TOO_LARGE;
    }
    let whole = number.fract() == 0.0 && number.abs() <= EXACT;
    let integer = whole.then(|| format!("{number:.0}").parse().ok()).flatten();
    integer.map_or(Value::Float(number), Value::Integer)
}

/// `12`, `1.5`, `.5`, `5.` and any of them with an exponent; no zeros in front.
fn is_decimal(digits: &str) -> bool {
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let missing = exponent.is_empty() || (whole.is_empty() && fraction.is_empty());
    let zeros = whole.len() > 1 && whole.starts_with('0');
    !missing && !zeros && [whole, fraction, exponent].into_iter().all(all_digits)
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn every_way_to_write_a_number() {
        let large = r#"Other("a number that is too large")"#;
        for (token, expected) in [
            ("0", "Integer(0)"),
            ("-5", "Integer(-5)"),
            ("+5", "Integer(5)"),
            ("0x1F", "Integer(31)"),
            ("-0Xff", "Integer(-255)"),
            (".5", "Float(0.5)"),
            ("-1.25e-2", "Float(-0.0125)"),
            ("5.", "Integer(5)"),
            ("-0.0", "Integer(0)"),
            ("1E+3", "Integer(1000)"),
            ("1e300", "Float(1e300)"),
            ("1e999", large),
            (&"9".repeat(99), large),
        ] {
            assert_eq!(format!("{:?}", number(token).unwrap()), expected, "{token}");
        }
    }

    #[test]
    fn what_is_not_quite_a_number_is_refused() {
        let tokens =
            "+ - . e5 1e 1e+ 01 1.2.3 --1 +-1 1_000 5px 0x 0xg 0x1.5 0x-1 1e5.5 ٤ inf -inf";
        for token in tokens.split(' ').chain(["", "Infinity", "-NaN", "+Infinity"]) {
            assert!(number(token).is_err(), "{token}");
        }
    }
}
