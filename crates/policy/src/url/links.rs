//! The URLs that stand in a text.

use url::Url;

/// Attributes of HTML that hold one.
const ATTRIBUTES: [&str; 2] = ["href=", "src="];
/// What ends a URL in a text.
const ENDS: [char; 9] = ['"', '\'', '`', '<', '>', ')', ']', '}', '\\'];
/// What is rather the end of a sentence than of a URL.
const STOPS: [char; 6] = ['.', ',', ';', ':', '!', '?'];

/// Nobody writes a longer one.
const MAX_BYTES: usize = 4096;

/// Every URL that stands in `text`, as a program would follow it, without fragments; at most `max`.
/// Those of attributes may be relative to `base`.
pub fn links(text: &str, base: &str, max: usize) -> Vec<String> {
    let base = Url::parse(base).ok();
    let absolute = ["https://", "http://"].into_iter().flat_map(|scheme| starts(text, scheme, 0));
    let relative = ATTRIBUTES.into_iter().flat_map(|name| starts(text, name, name.len()));
    let relative = relative.map(|rest| rest.trim_start_matches(['"', '\'', '\\']));
    let absolute = absolute.flat_map(|rest| read(rest, None));
    let relative = relative.filter(|rest| !is_absolute(rest));
    let relative = relative.flat_map(|rest| read(rest, base.as_ref()));
    absolute.chain(relative).take(max).collect()
}

fn is_absolute(rest: &str) -> bool {
    rest.starts_with("http://") || rest.starts_with("https://")
}

/// What follows each place of `mark`, from `skip` bytes on.
fn starts<'a>(text: &'a str, mark: &'static str, skip: usize) -> impl Iterator<Item = &'a str> {
    text.match_indices(mark).filter_map(move |(at, _)| text.get(at + skip..))
}

/// The URL at the beginning of `rest`. One that ends like a sentence is two: with the end, and
/// without.
fn read(rest: &str, base: Option<&Url>) -> Vec<String> {
    // One that goes on and on must not be read again and again.
    let rest = rest.get(..rest.floor_char_boundary(MAX_BYTES)).unwrap_or_default();
    let end = rest.find(|c: char| c.is_whitespace() || ENDS.contains(&c)).unwrap_or(rest.len());
    let whole = rest.get(..end).unwrap_or_default();
    let stripped = whole.trim_end_matches(STOPS);
    let mut both = vec![whole];
    if stripped.len() < whole.len() {
        both.push(stripped);
    }
    both.into_iter().filter_map(|text| normalised(&text.replace("&amp;", "&"), base)).collect()
}

/// As [`super::CheckedUrl::as_str`] has it.
fn normalised(text: &str, base: Option<&Url>) -> Option<String> {
    let mut url = match base {
        Some(base) => base.join(text).ok()?,
        None => Url::parse(text).ok()?,
    };
    url.set_fragment(None);
    Some(url.into())
}

#[cfg(test)]
mod tests {
    use super::links;

    #[test]
    fn finds_what_can_be_followed() {
        let base = "https://a.example/x/y?z";
        for (text, expected) in [
            ("", ""),
            ("see https://b.example/?q=1.", "https://b.example/?q=1. https://b.example/?q=1"),
            ("<https://b.example/a#top>", "https://b.example/a"),
            (r#"<a href="https://b.example/?a=1&amp;b=2">"#, "https://b.example/?a=1&b=2"),
            (
                r#"<a href="/p?q=1"> <img src='i.png'>"#,
                "https://a.example/p?q=1 https://a.example/x/i.png",
            ),
            (r#"{"next":"http://b.example/2"}"#, "http://b.example/2"),
            ("HTTPS://B.example/ is not found", ""),
            ("https://", ""),
        ] {
            assert_eq!(links(text, base, 10).join(" "), expected, "{text}");
        }
        assert_eq!(links(&"http://b.example/ ".repeat(20), base, 10).len(), 10);
        assert_eq!(links("href=x", "a plugin", 10).len(), 0, "relative to nothing");
    }
}
