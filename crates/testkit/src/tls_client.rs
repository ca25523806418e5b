//! Certificates, and a client of a daemon that speaks TLS. The client can stop in the middle of a
//! handshake.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::network_client::{HttpAnswer, exchange};
use crate::{NetworkClient, World};

/// The files of the certificate chain and the private key, in the project folder.
pub const CHAIN: &str = "chain.pem";
pub const KEY: &str = "key.pem";

/// The command that makes a daemon listen on a free port with these files.
pub const SERVE: [&str; 8] =
    ["serve", "--listen", "127.0.0.1:0", "--tls-cert", CHAIN, "--tls-key", KEY, "--json"];

/// A certificate for `localhost` that signs itself, and its private key.
#[derive(Debug)]
pub struct TestCertificate {
    der: CertificateDer<'static>,
    chain: String,
    key: String,
}

impl TestCertificate {
    /// Makes a certificate that is valid.
    pub fn valid() -> Self {
        Self::until(4000)
    }

    /// Makes a certificate that has expired.
    pub fn expired() -> Self {
        Self::until(2020)
    }

    /// Makes a certificate that expires at the beginning of a year.
    fn until(year: i32) -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(["localhost".to_owned()]).expect("a name");
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        let certificate = params.self_signed(&key).expect("a certificate");
        let (der, chain) = (certificate.der().clone(), certificate.pem());
        Self { der, chain, key: key.serialize_pem() }
    }

    /// Writes the certificate and its key into a folder.
    pub fn write(&self, folder: &Path) {
        self.write_chain(folder);
        self.write_key(folder);
    }

    pub fn write_chain(&self, folder: &Path) {
        fs::write(folder.join(CHAIN), &self.chain).expect("a file");
    }

    pub fn write_key(&self, folder: &Path) {
        fs::write(folder.join(KEY), &self.key).expect("a file");
    }
}

/// A client that trusts one certificate.
#[derive(Clone, Debug)]
pub struct TlsClient {
    pub address: SocketAddr,
    config: Arc<ClientConfig>,
}

impl TlsClient {
    /// Makes the daemon of a world listen on a free port, with the files of the project folder.
    pub fn listen(world: &World, trusted: &TestCertificate) -> Self {
        let report = world.json(SERVE);
        assert_eq!(report["state"], "listening", "{report}");
        let address = report["address"].as_str().expect("an address");
        Self::new(address.parse().expect("an address"), trusted)
    }

    fn new(address: SocketAddr, trusted: &TestCertificate) -> Self {
        let config = builder(trusted).with_no_client_auth();
        Self { address, config: Arc::new(config) }
    }

    /// Returns a client that trusts another certificate.
    #[must_use]
    pub fn trusting(&self, trusted: &TestCertificate) -> Self {
        Self::new(self.address, trusted)
    }

    /// Returns a client that shows a certificate of its own if the server asks for one.
    #[must_use]
    pub fn showing(&self, trusted: &TestCertificate, own: &TestCertificate) -> Self {
        let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).expect("a key");
        let config = builder(trusted).with_client_auth_cert(vec![own.der.clone()], key);
        Self { address: self.address, config: Arc::new(config.expect("a certificate")) }
    }

    /// Returns a client for plain HTTP on the same port.
    pub fn plain(&self) -> NetworkClient {
        NetworkClient::of(self.address)
    }

    /// Returns the first bytes of a handshake.
    pub fn hello(&self) -> Vec<u8> {
        let mut hello = Vec::new();
        self.connection().write_tls(&mut hello).expect("a handshake");
        hello
    }

    /// Connects. Fails if the server does not show the trusted certificate.
    pub fn connect(&self) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let mut stream = TcpStream::connect(self.address)?;
        let mut connection = self.connection();
        while connection.is_handshaking() {
            connection.complete_io(&mut stream)?;
        }
        Ok(StreamOwned::new(connection, stream))
    }

    /// Sends a request, and reads until the daemon closes the connection.
    pub fn send(&self, request: &[u8]) -> io::Result<HttpAnswer> {
        Ok(exchange(self.connect()?, request))
    }

    /// Asks for the health of the daemon.
    pub fn health(&self, token: &str) -> io::Result<HttpAnswer> {
        let port = self.address.port();
        let request = format!(
            "GET /v1/health HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\n\
             authorization: Bearer {token}\r\n\r\n"
        );
        self.send(request.as_bytes())
    }

    fn connection(&self) -> ClientConnection {
        let name = ServerName::try_from("localhost").expect("a name");
        ClientConnection::new(Arc::clone(&self.config), name).expect("a client")
    }
}

fn builder(
    trusted: &TestCertificate,
) -> rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.der.clone()).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions().expect("versions of TLS");
    builder.with_root_certificates(roots)
}
