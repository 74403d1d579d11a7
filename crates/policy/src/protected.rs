//! Files that other programs run or take their settings from.

/// No tool changes these. Each is protected wherever it stands in a tree, with everything beneath it,
/// in any case. A `*` at the beginning stands for any text within one name.
const REFUSED: &[&str] = &[
    "*.code-workspace",
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
    ".cline",
    ".codex",
    ".config/autostart",
    ".config/direnv",
    ".config/fish",
    ".config/git",
    ".config/goose",
    ".config/mise",
    ".config/nvim",
    ".config/systemd",
    ".config/toolgate",
    ".config/zed",
    ".continue",
    ".copilot/mcp-config.json",
    ".crush.json",
    ".cshrc",
    ".cursor/cli.json",
    ".cursor/commands",
    ".cursor/environment.json",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
    ".devcontainer",
    ".devcontainer.json",
    ".dir-locals.el",
    ".direnvrc",
    ".emacs",
    ".emacs.d",
    ".envrc",
    ".exrc",
    ".factory/mcp.json",
    ".gdbinit",
    ".gemini/commands",
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
    ".github/hooks",
    ".gitmodules",
    ".gvimrc",
    ".husky",
    ".idea/runConfigurations",
    ".idea/workspace.xml",
    ".idx",
    ".inputrc",
    ".irbrc",
    ".junie/mcp",
    ".kilocode/mcp.json",
    ".kiro/hooks",
    ".kiro/settings",
    ".kshrc",
    ".lldbinit",
    ".lldbinit-xcode",
    ".login",
    ".mcp.json",
    ".nova",
    ".nvim.lua",
    ".nvimrc",
    ".openclaw",
    ".opencode",
    ".pam_environment",
    ".profile",
    ".pryrc",
    ".psqlrc",
    ".qwen/settings.json",
    ".roo/mcp.json",
    ".run",
    ".sqliterc",
    ".ssh",
    ".tcshrc",
    ".trae/mcp.json",
    ".vim",
    ".vimrc",
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
    "opencode.jsonc",
];

/// People change these every day, and other programs or agents obey them: each change is put to a
/// person, with the difference.
const ASKED: &[&str] = &[
    ".aiassistant/rules",
    ".amazonq/rules",
    ".augment-guidelines",
    ".augment/rules",
    ".bazelrc",
    ".bundle/config",
    ".cargo/config",
    ".cargo/config.toml",
    ".circleci",
    ".clinerules",
    ".cursor/rules",
    ".cursorrules",
    ".git/rebase-apply",
    ".git/rebase-merge",
    ".git/sequencer",
    ".github/actions",
    ".github/agents",
    ".github/chatmodes",
    ".github/copilot-instructions.md",
    ".github/instructions",
    ".github/prompts",
    ".github/workflows",
    ".gitlab-ci.yml",
    ".gitpod.yml",
    ".goosehints",
    ".junie/guidelines.md",
    ".kilocode/rules",
    ".kiro/steering",
    ".lefthook.yaml",
    ".lefthook.yml",
    ".lintstagedrc",
    ".mise.toml",
    ".mvn",
    ".npmrc",
    ".openhands/microagents",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    ".roo/rules",
    ".roorules",
    ".rprofile",
    ".rules",
    ".trae/rules",
    ".travis.yml",
    ".windsurfrules",
    ".yarn/plugins",
    ".yarn/releases",
    ".yarnrc",
    ".yarnrc.yml",
    "agents.md",
    "agents.override.md",
    "azure-pipelines.yml",
    "bunfig.toml",
    "claude.local.md",
    "claude.md",
    "gemini.md",
    "jenkinsfile",
    "lefthook.yaml",
    "lefthook.yml",
    "mise.toml",
    "qwen.md",
    "warp.md",
];

/// What stands in these was installed or built. Packages bring workflows and instructions of their
/// own along, which nothing reads there.
const INSTALLED: &[&str] =
    &[".tox", ".venv", "bower_components", "node_modules", "site-packages", "target", "venv"];

/// What happens to a change of a protected path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtectedLevel {
    /// It is not made.
    Refused,
    /// It is made after a person has seen it.
    Asked,
}

#[derive(Debug, Clone)]
struct ProtectedRule {
    pattern: String,
    parts: Vec<String>,
    level: ProtectedLevel,
}

impl ProtectedRule {
    fn new(pattern: &str, level: ProtectedLevel) -> Self {
        Self { pattern: pattern.to_owned(), parts: parts(pattern), level }
    }

    fn holds_in(&self, path: &[String]) -> bool {
        path.windows(self.parts.len()).any(|window| fits_all(&self.parts, window))
    }

    /// Whether `path` ends with the first parts of the pattern, but not with all of it.
    fn begins_at_end_of(&self, path: &[String]) -> bool {
        (1..self.parts.len()).any(|count| {
            let tail = path.len().checked_sub(count).and_then(|start| path.get(start..));
            tail.zip(self.parts.get(..count)).is_some_and(|(tail, first)| fits_all(first, tail))
        })
    }
}

/// The one list for file tools, patches, undo and commands alike.
#[derive(Debug, Clone)]
pub struct Protected {
    rules: Vec<ProtectedRule>,
}

impl Default for Protected {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl Protected {
    /// The built-in list and `extra`, which no tool changes either.
    pub fn new(extra: &[String]) -> Self {
        let refused = REFUSED.iter().copied().chain(extra.iter().map(String::as_str));
        let refused = refused.map(|rule| ProtectedRule::new(rule, ProtectedLevel::Refused));
        let asked = ASKED.iter().map(|rule| ProtectedRule::new(rule, ProtectedLevel::Asked));
        Self { rules: refused.chain(asked).filter(|rule| !rule.parts.is_empty()).collect() }
    }

    /// The rule by which no tool changes `path`, if any. `path` is the resolved one, within its root.
    pub fn rule(&self, path: &str) -> Option<&str> {
        // A `.git` that is a file can point to a repository somewhere else, hooks and all.
        if parts(path).last().is_some_and(|name| name == ".git") {
            return Some(".git");
        }
        self.folder_rule(path)
    }

    /// The rule by which no tool changes the folder `path`, if any.
    pub fn folder_rule(&self, path: &str) -> Option<&str> {
        self.find(ProtectedLevel::Refused, &parts(path))
    }

    /// The rule by which a person is asked about a change of `path`, if any.
    pub fn ask_rule(&self, path: &str) -> Option<&str> {
        let path = parts(path);
        if path.iter().any(|part| INSTALLED.contains(&part.as_str())) {
            return None;
        }
        self.find(ProtectedLevel::Asked, &path)
    }

    /// The rule about what could be reached through a link at `path`, and its level.
    ///
    /// `.claude` itself is not protected. But if it is a link, `.claude/settings.json` is whatever
    /// its target has by that name, now or later; so no tool makes, changes or removes such a link.
    ///
    /// ```
    /// use policy::{Protected, ProtectedLevel};
    ///
    /// let protected = Protected::default();
    /// let found = protected.link_rule("sub/.vscode");
    /// assert_eq!(found, Some((ProtectedLevel::Refused, ".vscode/launch.json")));
    /// ```
    pub fn link_rule(&self, path: &str) -> Option<(ProtectedLevel, &str)> {
        let path = parts(path);
        let rule = self.rules.iter().find(|rule| rule.begins_at_end_of(&path))?;
        Some((rule.level, &rule.pattern))
    }

    /// Whether something called `name` can be where a rule begins.
    pub fn may_begin_with(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.rules.iter().any(|rule| rule.parts.first().is_some_and(|part| fits(part, &name)))
    }

    /// Whether something called `name` can be where a rule ends.
    pub fn may_end_with(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        name == ".git"
            || self.rules.iter().any(|rule| rule.parts.last().is_some_and(|part| fits(part, &name)))
    }

    /// The paths below `name` where a link could stand above something protected.
    pub fn places_below(&self, name: &str) -> Vec<String> {
        let name = name.to_lowercase();
        let mut places = Vec::new();
        for rule in &self.rules {
            let Some((first, rest)) = rule.parts.split_first() else { continue };
            if fits(first, &name) {
                places.extend(
                    (1..=rest.len()).filter_map(|count| Some(rest.get(..count)?.join("/"))),
                );
            }
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Every rule by which no tool changes something, for people.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        let refused = |rule: &&ProtectedRule| rule.level == ProtectedLevel::Refused;
        self.rules.iter().filter(refused).map(|rule| rule.pattern.as_str())
    }

    /// Every rule by which a person is asked, for people.
    pub fn ask_rules(&self) -> impl Iterator<Item = &str> {
        let asked = |rule: &&ProtectedRule| rule.level == ProtectedLevel::Asked;
        self.rules.iter().filter(asked).map(|rule| rule.pattern.as_str())
    }

    fn find(&self, level: ProtectedLevel, path: &[String]) -> Option<&str> {
        let mut rules = self.rules.iter().filter(|rule| rule.level == level);
        rules.find(|rule| rule.holds_in(path)).map(|rule| rule.pattern.as_str())
    }
}

fn fits_all(parts: &[String], names: &[String]) -> bool {
    parts.len() == names.len() && parts.iter().zip(names).all(|(part, name)| fits(part, name))
}

fn fits(part: &str, name: &str) -> bool {
    match part.strip_prefix('*') {
        Some(ending) => name.ends_with(ending),
        None => part == name,
    }
}

fn parts(path: &str) -> Vec<String> {
    path.split('/').filter(|part| !matches!(*part, "" | ".")).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::{Protected, ProtectedLevel};

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
            ("work/My.Code-Workspace", Some("*.code-workspace")),
            (".kiro/settings/mcp.json", Some(".kiro/settings")),
            (".cline/mcp.json", Some(".cline")),
            ("AGENTS.md", None),
        ] {
            assert_eq!(protected.rule(path), expected, "{path}");
        }
    }

    #[test]
    fn asks_about_what_people_edit_every_day() {
        let protected = Protected::default();
        for (path, expected) in [
            ("AGENTS.md", Some("agents.md")),
            ("docs/Claude.md", Some("claude.md")),
            (".github/workflows/ci.yml", Some(".github/workflows")),
            (".npmrc", Some(".npmrc")),
            ("node_modules/x/.github/workflows/ci.yml", None),
            ("node_modules/x/AGENTS.md", None),
            (".github/dependabot.yml", None),
            (".cargo/config.toml", Some(".cargo/config.toml")),
            ("README.md", None),
        ] {
            assert_eq!(protected.ask_rule(path), expected, "{path}");
        }
    }

    #[test]
    fn a_link_counts_by_what_could_be_reached_through_it() {
        let protected = Protected::new(&["deploy/keys/ours".into()]);
        for (path, expected) in [
            (".claude", Some(ProtectedLevel::Refused)),
            ("sub/.VSCODE", Some(ProtectedLevel::Refused)),
            (".config", Some(ProtectedLevel::Refused)),
            (".git/objects", Some(ProtectedLevel::Refused)),
            (".git/objects/info", Some(ProtectedLevel::Refused)),
            ("deploy/keys", Some(ProtectedLevel::Refused)),
            ("keys", None),
            (".mvn/x", None),
            (".yarn", Some(ProtectedLevel::Asked)),
            ("src", None),
        ] {
            assert_eq!(protected.link_rule(path).map(|(level, _)| level), expected, "{path}");
        }
    }
}
