//! Names of tools, compared after they were made alike.

use tool::ToolInfo;

/// The form in which names are compared: `apply-patch`, `ApplyPatch` and `apply_patch` are one.
pub fn fold(name: &str) -> String {
    let letters = name.trim().chars().filter(|c| !matches!(c, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}

/// Whether `pattern` of a policy list means `tool`: a name, an alias, `group:<section>`, or any of
/// these with `*` for anything.
pub fn matches(pattern: &str, tool: &ToolInfo) -> bool {
    if let Some(group) = pattern.trim().strip_prefix("group:") {
        return like(&fold(group), &fold(tool.section.name()));
    }
    let pattern = fold(pattern);
    let aliases = tool.aliases.iter().map(String::as_str);
    std::iter::once(&*tool.name).chain(aliases).any(|name| like(&pattern, &fold(name)))
}

/// Matches `*` without looking back further than the last one.
fn like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        if let Some(found) = last.replace(part) {
            let Some((_, after)) = rest.split_once(found) else { return false };
            rest = after;
        }
    }
    last.map_or(rest.is_empty(), |end| rest.ends_with(end))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool::{Info, Section, ToolInfo};

    use super::matches;

    #[test]
    fn a_pattern_means_a_tool_by_name_alias_group_or_wildcard() {
        let info = Info { section: Section::Fs, aliases: &["apply-patch"], ..Info::DEFAULT };
        let tool = ToolInfo::with("apply_patch", "Patch.", json!({}), info);
        for (pattern, expected) in [
            ("apply_patch", true),
            ("ApplyPatch", true),
            ("apply-patch", true),
            ("apply*", true),
            ("*patch", true),
            ("a*p*h", true),
            ("*", true),
            ("group:fs", true),
            ("group:web", false),
            ("apply", false),
            ("patch", false),
            ("*x*", false),
            ("", false),
        ] {
            assert_eq!(matches(pattern, &tool), expected, "{pattern}");
        }
    }
}
