//! Files that usually hold secrets.

const NAMES: &[&str] = &[
    ".credentials.json",
    ".env",
    ".git-credentials",
    ".htpasswd",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    "credentials",
    "credentials.json",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "service-account.json",
];

const FOLDERS: &[&str] =
    &[".aws", ".azure", ".docker", ".gnupg", ".kube", ".password-store", ".ssh"];

const ENDINGS: &[&str] = &[".jks", ".kdbx", ".key", ".keystore", ".p12", ".pem", ".pfx"];

/// Templates that are meant to be read.
const HARMLESS: &[&str] = &[".env.dist", ".env.example", ".env.sample", ".env.template"];

/// Whether `path` (resolved) looks like a place for credentials.
pub fn is_credential(path: &str) -> bool {
    let path = path.to_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    if HARMLESS.contains(&name) {
        return false;
    }
    NAMES.contains(&name)
        || name.starts_with(".env.")
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || path.split('/').any(|part| FOLDERS.contains(&part))
}

/// Patterns for all such files, as `git` takes them behind `**/`. They also match the templates: a
/// pattern cannot leave those out.
pub(crate) fn patterns() -> Vec<String> {
    let names = NAMES.iter().map(|&name| name.to_owned());
    let endings = ENDINGS.iter().map(|ending| format!("*{ending}"));
    let folders = FOLDERS.iter().map(|folder| format!("{folder}/**"));
    names.chain(endings).chain(folders).chain([".env.*".to_owned()]).collect()
}

/// Whether everything in a folder called `name` is for credentials.
pub fn is_credential_folder(name: &str) -> bool {
    FOLDERS.contains(&name.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::is_credential;

    #[test]
    fn knows_where_secrets_live() {
        for (path, expected) in [
            (".env", true),
            ("app/.env.production", true),
            ("app/.env.example", false),
            ("certs/Server.PEM", true),
            ("home/.aws/config", true),
            ("home/.claude/.credentials.json", true),
            ("src/environment.rs", false),
            ("docs/keys.md", false),
        ] {
            assert_eq!(is_credential(path), expected, "{path}");
        }
    }
}
