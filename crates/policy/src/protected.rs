//! Files that decide what other programs run, and that no tool may write.

/// Each is protected wherever it stands in a tree, with everything beneath it, in any case.
const BUILT_IN: &[&str] = &[
    ".aider.conf.yml",
    ".amazonq/mcp.json",
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".claude.json",
    ".claude/agents",
    ".claude/commands",
    ".claude/hooks",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/skills",
    ".codex",
    ".config/fish",
    ".config/git",
    ".config/goose",
    ".config/toolgate",
    ".config/zed",
    ".continue",
    ".copilot/mcp-config.json",
    ".cshrc",
    ".cursor/cli.json",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
    ".devcontainer",
    ".envrc",
    ".factory/mcp.json",
    ".gemini/extensions",
    ".gemini/settings.json",
    ".git/commondir",
    ".git/config",
    ".git/config.worktree",
    ".git/gitdir",
    ".git/hooks",
    ".git/info",
    ".git/modules",
    ".git/objects/info/alternates",
    ".git/objects/info/http-alternates",
    ".git/worktrees",
    ".gitconfig",
    ".gitmodules",
    ".husky",
    ".idea/runConfigurations",
    ".idea/workspace.xml",
    ".inputrc",
    ".junie/mcp",
    ".kilocode/mcp.json",
    ".kshrc",
    ".login",
    ".mcp.json",
    ".openclaw",
    ".opencode",
    ".pam_environment",
    ".profile",
    ".qwen/settings.json",
    ".roo/mcp.json",
    ".ssh",
    ".tcshrc",
    ".trae/mcp.json",
    ".vscode/launch.json",
    ".vscode/mcp.json",
    ".vscode/settings.json",
    ".vscode/tasks.json",
    ".windsurf",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".zed/settings.json",
    ".zed/tasks.json",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "crush.json",
    "opencode.json",
];

/// The one list for file tools, patches, undo and commands alike.
#[derive(Debug, Clone)]
pub struct Protected {
    rules: Vec<(String, Vec<String>)>,
}

impl Default for Protected {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl Protected {
    /// The built-in list and `extra`.
    pub fn new(extra: &[String]) -> Self {
        let extra = extra.iter().map(String::as_str);
        let rules =
            BUILT_IN.iter().copied().chain(extra).map(|rule| (rule.to_owned(), parts(rule)));
        Self { rules: rules.filter(|(_, parts)| !parts.is_empty()).collect() }
    }

    /// The rule that protects `path`, if any. `path` is the resolved one, within its root.
    pub fn rule(&self, path: &str) -> Option<&str> {
        // A `.git` that is a file can point to a repository somewhere else, hooks and all.
        if parts(path).last().is_some_and(|name| name == ".git") {
            return Some(".git");
        }
        self.folder_rule(path)
    }

    /// The rule that protects the folder `path`, if any.
    pub fn folder_rule(&self, path: &str) -> Option<&str> {
        let path = parts(path);
        let found = |rule: &&(String, Vec<String>)| {
            path.windows(rule.1.len()).any(|window| window == rule.1.as_slice())
        };
        self.rules.iter().find(found).map(|(rule, _)| rule.as_str())
    }

    /// Every rule, for people.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|(rule, _)| rule.as_str())
    }
}

fn parts(path: &str) -> Vec<String> {
    path.split('/').filter(|part| !matches!(*part, "" | ".")).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::Protected;

    #[test]
    fn protects_anywhere_in_any_case_and_what_is_beneath() {
        let protected = Protected::new(&["deploy/keys".into()]);
        for (path, expected) in [
            (".git/hooks/pre-commit", Some(".git/hooks")),
            ("sub/.GIT/Hooks/x", Some(".git/hooks")),
            ("vendor/x/.git", Some(".git")),
            (".git/index", None),
            (".git/commondir", Some(".git/commondir")),
            (".Cursor/Mcp.json", Some(".cursor/mcp.json")),
            (".cursor/notes.md", None),
            ("my.envrc", None),
            ("Deploy/KEYS/a.txt", Some("deploy/keys")),
            ("deploy/keys2", None),
            ("src/main.rs", None),
        ] {
            assert_eq!(protected.rule(path), expected, "{path}");
        }
    }
}
