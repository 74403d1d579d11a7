//! Large things that calls left behind.

use std::io::{Seek, SeekFrom};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::Response,
};
use tokio::io::AsyncReadExt as _;
use tokio_util::io::ReaderStream;
use tool::{CallId, Caller, ToolError};
use world::Artifact;

use super::{
    calls,
    endpoint::{Asked, Endpoint, Given},
    input::Empty,
    openapi::Described,
    output::Answer,
};
use crate::problem::refusals;

/// Of an id, the part that names the call.
const CALL_LENGTH: usize = 36;

refusals! {
    /// Why an artifact is not given out.
    NotRead { NotFound, RangeNotSatisfiable }
}

/// `GET /v1/artifacts/{id}`.
pub(crate) struct Read;

impl Endpoint for Read {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/artifacts/{id}";
    const SUMMARY: &'static str = "Something large a call left behind, whole or in part (`range`).";
    type Path = String;
    type Query = Empty;
    type Body = ();
    type Answer = Content;
    type Refusal = NotRead;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Content, NotRead> {
        let unknown = || NotRead::NotFound("there is no such artifact".to_owned());
        let caller = owner_of(&asked, &given.path).await?.ok_or_else(unknown)?;
        let range = wanted(&asked.headers);
        let (world, id) = (asked.state.world.clone(), given.path);
        let open = move || {
            let artifact = world.artifact(&caller, &id)?;
            cut(artifact, range)
        };
        let opened = tokio::task::spawn_blocking(open).await.map_err(ToolError::internal)?;
        match opened {
            Ok(Some(content)) => Ok(content),
            Ok(None) => Err(NotRead::RangeNotSatisfiable("nothing is there".to_owned())),
            Err(ToolError::FileNotFound { .. } | ToolError::PathNotAllowed { .. }) => {
                Err(unknown())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Artifacts lie with the user whose call it was, if somebody sees that call.
async fn owner_of(asked: &Asked, id: &str) -> Result<Option<Caller>, NotRead> {
    let call = id.get(..CALL_LENGTH).and_then(|call| call.parse::<CallId>().ok());
    let Some(call) = call else { return Ok(None) };
    let (entry, sees) = (calls::entry(&asked.state, call).await?, asked.signed.sees());
    let entry = entry.filter(|entry| sees.covers(&entry.user_id, &entry.agent));
    Ok(entry.map(|entry| Caller { user: entry.user_id.into(), ..asked.signed.person() }))
}

/// Part of a file: from here, to there or to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Range {
    From(u64, Option<u64>),
    /// So much of its end.
    Last(u64),
}

/// The one range that is asked for. Several at once, and what cannot be read, are as none.
fn wanted(headers: &HeaderMap) -> Option<Range> {
    let text = headers.get(header::RANGE)?.to_str().ok()?.strip_prefix("bytes=")?;
    let (from, to) = text.split_once('-')?;
    match (from.trim(), to.trim()) {
        ("", last) => last.parse().ok().map(Range::Last),
        (from, "") => from.parse().ok().map(|from| Range::From(from, None)),
        (from, to) => Some(Range::From(from.parse().ok()?, Some(to.parse().ok()?))),
    }
}

/// The artifact, or part of it.
#[derive(Debug)]
pub(crate) struct Content {
    artifact: Artifact,
    /// The first byte, and how many.
    part: Option<(u64, u64)>,
}

/// `None` if nothing is there.
fn cut(mut artifact: Artifact, range: Option<Range>) -> Result<Option<Content>, ToolError> {
    let whole = artifact.bytes;
    let part = match range {
        None => None,
        Some(Range::Last(last)) => Some((whole.saturating_sub(last), last.min(whole))),
        Some(Range::From(from, to)) => {
            let end = to.map_or(whole, |to| to.saturating_add(1)).min(whole);
            Some((from, end.saturating_sub(from)))
        }
    };
    if part.is_some_and(|(_, bytes)| bytes == 0) {
        return Ok(None);
    }
    if let Some((from, _)) = part {
        artifact.file.seek(SeekFrom::Start(from)).map_err(ToolError::internal)?;
    }
    Ok(Some(Content { artifact, part }))
}

impl Answer for Content {
    fn describe(described: &mut Described<'_>) {
        described.text(200, "*/*", "All of it.");
        described.text(206, "*/*", "The part that was asked for.");
    }

    fn respond(self) -> Response {
        let Self { artifact: Artifact { file, mime, bytes }, part } = self;
        let length = part.map_or(bytes, |(_, length)| length);
        let file = tokio::fs::File::from_std(file).take(length);
        let mut response = Response::new(Body::from_stream(ReaderStream::new(file)));
        let headers = response.headers_mut();
        let text = |text: String| HeaderValue::from_str(&text).ok();
        let kind = if mime.is_empty() { "application/octet-stream".to_owned() } else { mime };
        headers.extend(text(kind).map(|kind| (header::CONTENT_TYPE, kind)));
        headers.insert(header::CONTENT_LENGTH, length.into());
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        // Whatever it is, it is nobody's page.
        let inert = "default-src 'none'; sandbox";
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(inert));
        headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
        if let Some((from, length)) = part {
            let to = (from + length).saturating_sub(1);
            headers.extend(
                text(format!("bytes {from}-{to}/{bytes}"))
                    .map(|range| (header::CONTENT_RANGE, range)),
            );
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        }
        response
    }
}
