//! `toolgate connect`.

mod claude_code;
mod claude_desktop;
mod client;
mod codex;
mod cursor;
mod elsewhere;
mod file;
mod format;
mod goose;
mod json;
mod json_tree;
mod openclaw;
mod said;
mod surroundings;
mod token;
mod toml;
mod vscode;
mod yaml;
mod yaml_lines;
mod zed;

use std::{
    borrow::Cow,
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use agent::MAIN;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use tokio_util::sync::CancellationToken;
use tool::ItemId;
use url::Url;

use self::{
    client::{Client, ClientName, Server, Token},
    elsewhere::Maker,
    file::{Found, Holds},
    format::{Edit, Format, Mistake, TOKEN},
    json_tree::Dialect,
    said::{diff, say_done, say_others, say_taken, say_there, say_token},
    surroundings::{Surroundings, System},
    token::{Made, Whose},
};
use super::serve::{listening, reachable};
use crate::{cli::Global, context, output, tty::Tty, visible::visible};

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

impl Target {
    /// Whether a token is made for it.
    const fn makes(&self) -> bool {
        matches!(self.maker, Maker::Here) && !matches!(self.token, Token::None)
    }
}

impl Connect {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        let target = self.target(global)?;
        self.check_agent(global, &target)?;
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

    fn agent(&self) -> &str {
        self.agent.as_deref().unwrap_or(MAIN)
    }

    /// Refuses an agent that nobody knows. Whoever takes an entry out may have removed it, and another server has
    /// agents of its own.
    fn check_agent(&self, global: &Global, target: &Target) -> Result<()> {
        if self.agent() != MAIN && !self.remove && matches!(target.maker, Maker::Here) {
            context::check_agent(global, &context::configuration(global)?, self.agent())?;
        }
        Ok(())
    }

    /// What stands for the token in a file that is as it should be, which `text` may be.
    fn held(&self, target: &Target, text: &str) -> Result<Cow<'static, str>> {
        Ok(match (target.token, &target.maker) {
            (Token::InFile, Maker::Elsewhere(name)) => self.given(target, name)?.into(),
            (Token::Asks, _) => vscode::mark(text).map_or(TOKEN.into(), Cow::Owned),
            (Token::None | Token::Variable(..) | Token::InFile, _) => TOKEN.into(),
        })
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
        let held = self.held(target, &found.text)?;
        let is_there = self.changed(target, &found, &held)? == found.text;
        let name = self.client.client().name;
        if is_there && (!target.makes() || token::lives(global, name, self.agent()).await?) {
            say_there(target);
            return Ok(ExitCode::SUCCESS);
        }
        let held = match target.token {
            // A client that asks remembers the answer by what it asks for.
            Token::Asks => ItemId::random().short().to_owned().into(),
            Token::None | Token::Variable(..) | Token::InFile => held,
        };
        if !self.agrees(&found, &self.changed(target, &found, &held)?)? {
            return Ok(ExitCode::FAILURE);
        }
        if self.hook {
            // Without the folder the hook would block every call.
            context::journal(global)?;
        }
        let (made, copy) = self.write(global, (target, &found), &held).await?;
        say_done(target, &found.path, copy.as_deref());
        match &target.maker {
            Maker::Here => {
                let secret = made.as_ref().map(|made| made.secret.reveal());
                say_token(target.token, secret.unwrap_or_default());
            }
            Maker::Elsewhere(name) => self.say_no_token(target.token, name),
        }
        // Only now: a token that was not shown is lost.
        self.end_old(global, (target, &found), made.as_ref()).await?;
        Ok(ExitCode::SUCCESS)
    }

    /// Makes the token, if there is to be one, and writes the file; gives the name of the copy too.
    async fn write(
        &self,
        global: &Global,
        (target, found): (&Target, &Found),
        held: &str,
    ) -> Result<(Option<Made>, Option<PathBuf>)> {
        let made = if target.makes() {
            Some(token::make(global, self.client.client().name, self.agent()).await?)
        } else {
            None
        };
        let (held, holds) = match (target.token, &made) {
            (Token::InFile, Some(made)) => (made.secret.reveal(), Holds::Secret),
            (Token::InFile, None) => (held, Holds::Secret),
            (Token::None | Token::Variable(..) | Token::Asks, _) => (held, Holds::Nothing),
        };
        let written = self
            .changed(target, found, held)
            .and_then(|new| if new == found.text { Ok(None) } else { found.replace(&new, holds) });
        match (written, made) {
            (Ok(copy), made) => Ok((made, copy)),
            (Err(error), Some(made)) => {
                token::discard(global, &made).await?;
                Err(error)
            }
            (Err(error), None) => Err(error),
        }
    }

    /// Ends the tokens that nothing uses any more: those for the same agent if there is a new one, and that of the
    /// entry that was there, whoever it was for.
    async fn end_old(
        &self,
        global: &Global,
        (target, found): (&Target, &Found),
        made: Option<&Made>,
    ) -> Result<()> {
        let client = self.client.client();
        let reached = !self.hook
            && target.format.reaches(&found.text, client.path).is_ok_and(|reached| reached);
        let whose = match (reached, made) {
            (true, _) => Whose::Anybody,
            (false, Some(_)) => Whose::Agent(self.agent()),
            (false, None) => return Ok(()),
        };
        let kept = made.map(|made| &made.id);
        if token::end(global, client.name, whose, kept).await? > 0 {
            output::note("The token it had before works no more.");
        }
        Ok(())
    }

    async fn take(&self, global: &Global, target: &Target) -> Result<ExitCode> {
        let found = Found::read(&target.path)?;
        let edits = (target.edits)(TOKEN);
        let more =
            if self.client == ClientName::Vscode { vec![vscode::inputs()] } else { Vec::new() };
        let all: Vec<_> = edits.into_iter().chain(more).collect();
        let new = target.format.take(&found.text, &all);
        let new = new.map_err(|mistake| self.refusal(target, &found, &mistake))?;
        if new == found.text {
            output::line(format_args!("{} is not connected.", target.title));
        } else if self.agrees(&found, &new)? {
            let copy = found.replace(&new, Holds::Nothing)?;
            say_taken(target, copy.as_deref());
        } else {
            return Ok(ExitCode::FAILURE);
        }
        if self.hook {
            return Ok(ExitCode::SUCCESS);
        }
        let (name, whose) = (self.client.client().name, Whose::Agent(self.agent()));
        if token::end(global, name, whose, None).await? > 0 {
            output::line("Its token works no more.");
        }
        say_others(self.client.client(), &token::left(global, name).await?);
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
        if found.text == new {
            let (title, agent) = (self.client.client().title, visible(self.agent()));
            output::line(format_args!(
                "{title} is connected, and has no token for `{agent}`: a new one is made, and any older one \
                 of {title} ends."
            ));
        } else {
            output::line(format_args!("{path}:\n{}", diff(&found.text, new, output::paint())));
        }
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
    let target = connect.target(global)?;
    connect.check_agent(global, &target)?;
    snippet(&target)
}
