//! `toolgate users`.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use config::Config;
use serde::Serialize;
use store::{RemovedUser, User};
use toolgate::Role;

use crate::{cli::Global, commands::Reader, context, output, visible::visible};

const BY: &str = "owner (toolgate users)";
/// A name for people is no longer.
const MOST: usize = 100;

/// List, add and remove the users of `toolgate serve`: the owner, and members.
#[derive(Debug, Args)]
pub(crate) struct Users {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List users, also those who were removed.
    List {
        /// Print a list as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show one user.
    Show {
        /// The user.
        id: String,
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Add a member. `toolgate tokens add --user` then makes a token for them.
    Add {
        /// What they are called in tokens, configuration and the journal. It stays theirs for good.
        id: String,
        /// For people; the id unless told otherwise.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Give a user another name.
    Rename {
        /// The user.
        id: String,
        /// For people.
        name: String,
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove a user: their tokens and whatever runs for them end at once. The journal stays.
    Remove {
        /// The user.
        id: String,
        /// Print what ended as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Let a user come back who was removed. Their tokens do not.
    Restore {
        /// The user.
        id: String,
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
    },
}

/// A user, as the API shows one.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    user: User,
    approver: bool,
}

/// What ended, as the API says it; calls end in the server, which notices by itself.
#[derive(Debug, Serialize)]
struct Removed {
    id: String,
    #[serde(flatten)]
    ended: RemovedUser,
}

impl Users {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        // A full disk must not keep anybody from taking a right away.
        if matches!(self.action, Action::Remove { .. }) {
            store::use_reserve();
        }
        if !matches!(self.action, Action::List { .. } | Action::Show { .. }) {
            context::person()?;
        }
        let (db, config) = (context::db(global).await?, context::configuration(global)?);
        let now = context::now();
        match self.action {
            Action::List { json } => {
                let shown: Vec<_> =
                    db.users().await?.into_iter().map(|user| Shown::new(user, &config)).collect();
                if json {
                    output::json(&shown)?;
                } else {
                    let head = ["id", "name", "role", "answers", "since", "removed"];
                    output::table(&head, shown.iter().map(Shown::row).collect());
                }
            }
            Action::Show { id, json } => {
                let user = context::user(&db, &id).await?;
                Shown::new(user, &config).print(json.into())?;
            }
            Action::Add { id, name, json } => {
                let name = name.unwrap_or_else(|| id.clone());
                check(&id, &name)?;
                let user = db.add_user(&id, &name, now).await?;
                Shown::new(user, &config).print(json.into())?;
                let id = visible(&id);
                output::note(format_args!(
                    "A token for them: toolgate tokens add --user {id} --name laptop"
                ));
            }
            Action::Rename { id, name, json } => {
                check(&id, &name)?;
                let user = db.rename_user(&id, &name).await?;
                Shown::new(user, &config).print(json.into())?;
            }
            Action::Remove { id, json } => {
                let ended = db.remove_user(&id, BY, now).await?;
                Removed { id, ended }.print(json.into())?;
            }
            Action::Restore { id, json } => {
                let user = db.restore_user(&id).await?;
                Shown::new(user, &config).print(json.into())?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn check(id: &str, name: &str) -> Result<()> {
    if !server::is_name(id) {
        bail!(
            "`{}` is no name of a user: that is 1 to 128 of `A-Z a-z 0-9 . _ : @ / + -`",
            visible(id)
        );
    }
    if name.trim().is_empty() || name.chars().count() > MOST || name.chars().any(char::is_control) {
        bail!("the name must be 1 to {MOST} letters");
    }
    Ok(())
}

impl Shown {
    fn new(user: User, config: &Config) -> Self {
        let named = config.tools.approvers.iter().any(|named| named.value == user.id);
        let approver = user.is_there() && (named || user.role == Role::Owner);
        Self { user, approver }
    }

    fn row(&self) -> Vec<String> {
        let User { id, name, role, created_at, removed_by: _, removed_at } = &self.user;
        let role = match role {
            Role::Owner => "owner",
            Role::Member => "member",
        };
        vec![
            visible(id),
            visible(name),
            role.to_owned(),
            if self.approver { "yes" } else { "" }.to_owned(),
            output::time(*created_at),
            removed_at.map(output::time).unwrap_or_default(),
        ]
    }

    fn print(&self, reader: Reader) -> Result<()> {
        if matches!(reader, Reader::Program) {
            return output::json(self);
        }
        let names = ["id", "name", "role", "answers", "since", "removed"];
        for (name, value) in names.into_iter().zip(self.row()) {
            output::line(format!("{name:9} {value}").trim_end());
        }
        Ok(())
    }
}

impl Removed {
    fn print(&self, reader: Reader) -> Result<()> {
        if matches!(reader, Reader::Program) {
            return output::json(self);
        }
        let Self { id, ended: RemovedUser { tokens, questions } } = self;
        output::note(format_args!(
            "`{}` is removed: {tokens} tokens work no more, {questions} questions are withdrawn. A server that \
             runs ends whatever goes on for them within a second. What is theirs stays.",
            visible(id)
        ));
        Ok(())
    }
}
