//! Filters of `jq`.

use super::super::entry::Arguments;

pub(super) const HARMLESS: &[&str] = &[
    "jq . data.json",
    "jq -r .name data.json",
    "jq 'keys' data.json",
    "jq length data.json",
    "jq '.env | .a[0]' a",
    "jq -c 'map(select(.x > 1))' a",
    "jq --arg n ada '.[] | select(.name == $n)' a",
    "jq . a --argjson n 1",
];
pub(super) const NOT: &[&str] = &[
    "jq -n env",
    "jq -n '$ENV'",
    "jq -n '\"\\(env)\"'",
    "jq --rawfile x /etc/passwd -n '$x'",
    "jq -f evil.jq",
    "jq -L . 'import \"a\" as a; .'",
    "jq 'include \"a\"; .' b",
    "jq . /etc/x",
    "jq --slurpfile a b .",
    "jq --argfile a b .",
    "jq -n 'modulemeta'",
    "jq --from-file a",
    "jq -n '$__prog_args'",
    "jq --run-tests a",
    "jq -n 'input_filename, $ENV.PATH'",
    "jq --arg x",
    "jq --arg=x y z . a",
    "jq --arg a . env",
    "jq . --arg a b /etc/passwd",
];

/// What reads the environment, other files or modules.
const REFUSED: &[&str] =
    &["ENV", "__prog_args", "env", "get_search_list", "import", "include", "modulemeta"];

pub(super) fn check(arguments: &Arguments) -> Result<(), String> {
    let filter = arguments.operands.first().map(String::as_str).unwrap_or_default();
    let (mut before, mut word, mut start) = (' ', String::new(), ' ');
    for letter in filter.chars().chain([' ']) {
        if letter.is_ascii_alphanumeric() || letter == '_' {
            if word.is_empty() {
                start = before;
            }
            word.push(letter);
        } else {
            // `.env` is a field.
            if start != '.' && REFUSED.contains(&word.as_str()) {
                return Err(format!("`{word}` in a filter of `jq` is not known to be harmless"));
            }
            word.clear();
        }
        before = letter;
    }
    Ok(())
}
