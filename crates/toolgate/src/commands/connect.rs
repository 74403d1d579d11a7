//! `toolgate connect`.

mod claude_code;
mod claude_desktop;
mod client;
mod codex;
mod cursor;
mod file;
mod format;
mod goose;
mod json;
mod json_tree;
mod openclaw;
mod surroundings;
mod token;
mod toml;
mod vscode;
mod yaml;
mod zed;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use similar::TextDiff;
use tokio_util::sync::CancellationToken;
use url::Url;

use self::{
    client::{Client, ClientName, ELSEWHERE, Server, Token, VARIABLE},
    file::{Found, Holds},
    format::{Edit, Format, Mistake, TOKEN},
    json_tree::Dialect,
    surroundings::{Surroundings, System},
};
use super::serve::{listening, reachable};
use crate::{
    changes::Paint,
    cli::Global,
    context, output,
    tty::Tty,
    visible::{visible, visible_code},
};

/// Connect an MCP client that you use already to Toolgate.
///
/// Finds the client's own configuration file, shows what would change in it, asks, and changes it; a copy
/// of what was there stays beside it. Without `--http` the client starts `toolgate mcp` itself.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags as they are typed")]
pub(crate) struct Connect {
    /// The client.
    #[arg(value_name = "CLIENT")]
    client: ClientName,
    /// Print what belongs into the client's file, and change nothing.
    #[arg(long, conflicts_with_all = ["remove", "yes"])]
    print: bool,
    /// Take it out again.
    #[arg(long)]
    remove: bool,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Connect to the server that runs (`toolgate serve`), with a token of its own.
    #[arg(long)]
    http: bool,
    /// The same, to the server at this address. If it is not the one that runs here, no token is made: make
    /// one there with `toolgate tokens add`.
    #[arg(long, value_name = "URL", conflicts_with = "http")]
    url: Option<String>,
    /// The environment variable with the token of a server elsewhere; by default `TOOLGATE_REMOTE_TOKEN`.
    #[arg(long, value_name = "NAME", requires = "url")]
    token_env: Option<String>,
    /// Of Claude Code: have it ask Toolgate before each of its own tools; see `toolgate hook`.
    #[arg(long, conflicts_with_all = ["http", "url"])]
    hook: bool,
    /// Act as this agent.
    #[arg(long, value_name = "A")]
    agent: Option<String>,
    /// The folder file tools work in; by default the agent's own, else the one the client starts it in.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

/// What is to stand in a file, given the token.
type Edits = Box<dyn Fn(&str) -> Vec<Edit>>;
/// What a client connects to, given the token.
type Reached = Box<dyn Fn(&str) -> Server>;

/// A file, and what is to stand in it.
struct Target {
    path: PathBuf,
    format: Format,
    /// With this token, which is only known once it is made.
    edits: Edits,
    /// How the token comes to the client.
    token: Token,
    maker: Maker,
    title: &'static str,
    then: &'static str,
}

/// Who makes the token of a client.
#[derive(Debug, Clone)]
enum Maker {
    /// We do: it is for the server of this data folder.
    Here,
    /// Somebody at another server; it is in this variable.
    Elsewhere(String),
}

impl Maker {
    fn variable(&self) -> &str {
        match self {
            Self::Here => VARIABLE,
            Self::Elsewhere(name) => name,
        }
    }
}

impl Connect {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        let target = self.target(global)?;
        if self.print {
            output::part(snippet(&target)?);
            return Ok(ExitCode::SUCCESS);
        }
        context::person()?;
        if self.remove {
            return self.take(global, &target).await;
        }
        self.put(global, &target).await
    }

    fn target(&self, global: &Global) -> Result<Target> {
        let here = Surroundings { variable: &config::environment, system: System::here() };
        let client = self.client.client();
        if self.hook {
            if self.client != ClientName::ClaudeCode {
                bail!("{} has no hooks that Toolgate knows; leave `--hook` out", client.title);
            }
            let (command, args) = (program()?, self.arguments(global, &["hook", "claude-code"])?);
            return Ok(Target {
                path: claude_code::settings(&here)?,
                format: Format::Json(Dialect::Json),
                edits: Box::new(move |_| vec![claude_code::hook(&command, &args)]),
                token: Token::None,
                maker: Maker::Here,
                title: client.title,
                then: "Start Claude Code again; `/hooks` shows it.",
            });
        }
        let path = (client.file)(&here)?;
        let maker = self.maker(global)?;
        let server = self.server(global, client, maker.variable())?;
        Ok(Target {
            path,
            format: client.format,
            edits: Box::new(move |token| client.edits(&server(token))),
            token: if self.is_remote() { client.token } else { Token::None },
            maker,
            title: client.title,
            then: client.then,
        })
    }

    const fn is_remote(&self) -> bool {
        self.http || self.url.is_some()
    }

    /// What it connects to, given a token.
    fn server(&self, global: &Global, client: &'static Client, variable: &str) -> Result<Reached> {
        if !self.is_remote() {
            let (command, args) = (program()?, self.arguments(global, &["mcp"])?);
            return Ok(Box::new(move |_| Server::Program {
                command: command.clone(),
                args: args.clone(),
            }));
        }
        if client.token == Token::None {
            bail!(
                "{} starts programs and reaches no server by itself; leave `--http` and `--url` out",
                client.title
            );
        }
        if self.workspace.is_some() {
            bail!("a server has its workspaces already; leave `--workspace` out");
        }
        let (url, variable) = (self.address(global)?, variable.to_owned());
        Ok(Box::new(move |token| Server::Http {
            url: url.clone(),
            authorization: client.authorization(token, &variable),
            variable: variable.clone(),
        }))
    }

    /// A token made here is for the server that runs here, and no other is to see it.
    fn maker(&self, global: &Global) -> Result<Maker> {
        let Some(given) = &self.url else { return Ok(Maker::Here) };
        let origin = |url: &str| Url::parse(url).ok().map(|url| url.origin());
        let here = listening(global)?.and_then(|listen| origin(&reachable(listen)));
        match (&self.token_env, here.is_some() && here == origin(given)) {
            (None, true) => Ok(Maker::Here),
            (Some(_), true) => {
                bail!("this server runs here, and its token is made here; leave `--token-env` out")
            }
            (None, false) => Ok(Maker::Elsewhere(ELSEWHERE.to_owned())),
            (Some(name), false) if is_variable(name) => Ok(Maker::Elsewhere(name.clone())),
            (Some(name), false) => bail!("`{}` is no name of a variable", visible(name)),
        }
    }

    fn agent(&self) -> &str {
        self.agent.as_deref().unwrap_or("main")
    }

    /// What a client needs that keeps the token of a server elsewhere in its file.
    fn given(&self, target: &Target) -> Result<Option<String>> {
        let (Token::InFile, Maker::Elsewhere(name)) = (target.token, &target.maker) else {
            return Ok(None);
        };
        let is_token = |text: &String| {
            text.starts_with("tg_")
                && text.chars().all(|one| one.is_ascii_alphanumeric() || "_-".contains(one))
        };
        let token = config::environment(name).filter(is_token).with_context(|| {
            format!(
                "{} keeps the token in its file, and {name} holds none; {}, and set {name} to it for this command",
                target.title,
                self.how_to_make()
            )
        })?;
        Ok(Some(token))
    }

    fn how_to_make(&self) -> String {
        format!(
            "make one where that server runs (`toolgate tokens add --name {} --agent {} --scope call`)",
            self.client.client().name,
            visible(self.agent())
        )
    }

    fn address(&self, global: &Global) -> Result<String> {
        let Some(given) = &self.url else {
            // To take it out, it does not matter where it was.
            let listen = match listening(global)? {
                Some(listen) => listen,
                None if self.remove => context::configuration(global)?.server.listen.value,
                None => bail!("no server runs here; start `toolgate serve`, or give `--url URL`"),
            };
            return Ok(format!("{}/mcp", reachable(listen)));
        };
        let url = Url::parse(given).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.filter(|url| url.username().is_empty() && url.password().is_none());
        let url = url.with_context(|| {
            format!("`{}` is no address of a server such as `https://host/mcp`", visible(given))
        })?;
        let is_local = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        if url.scheme() == "http" && !is_local {
            output::note(
                "warning: what goes to this address is not encrypted, the token neither; use https",
            );
        }
        Ok(url.into())
    }

    /// The arguments of the program, one by one; what was given here holds there.
    fn arguments(&self, global: &Global, command: &[&str]) -> Result<Vec<String>> {
        let mut all: Vec<String> = Vec::new();
        for (name, path) in [("--config", &global.config), ("--data", &global.data)] {
            if let Some(path) = path {
                all.extend([name.to_owned(), absolute(path)?]);
            }
        }
        all.extend(command.iter().map(|&word| word.to_owned()));
        if let Some(agent) = &self.agent {
            // One word, so that no name becomes an option.
            all.push(format!("--agent={agent}"));
        }
        if let Some(folder) = &self.workspace {
            all.extend(["--workspace".to_owned(), absolute(folder)?]);
        }
        Ok(all)
    }

    async fn put(&self, global: &Global, target: &Target) -> Result<ExitCode> {
        let found = Found::read(&target.path)?;
        let given = self.given(target)?;
        let given = given.as_deref().unwrap_or(TOKEN);
        let new = self.changed(target, &found, given)?;
        if new == found.text {
            output::line(format_args!("{} is connected already.", target.title));
            if target.token != Token::None && matches!(target.maker, Maker::Here) {
                output::note(
                    "If its token is lost: `--remove`, and connect again, makes a new one.",
                );
            }
            return Ok(ExitCode::SUCCESS);
        }
        if !self.agrees(&found, &new)? {
            return Ok(ExitCode::FAILURE);
        }
        if self.hook {
            // Without the folder the hook would block every call.
            context::journal(global)?;
        }
        let name = self.client.client().name;
        let made = match (target.token, &target.maker) {
            (Token::None, _) | (_, Maker::Elsewhere(_)) => None,
            (Token::Variable(..) | Token::Asks | Token::InFile, Maker::Here) => {
                Some(token::make(global, name, self.agent()).await?)
            }
        };
        let secret = made.as_ref().map_or(given, |made| made.secret.reveal());
        let holds = if target.token == Token::InFile { Holds::Secret } else { Holds::Nothing };
        let written =
            self.changed(target, &found, secret).and_then(|new| found.replace(&new, holds));
        let copy = match (written, &made) {
            (Ok(copy), _) => copy,
            (Err(error), Some(made)) => {
                token::discard(global, made).await?;
                return Err(error);
            }
            (Err(error), None) => return Err(error),
        };
        if let Some(made) = &made {
            token::end(global, name, self.agent(), Some(&made.id)).await?;
        }
        say_done(target, &found.path, copy.as_deref());
        match &target.maker {
            Maker::Here => say_token(target.token, secret),
            Maker::Elsewhere(name) => self.say_no_token(target.token, name),
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What is to be done about the token of a server elsewhere.
    fn say_no_token(&self, token: Token, variable: &str) {
        let then = match token {
            Token::None => return,
            Token::InFile => return say_token(token, ""),
            Token::Variable(..) => format!("set {variable} to it where the client starts"),
            Token::Asks => "the client asks for it once".to_owned(),
        };
        output::note(format_args!("No token was made: {}; {then}.", self.how_to_make()));
    }

    async fn take(&self, global: &Global, target: &Target) -> Result<ExitCode> {
        let found = Found::read(&target.path)?;
        let edits = (target.edits)(TOKEN);
        let more =
            if self.client == ClientName::Vscode { vec![vscode::input()] } else { Vec::new() };
        let all: Vec<_> = edits.into_iter().chain(more).collect();
        let new = target.format.take(&found.text, &all);
        let new = new.map_err(|mistake| self.refusal(target, &found, &mistake))?;
        if new == found.text {
            output::line(format_args!("{} is not connected.", target.title));
            return Ok(ExitCode::SUCCESS);
        }
        if !self.agrees(&found, &new)? {
            return Ok(ExitCode::FAILURE);
        }
        let copy = found.replace(&new, Holds::Nothing)?;
        let copy = copy
            .map(|copy| format!(" What was there is in `{}`.", visible(&copy.to_string_lossy())));
        output::line(format_args!(
            "{} is not connected any more.{}",
            target.title,
            copy.unwrap_or_default()
        ));
        let name = self.client.client().name;
        let ended =
            if self.hook { 0 } else { token::end(global, name, self.agent(), None).await? };
        if ended > 0 {
            output::line("Its token works no more.");
        }
        Ok(ExitCode::SUCCESS)
    }

    fn changed(&self, target: &Target, found: &Found, token: &str) -> Result<String> {
        let edits = (target.edits)(token);
        target
            .format
            .put(&found.text, &edits)
            .map_err(|mistake| self.refusal(target, found, &mistake))
    }

    /// Where the file cannot be changed, and what its owner can do.
    fn refusal(&self, target: &Target, found: &Found, mistake: &Mistake) -> anyhow::Error {
        let (line, column) = mistake.position(&found.text);
        let path = visible(&found.path.to_string_lossy());
        let message = visible(&mistake.message);
        let hint = if self.remove {
            "take `toolgate` out by hand".to_owned()
        } else {
            format!("repair it, or put this in by hand:\n\n{}", snippet(target).unwrap_or_default())
        };
        anyhow::anyhow!("{path}:{line}:{column}: {message}; nothing was changed: {hint}")
    }

    /// Shows the change, and asks.
    fn agrees(&self, found: &Found, new: &str) -> Result<bool> {
        let path = visible(&found.path.to_string_lossy());
        output::line(format_args!("{path}:\n{}", diff(&found.text, new, output::paint())));
        if self.yes {
            return Ok(true);
        }
        let Ok(mut tty) = Tty::open(CancellationToken::new()) else {
            bail!("there is no terminal to ask at, so nothing was changed; `--yes` answers yes");
        };
        write!(tty, "[y] change it  [n] leave it (default): ")?;
        tty.flush()?;
        let answer = tty.answer()?.unwrap_or_default().to_lowercase();
        let agreed = matches!(answer.as_str(), "y" | "yes");
        if !agreed {
            output::line("Nothing was changed.");
        }
        Ok(agreed)
    }
}

fn say_done(target: &Target, path: &Path, copy: Option<&Path>) {
    let kept =
        copy.map(|copy| format!(" What was there is in `{}`.", visible(&copy.to_string_lossy())));
    output::line(format_args!(
        "{} is connected by `{}`.{} {}",
        target.title,
        visible(&path.to_string_lossy()),
        kept.unwrap_or_default(),
        target.then
    ));
}

fn say_token(token: Token, secret: &str) {
    match token {
        Token::None => {}
        Token::InFile => output::note("Its token is in the file, which only you can read."),
        Token::Variable(..) => {
            output::line(secret);
            output::note(format_args!(
                "This is its token, kept nowhere: set {VARIABLE} to it where the client starts."
            ));
        }
        Token::Asks => {
            output::line(secret);
            output::note("This is its token, kept nowhere: the client asks for it once.");
        }
    }
}

/// Whether it can be the name of an environment variable, and nothing else to any client.
fn is_variable(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_')
}

/// What would be in a file with nothing else in it.
fn snippet(target: &Target) -> Result<String> {
    if target.token == Token::InFile {
        output::note(format_args!("Put a token of `toolgate tokens add` in place of {TOKEN}."));
    }
    let text = target.format.put("", &(target.edits)(TOKEN));
    text.map_err(|mistake| anyhow::anyhow!(mistake.message))
}

/// Where the program is that runs now.
fn program() -> Result<String> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    text_of(&program)
}

fn absolute(path: &Path) -> Result<String> {
    let path = std::path::absolute(path)
        .with_context(|| format!("cannot tell where `{}` is", path.display()))?;
    text_of(&path)
}

fn text_of(path: &Path) -> Result<String> {
    let text = path.to_str().map(str::to_owned);
    text.with_context(|| format!("`{}` is not UTF-8, which no client can read", path.display()))
}

/// What would change, line by line, with nothing hidden in it.
fn diff(before: &str, after: &str, paint: Paint) -> String {
    let diff = TextDiff::from_lines(before, after);
    let lines = diff.unified_diff().context_radius(3).to_string();
    let lines = lines.lines().map(|line| {
        let (sign, code) = line.split_at_checked(1).unwrap_or((line, ""));
        let text = format!("{}{}", visible(sign), visible_code(&masked(code)));
        match (paint, sign) {
            (Paint::Coloured, "+") => format!("\x1b[32m{text}\x1b[0m\n"),
            (Paint::Coloured, "-") => format!("\x1b[31m{text}\x1b[0m\n"),
            (Paint::Coloured | Paint::Plain, _) => format!("{text}\n"),
        }
    });
    lines.collect()
}

/// Without the token that a line may hold.
fn masked(line: &str) -> String {
    let Some((before, after)) = line.split_once("Bearer ") else { return line.to_owned() };
    let end = after.find(['"', '\'']).unwrap_or(after.len());
    let (token, rest) = after.split_at_checked(end).unwrap_or((after, ""));
    let shown = if token.starts_with('$') || token == TOKEN { token } else { "…" };
    format!("{before}Bearer {shown}{rest}")
}

/// What belongs into the settings of Claude Code to have it ask `toolgate hook`.
pub(super) fn hook_snippet(
    global: &Global,
    agent: Option<String>,
    workspace: Option<PathBuf>,
) -> Result<String> {
    let connect = Connect {
        client: ClientName::ClaudeCode,
        print: true,
        remove: false,
        yes: false,
        http: false,
        url: None,
        token_env: None,
        hook: true,
        agent,
        workspace,
    };
    snippet(&connect.target(global)?)
}
