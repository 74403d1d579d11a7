//! Names of tools, compared after they were made alike.

use tool::{Section, ToolInfo};

/// The group of every tool but those for files, commands and plugins.
pub(crate) const OPENCLAW_GROUP: &str = "openclaw";

/// The form in which names are compared: `apply-patch`, `ApplyPatch` and `apply_patch` are one.
pub fn fold(name: &str) -> String {
    let letters = name.trim().chars().filter(|c| !matches!(c, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}

/// Whether `pattern` of a policy list means `tool`: a name, an alias, `group:<section>`,
/// `group:openclaw`, or any of these with `*` for anything.
pub fn matches(pattern: &str, tool: &ToolInfo) -> bool {
    if let Some(group) = fold(pattern).strip_prefix("group:") {
        return in_group(group.trim_start(), tool);
    }
    let aliases = tool.aliases.iter().map(String::as_str);
    means(pattern, std::iter::once(&*tool.name).chain(aliases))
}

/// Names of a tool that need not be registered.
pub(crate) struct Named(&'static [&'static str]);

impl Named {
    pub(crate) const WRITE: Self = Self(&["write", "write_file"]);

    pub(crate) fn is_meant_by(&self, pattern: &str) -> bool {
        means(pattern, self.0.iter().copied())
    }
}

fn means<'a>(pattern: &str, mut names: impl Iterator<Item = &'a str>) -> bool {
    let pattern = fold(pattern);
    names.any(|name| like(&pattern, &fold(name)))
}

fn in_group(group: &str, tool: &ToolInfo) -> bool {
    if group == OPENCLAW_GROUP {
        let left_out = matches!(tool.section, Section::Fs | Section::Runtime | Section::Plugins);
        return !left_out && &*tool.name != "canvas";
    }
    like(group, &fold(tool.section.name()))
}

/// Matches `*` without looking back further than the last one.
pub(crate) fn like(pattern: &str, text: &str) -> bool {
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

    fn tool(name: &str, section: Section) -> ToolInfo {
        let info = Info { section, aliases: &["apply-patch"], ..Info::DEFAULT };
        ToolInfo::with(name, "Patch.", json!({}), info)
    }

    #[test]
    fn a_pattern_means_a_tool_by_name_alias_group_or_wildcard() {
        let tool = tool("apply_patch", Section::Fs);
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
            ("group:openclaw", false),
            ("apply", false),
            ("patch", false),
            ("*x*", false),
            ("", false),
        ] {
            assert_eq!(matches(pattern, &tool), expected, "{pattern}");
        }
    }

    #[test]
    fn the_group_of_openclaw_is_every_built_in_but_files_commands_and_canvas() {
        for (name, section, expected) in [
            ("browser", Section::Ui, true),
            ("canvas", Section::Ui, false),
            ("read", Section::Fs, false),
            ("exec", Section::Runtime, false),
            ("weather", Section::Plugins, false),
        ] {
            assert_eq!(matches("group:openclaw", &tool(name, section)), expected, "{name}");
        }
    }
}
