//! The certificate of the daemon. It is read again when its files change, so that a renewed
//! certificate needs no restart.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use segue_core::{Error, Result};
use tokio_rustls::TlsAcceptor;

/// The certificate chain and the private key, in PEM files.
#[derive(Debug)]
pub(crate) struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    read: Mutex<ReadCertificate>,
}

/// The certificate as it was read last.
struct ReadCertificate {
    version: Option<[FileVersion; 2]>,
    config: Arc<ServerConfig>,
}

impl std::fmt::Debug for ReadCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadCertificate").field("version", &self.version).finish_non_exhaustive()
    }
}

/// Changes whenever the content of a file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileVersion {
    inode: u64,
    size: u64,
    changed_at: (i64, i64),
}

impl Certificate {
    /// Reads both files. Fails if they do not belong together.
    pub(crate) fn read(chain: &Path, key: &Path) -> Result<Self> {
        let version = version(chain, key);
        let read = ReadCertificate { version, config: load(chain, key)? };
        Ok(Self { chain: chain.to_owned(), key: key.to_owned(), read: Mutex::new(read) })
    }

    /// Returns what accepts connections. If the files have changed and cannot be used, the earlier
    /// certificate stays in use.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let version = version(&self.chain, &self.key);
        if version != read.version {
            match load(&self.chain, &self.key) {
                Ok(config) => read.config = config,
                Err(error) => tracing::error!(%error, "the earlier certificate stays in use"),
            }
            read.version = version;
        }
        TlsAcceptor::from(Arc::clone(&read.config))
    }
}

fn version(chain: &Path, key: &Path) -> Option<[FileVersion; 2]> {
    let of = |path: &Path| -> io::Result<FileVersion> {
        let found = fs::metadata(path)?;
        let changed_at = (found.ctime(), found.ctime_nsec());
        Ok(FileVersion { inode: found.ino(), size: found.size(), changed_at })
    };
    Some([of(chain).ok()?, of(key).ok()?])
}

fn load(chain: &Path, key: &Path) -> Result<Arc<ServerConfig>> {
    let unusable = |path: &Path, what: &str, error: String| {
        Error::config(format!("`{}` cannot be used as {what}", path.display()))
            .caused_by(error)
            .hint("`--tls-cert` is a certificate chain and `--tls-key` its private key, as PEM")
    };
    let in_chain = |error: rustls::pki_types::pem::Error| {
        unusable(chain, "a certificate chain", error.to_string())
    };
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(chain)
        .map_err(in_chain)?
        .collect::<Result<_, _>>()
        .map_err(in_chain)?;
    let private = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| unusable(key, "a private key", error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::internal("TLS cannot be used").caused_by(error))?
        .with_no_client_auth()
        .with_single_cert(certificates, private)
        .map_err(|error| unusable(chain, "a certificate of this key", error.to_string()))?;
    Ok(Arc::new(config))
}
