//! What untrusted content sessions have read, so that people are asked before something of it, or
//! because of it, goes out.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    hash::{BuildHasher, RandomState},
    ops::Bound,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use config::Ask;
use policy::{Untrusted, url::CheckedUrl};
use store::{Db, LazyDb, UntrustedFile};
use tool::{Caller, Effect, Facts, FilePath, Need, PathFact, Plan, ToolError};

use crate::{
    questions::{Key, key},
    shared::Shared,
};

/// So many sessions are known without looking into the database.
const MAX_SESSIONS: usize = 1_000;
/// So many links of one session are known; others are asked about like any URL.
const MAX_LINKS: usize = 10_000;
/// Of more files than this beneath one folder it is not looked which a result names.
const MAX_BENEATH: usize = 200;

/// What is known about sessions and files, read again when anybody, here or in another process,
/// changed something.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    sessions: Mutex<HashMap<Key, Session>>,
    files: Mutex<Option<(i64, Files)>>,
    hasher: RandomState,
}

/// Untrusted files and where their content may come from.
type Files = Arc<BTreeMap<String, String>>;

#[derive(Debug, Default)]
struct Session {
    sources: Option<(i64, Arc<[String]>)>,
    /// Hashes of the URLs it has read. They are lost with the process, which only asks more.
    links: HashSet<u64>,
}

/// A file whose content a call may have read although nobody vouches for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suspect {
    file: UntrustedFile,
    /// The name that a result or a command has if it shows something of the file; without one it
    /// always does.
    named: Option<String>,
}

impl Suspect {
    /// The source it is for whoever was shown `text`.
    pub(crate) fn source(&self, text: &str) -> Option<String> {
        let UntrustedFile { path, source } = &self.file;
        let shown = self.named.as_ref().is_none_or(|name| text.contains(name));
        shown.then(|| format!("file `{path}` (from {source})"))
    }
}

impl Trust {
    /// The untrusted content that the session of `caller` has read, oldest first.
    pub(crate) async fn sources(
        &self,
        db: &LazyDb,
        caller: &Caller,
    ) -> Result<Arc<[String]>, ToolError> {
        let version = db.get().await?.version()?;
        self.sources_at(db, caller, Some(version)).await
    }

    /// The same, if the database had this version just now.
    pub(crate) async fn sources_at(
        &self,
        db: &LazyDb,
        caller: &Caller,
        version: Option<i64>,
    ) -> Result<Arc<[String]>, ToolError> {
        let db = db.get().await?;
        let version = version.map_or_else(|| db.version(), Ok)?;
        let known = self.lock().get(&key(caller)).and_then(|session| session.sources.clone());
        if let Some((_, sources)) = known.filter(|(read, _)| *read == version) {
            return Ok(sources);
        }
        let sources: Arc<[String]> = db.sources(caller).await?.into();
        self.with(caller, |session| session.sources = Some((version, sources.clone())));
        Ok(sources)
    }

    /// What is known has changed.
    pub(crate) fn forget_sources(&self, caller: &Caller) {
        self.with(caller, |session| session.sources = None);
    }

    /// Remembers the URLs that stood in untrusted content, and their hosts.
    pub(crate) fn add_links(&self, caller: &Caller, links: &[String]) {
        let hosts = links.iter().filter_map(|link| host_of(link));
        let hashes: Vec<_> = links.iter().map(|link| self.hasher.hash_one(link)).collect();
        let hashes: Vec<_> =
            hashes.into_iter().chain(hosts.map(|host| self.hasher.hash_one(&host))).collect();
        self.with(caller, |session| {
            let room = MAX_LINKS.saturating_sub(session.links.len());
            session.links.extend(hashes.into_iter().take(room));
        });
    }

    /// Whether the session has read this URL, or a URL of this host.
    fn has_link(&self, caller: &Caller, link: &str) -> bool {
        let hash = self.hasher.hash_one(link);
        self.lock().get(&key(caller)).is_some_and(|session| session.links.contains(&hash))
    }

    /// The files whose content may not be trusted.
    pub(crate) async fn files(&self, db: &Db, version: i64) -> Result<Files, ToolError> {
        let known = self.files.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, files)) = known.filter(|(read, _)| *read == version) {
            return Ok(files);
        }
        let found = db.untrusted_files().await?;
        let files = found.into_iter().map(|UntrustedFile { path, source }| (path, source));
        let files = Files::new(files.collect());
        let mut known = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some((version, files.clone()));
        Ok(files)
    }

    fn with(&self, caller: &Caller, change: impl FnOnce(&mut Session)) {
        let (mut sessions, key) = (self.lock(), key(caller));
        if sessions.len() >= MAX_SESSIONS && !sessions.contains_key(&key) {
            // Any will do: what is stored is read again, and the rest only asks more.
            let other = sessions.keys().next().cloned();
            other.and_then(|other| sessions.remove(&other));
        }
        change(sessions.entry(key).or_default());
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What policy is told about a session before a call.
#[derive(Debug, Default)]
pub(crate) struct Known {
    sources: Arc<[String]>,
    followed: Vec<String>,
    hosts: Vec<String>,
}

impl Known {
    pub(crate) fn untrusted(&self) -> Untrusted<'_> {
        Untrusted { sources: &self.sources, followed: &self.followed, hosts: &self.hosts }
    }
}

/// Looks up what matters for `plan`, if anything can go out and people are asked about that.
pub(crate) async fn known(
    shared: &Shared,
    caller: &Caller,
    plan: &Plan,
) -> Result<Known, ToolError> {
    let goes_out = |need: &Need| matches!(need.effect(), Some(Effect::Fetch | Effect::Act));
    if !plan.needs().iter().any(goes_out)
        || policy::mode(&shared.settings.load().config.tools, plan) != Ask::Smart
    {
        return Ok(Known::default());
    }
    let version = shared.permissions.version();
    let sources = shared.trust.sources_at(&shared.db, caller, version).await?;
    if sources.is_empty() {
        return Ok(Known::default());
    }
    let settings = shared.settings.load();
    let urls = plan.needs().iter().filter_map(fetched);
    let urls = urls.filter_map(|url| policy::url::check(url, &settings.urls).ok());
    let urls: Vec<_> = urls.collect();
    let has_link = |url: &&CheckedUrl| shared.trust.has_link(caller, url.as_str());
    let followed = urls.iter().filter(has_link).map(|url| url.as_str().to_owned()).collect();
    let told = |url: &&CheckedUrl| {
        shared.trust.has_link(caller, url.host())
            || sources.iter().any(|source| host_of(source).as_deref() == Some(url.host()))
    };
    let hosts = urls.iter().filter(told).map(|url| url.host().to_owned()).collect();
    Ok(Known { sources, followed, hosts })
}

/// The host of a URL that was read or fetched, as [`CheckedUrl::host`] has it.
fn host_of(url: &str) -> Option<String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let authority = rest.split(['/', '?', '#', ' ']).next()?;
    let host = authority.rsplit('@').next()?;
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    (!name.is_empty()).then(|| name.to_ascii_lowercase())
}

const fn fetched(need: &Need) -> Option<&String> {
    match need {
        Need::Fetch(url) => Some(url),
        Need::Read(_)
        | Need::Write(_)
        | Need::Run(_)
        | Need::Act(_)
        | Need::Recall(_)
        | Need::Keep(_)
        | Need::Use(_) => None,
    }
}

/// The untrusted files among those that `plan` reads. A command may read whatever is in the workspace.
pub(crate) async fn suspects(
    shared: &Shared,
    caller: &Caller,
    plan: &Plan,
    facts: &Facts,
) -> Result<Vec<Suspect>, ToolError> {
    let is_file = |need: &&Need| matches!(need, Need::Read(_) | Need::Write(_));
    let needs = plan.needs().iter().filter(is_file).zip(&facts.paths);
    let read = needs.filter(|(need, _)| matches!(need, Need::Read(_)));
    let mut read: Vec<_> = read.filter_map(|(_, fact)| fact.as_ref().ok()).collect();
    let runs = plan.command().is_some();
    if read.is_empty() && !runs {
        return Ok(Vec::new());
    }
    let db = shared.db.get().await?;
    let version = shared.permissions.version().map_or_else(|| db.version(), Ok)?;
    let files = shared.trust.files(db, version).await?;
    let workspace = if runs && !files.is_empty() { whole(shared, caller).await? } else { None };
    read.extend(&workspace);
    Ok(read.iter().flat_map(|fact| among(&files, &fact.resolved)).collect())
}

/// The workspace of a caller, where it really is.
async fn whole(shared: &Shared, caller: &Caller) -> Result<Option<PathFact>, ToolError> {
    let disk = shared.world.disk(caller)?;
    let look = move || disk.look(&Need::Read(FilePath::new("."))).ok();
    tokio::task::spawn_blocking(look).await.map_err(ToolError::internal)
}

/// The file at `path`, or those beneath it.
fn among(files: &BTreeMap<String, String>, path: &str) -> Vec<Suspect> {
    if files.is_empty() {
        return Vec::new();
    }
    let suspect = |path: &str, source: &str, named| {
        let file = UntrustedFile { path: path.to_owned(), source: source.to_owned() };
        Suspect { file, named }
    };
    if let Some(source) = files.get(path) {
        return vec![suspect(path, source, None)];
    }
    // `0` comes after `/`.
    let folder = path.trim_end_matches('/');
    let (first, last) = (format!("{folder}/"), format!("{folder}0"));
    let range = (Bound::Included(first.as_str()), Bound::Excluded(last.as_str()));
    let beneath: Vec<_> = files.range::<str, _>(range).take(MAX_BENEATH + 1).collect();
    let many = beneath.len() > MAX_BENEATH;
    let name = |path: &str| path.rsplit_once('/').map(|(_, name)| name.to_owned());
    let named = |path: &str| if many { None } else { name(path) };
    let beneath = beneath.into_iter().take(if many { 1 } else { MAX_BENEATH });
    beneath.map(|(path, source)| suspect(path, source, named(path))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_a_folder_may_be_reading_what_is_in_it() {
        let one = |path: &str| (path.to_owned(), "https://a.example/".to_owned());
        let files: BTreeMap<_, _> = ["/ws/a.txt", "/ws/sub/b.txt", "/ws0", "/x"].map(one).into();
        for (path, shown, expected) in [
            ("/ws/a.txt", "", 1),
            ("/ws/other.txt", "a.txt", 0),
            ("/ws", "a.txt:1: x", 1),
            ("/ws", "nothing found", 0),
            ("/ws", "a.txt sub/b.txt", 2),
            ("/ws/su", "b.txt", 0),
            ("", "ws0 x", 2),
        ] {
            let suspects = among(&files, path);
            let sources = suspects.iter().filter_map(|suspect| suspect.source(shown));
            assert_eq!(sources.count(), expected, "{path} {shown}");
        }
        let many: BTreeMap<_, _> = (0..300).map(|n| one(&format!("/ws/{n}"))).collect();
        let suspects = among(&many, "/ws");
        let source = suspects.first().and_then(|suspect| suspect.source("")).unwrap();
        assert_eq!((suspects.len(), &*source), (1, "file `/ws/0` (from https://a.example/)"));
    }
}
