//! `read`.

use std::io::{Cursor, Read as _};

use encoding_rs::Encoding;
use schemars::JsonSchema;
use serde::Deserialize;
use tool::{
    Effect, FilePath, Info, LiveFile, Need, Plan, Redact, Tool, ToolContext, ToolError, ToolOutput,
    ToolResult,
};

use super::{
    INFO, MAX_FILE_BYTES,
    decode::{self, Unreadable},
    image,
    page::{Page, PageError},
};

/// A little less than the 50 KB a model gets of any result, so that the notice is never cut off.
const MAX_TEXT_BYTES: usize = 50_000 - 300;
/// Larger images are refused; what a model gets of smaller ones is not decided here.
const MAX_IMAGE_BYTES: u64 = 10 * 1024 * 1024;

/// Read a file. Text comes back exactly as it is in the file, without line numbers, at most 50 KB
/// at a time; if there is more, the last line, in square brackets, says which lines were shown and
/// which `offset`, and in a long line which `fromByte`, continues. PNG, JPEG, GIF and WebP files come back as images. To find something
/// in a long file, use `grep` first.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Read {
    /// File to read: a path in the workspace, or `artifact:ID` for what an earlier call left behind.
    path: FilePath,
    /// First line to return; the first line of the file is 1.
    #[serde(default = "first_line")]
    #[schemars(range(min = 1))]
    offset: u64,
    /// Leave out this many bytes at the beginning of line `offset`, to continue within a long line.
    #[serde(default)]
    from_byte: u64,
    /// Return at most this many lines.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1))]
    limit: u64,
    /// Encoding of the text, such as `utf-16le`, `windows-1252` or `shift_jis`. A byte order mark
    /// in the file says more.
    #[serde(default = "default_encoding")]
    encoding: String,
}

const fn first_line() -> u64 {
    1
}

const fn default_limit() -> u64 {
    2_000
}

fn default_encoding() -> String {
    "utf-8".to_owned()
}

impl Tool for Read {
    const NAME: &'static str = "read";
    const EFFECTS: &'static [Effect] = &[Effect::Read];
    const INFO: Info = Info { aliases: &["read_file"], repeatable: true, ..INFO };

    fn plan(&self) -> Plan {
        [Need::Read(self.path.clone())].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let encoding = decode::encoding(&self.encoding)
            .map_err(|message| ToolError::invalid(Self::NAME, "encoding", message))?;
        let page =
            Page::new(self.offset, self.limit, MAX_TEXT_BYTES).starting_at_byte(self.from_byte);
        let (path, redact) = (self.path.clone(), ctx.redact().clone());
        ctx.files()
            .open_with(&self.path, move |file, stat| {
                too_large(&path, stat.bytes, MAX_FILE_BYTES, "use `grep` to search it")?;
                let source = TextSource { path: &path, encoding, redact: redact.as_ref() };
                look(file, stat.bytes, &source, page)
            })
            .await
    }
}

/// What is read, and how.
struct TextSource<'a> {
    path: &'a FilePath,
    encoding: &'static Encoding,
    redact: &'a dyn Redact,
}

fn look(mut file: LiveFile, bytes: u64, source: &TextSource<'_>, page: Page) -> ToolResult {
    let TextSource { path, encoding, redact: _ } = source;
    let mut head = Vec::new();
    let read = file.by_ref().take(8 * 1024).read_to_end(&mut head);
    read.map_err(|error| unreadable(path, encoding, Unreadable::Io(error)))?;
    let all = Cursor::new(&head).chain(file).take(MAX_FILE_BYTES);
    if let Some((name, mime)) = image::kind(&head) {
        too_large(path, bytes, MAX_IMAGE_BYTES, "make it smaller first")?;
        let mut data = Vec::new();
        let read = all.take(MAX_IMAGE_BYTES).read_to_end(&mut data);
        read.map_err(|error| unreadable(path, encoding, Unreadable::Io(error)))?;
        return Ok(ToolOutput::text(image::describe(path, name, &data)).with_image(mime, data));
    }
    if decode::is_binary(&head, encoding) {
        return Err(binary(path));
    }
    text(all, source, page)
}

fn text(all: impl std::io::Read, source: &TextSource<'_>, mut page: Page) -> ToolResult {
    let TextSource { path, encoding, redact } = source;
    decode::decode(all, encoding, &mut page)
        .map_err(|problem| unreadable(path, encoding, problem))?;
    let text = page.finish(*redact).map_err(|PageError { argument, message }| {
        ToolError::invalid(Read::NAME, argument, message)
    })?;
    Ok(ToolOutput::text(text))
}

fn too_large(path: &FilePath, bytes: u64, max: u64, hint: &'static str) -> Result<(), ToolError> {
    if bytes <= max {
        return Ok(());
    }
    let (path, hint) = (path.to_string(), hint.into());
    Err(ToolError::FileTooLarge { path, bytes, max_bytes: max, hint })
}

fn binary(path: &FilePath) -> ToolError {
    ToolError::failed(format!(
        "`{path}` is a binary file and cannot be shown as text; `stat` tells its size and hash"
    ))
}

fn unreadable(path: &FilePath, encoding: &'static Encoding, problem: Unreadable) -> ToolError {
    match problem {
        Unreadable::Line(line) => ToolError::failed(format!(
            "`{path}` is not {} text (line {line}); if it is text in another encoding, give \
             `encoding`, for example `windows-1252`; if it is binary, `stat` tells its size and hash",
            encoding.name()
        )),
        Unreadable::Io(source) => {
            ToolError::failed_by(format!("cannot read `{path}`: {}", source.kind()), source)
        }
    }
}
