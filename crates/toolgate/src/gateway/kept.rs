//! What a change leaves as it was, seen in what came of it.

use config::{Agent, Config, Prompt};

/// Whether `after` is `before` but for how `agent` speaks. Asks the result and not the request, so that
/// no way of writing a file changes what limits or feeds an agent.
pub(super) fn limits_kept(before: &Config, after: &Config, agent: &str) -> bool {
    let Some(now) = after.agents.get(agent) else { return false };
    let was = before.agents.get(agent).cloned().unwrap_or_default();
    // A file may be any file.
    let is_fine = match &now.prompt {
        Some(prompt) if matches!(prompt.value, Prompt::File(_)) => now.prompt == was.prompt,
        Some(_) | None => true,
    };
    // No `..`: whether an agent may change a new field must be decided here.
    let expected = Agent {
        description: now.description.clone(),
        model: now.model.clone(),
        prompt: now.prompt.clone(),
        max_tokens: now.max_tokens.clone(),
        temperature: now.temperature.clone(),
        limits: was.limits,
        subagents: was.subagents,
        sessions: was.sessions,
        workspace: was.workspace,
        tools: was.tools,
    };
    let mut whole = before.clone();
    whole.agents.insert(agent.to_owned(), expected);
    is_fine && whole == *after
}

#[cfg(test)]
mod tests {
    use super::limits_kept;

    #[test]
    fn only_how_an_agent_speaks_may_differ() {
        let before = "[agents.main]\nmodel = \"a\"\ntools.deny = [\"exec\"]\n[agents.other]\n";
        for (after, expected) in [
            (before.to_owned(), true),
            (before.replace("\"a\"", "\"b\"\nprompt = \"x\"\nmax_tokens = 1"), true),
            (before.replace("model = \"a\"\n", ""), true),
            (before.replace("\"a\"", "\"a\"\nprompt = \"file:/etc/passwd\""), false),
            (before.replace("\"exec\"", ""), false),
            (before.replace("\"a\"", "\"a\"\nworkspace = \"/\""), false),
            (before.replace("\"a\"", "\"a\"\nlimits.calls = 1000"), false),
            (before.replace("\"a\"", "\"a\"\nsubagents = [\"*\"]"), false),
            (before.replace("\"a\"", "\"a\"\nsessions = [\"*\"]"), false),
            (format!("{before}model = \"b\"\n"), false),
            (format!("{before}[agents.third]\n"), false),
            (format!("{before}[tools]\nask = \"auto\"\n"), false),
            (format!("{before}[secrets]\nx = \"env:X\"\n"), false),
            (before.replace("[agents.other]\n", ""), false),
            (String::new(), false),
        ] {
            let read = |text: &str| config::parse(text, "t.toml").unwrap();
            assert_eq!(limits_kept(&read(before), &read(&after), "main"), expected, "{after}");
        }
    }
}
