//! `stat`.

use std::{io::Read, time::SystemTime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tool::{
    Digest, Effect, FileKind, FilePath, FileStat, Info, Need, Plan, Tool, ToolContext, ToolError,
    ToolOutput, ToolResult, schema_of,
};

use super::{INFO, MAX_FILE_BYTES, when::iso8601};

/// Tell what is at a path without reading it: kind, size, permissions, owner, times, where a link
/// points, and the SHA-256 hash of a file of up to 100 MB. A link is not followed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stat {
    /// File or folder to look at, as a path in the workspace.
    path: FilePath,
}

/// What is known about a path.
#[derive(Serialize, JsonSchema)]
struct Facts {
    /// The path.
    path: FilePath,
    /// `file`, `folder`, `link` or `other`.
    kind: String,
    /// Size in bytes.
    bytes: u64,
    /// Permissions as letters, such as `rw-r--r--`.
    permissions: String,
    /// Permissions as an octal number, such as `0644`.
    mode: String,
    /// Who owns it.
    owner: Owner,
    /// When its content last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    /// When it was last read.
    #[serde(skip_serializing_if = "Option::is_none")]
    accessed: Option<String>,
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<String>,
    /// Where a link points.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// Hash of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// User and group, by number.
#[derive(Serialize, JsonSchema)]
struct Owner {
    /// User.
    uid: u32,
    /// Group.
    gid: u32,
}

impl Tool for Stat {
    const NAME: &'static str = "stat";
    const EFFECTS: &'static [Effect] = &[Effect::Read];
    const INFO: Info = Info { repeatable: true, ..INFO };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Facts>())
    }

    fn plan(&self) -> Plan {
        [Need::Read(self.path.clone())].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let stat = ctx.files().stat(&self.path).await?;
        let hashed = stat.kind == FileKind::File && stat.bytes <= MAX_FILE_BYTES;
        let sha256 = if hashed { hash(ctx, &self.path).await? } else { None };
        Ok(ToolOutput::json(facts(self.path, stat, sha256)))
    }
}

/// The hash of what can be read; the rest is known anyway.
async fn hash(ctx: &ToolContext, path: &FilePath) -> Result<Option<Digest>, ToolError> {
    let hash = ctx.files().open_with(path, |file, _| Ok(digest(file).ok())).await;
    ctx.live().check()?;
    Ok(hash.unwrap_or_default())
}

fn digest(mut file: impl Read) -> std::io::Result<Digest> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(Digest::from(<[u8; 32]>::from(hash.finalize())));
        }
        hash.update(buffer.get(..count).unwrap_or_default());
    }
}

fn facts(path: FilePath, stat: FileStat, sha256: Option<Digest>) -> Facts {
    let FileStat { kind, bytes, mode, uid, gid, modified, accessed, created, target } = stat;
    let known = |time: SystemTime| iso8601(time);
    Facts {
        path,
        kind: super::kind_name(kind).to_owned(),
        bytes,
        permissions: letters(mode),
        mode: format!("{:04o}", mode & 0o7777),
        owner: Owner { uid, gid },
        modified: known(modified),
        accessed: known(accessed),
        created: created.and_then(known),
        target,
        sha256: sha256.map(|digest| digest.to_string()),
    }
}

/// Permissions as `ls -l` writes them.
fn letters(mode: u32) -> String {
    let plain = [(0o400, 'r'), (0o200, 'w'), (0o100, 'x'), (0o040, 'r'), (0o020, 'w')]
        .into_iter()
        .chain([(0o010, 'x'), (0o004, 'r'), (0o002, 'w'), (0o001, 'x')]);
    let letter = |(bit, letter)| match (letter, bit) {
        // Set-user, set-group and sticky take the place of an `x`.
        ('x', 0o100) if mode & 0o4000 != 0 => special(mode & bit, 's'),
        ('x', 0o010) if mode & 0o2000 != 0 => special(mode & bit, 's'),
        ('x', 0o001) if mode & 0o1000 != 0 => special(mode & bit, 't'),
        _ if mode & bit != 0 => letter,
        _ => '-',
    };
    plain.map(letter).collect()
}

const fn special(executable: u32, letter: char) -> char {
    if executable == 0 { letter.to_ascii_uppercase() } else { letter }
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn writes_permissions_like_ls() {
        for (mode, expected) in [
            (0o644, "rw-r--r--"),
            (0o100_755, "rwxr-xr-x"),
            (0o000, "---------"),
            (0o4755, "rwsr-xr-x"),
            (0o2644, "rw-r-Sr--"),
            (0o1777, "rwxrwxrwt"),
        ] {
            assert_eq!(letters(mode), expected, "{mode:o}");
        }
    }
}
