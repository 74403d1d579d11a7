//! Whom we believe to be who they say.

use std::sync::{Arc, OnceLock};

use tokio_rustls::{
    TlsConnector,
    rustls::{
        self, ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName},
    },
};
use tool::Source;

/// TLS towards servers. The certificates are read when they are first needed.
#[derive(Debug)]
pub(super) struct Tls {
    roots: Option<Vec<Vec<u8>>>,
    config: OnceLock<Arc<ClientConfig>>,
}

impl Tls {
    /// With these certificates instead of the usual ones.
    pub(super) const fn new(roots: Option<Vec<Vec<u8>>>) -> Self {
        Self { roots, config: OnceLock::new() }
    }

    /// What connects, and the name the server must prove to have.
    pub(super) fn connector(
        &self,
        host: &str,
    ) -> Result<(TlsConnector, ServerName<'static>), Source> {
        let config = if let Some(config) = self.config.get() {
            config.clone()
        } else {
            let made = Arc::new(config(self.roots.as_deref())?);
            self.config.get_or_init(|| made).clone()
        };
        let name = host.trim_matches(['[', ']']).to_owned();
        Ok((TlsConnector::from(config), ServerName::try_from(name)?))
    }
}

fn config(roots: Option<&[Vec<u8>]>) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots.map_or_else(usual, given))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// What this machine trusts; in a container that has no certificates, what browsers trust.
fn usual() -> RootCertStore {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if store.is_empty() {
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    store
}

fn given(roots: &[Vec<u8>]) -> RootCertStore {
    let mut store = RootCertStore::empty();
    let roots = roots.iter().map(|der| CertificateDer::from(der.clone()));
    store.add_parsable_certificates(roots);
    store
}
