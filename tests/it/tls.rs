//! TLS: who is let in, and certificates that change while the service runs.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use parlor::client::{Client, Patience, Trust};
use parlor::store::MemoryStore;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::collector::Collector;
use crate::eventually;
use crate::instance::Instance;
use crate::process::Process;

/// An authority that makes certificates.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Its own certificate.
    fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate of it with its key.
    fn certify(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }
}

/// Files of an instance.
struct Files(TempDir);

impl Files {
    fn new((certificate, key): &(String, String)) -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        files.write("key.pem", key);
        files.write("cert.pem", certificate);
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn start(&self, flags: &[&str]) -> Instance {
        let flag = |name: &str, path: &Path| format!("--tls-{name}={}", path.display());
        let files = [
            flag("cert", &self.path("cert.pem")),
            flag("key", &self.path("key.pem")),
            "--tls-reload=20ms".to_owned(),
        ];
        let flags: Vec<_> = files.iter().map(String::as_str).chain(flags.iter().copied()).collect();
        Instance::start(Arc::new(MemoryStore::default()), &flags)
    }
}

/// Whether somebody new who trusts so is answered.
async fn is_answered(instance: &Instance, trust: &Trust) -> bool {
    let address = format!("https://localhost:{}", instance.address().rsplit(':').next().unwrap());
    let patience = Patience { total: Duration::ZERO, ..Patience::default() };
    let client = Client::trusting(&[address], trust).unwrap().with_patience(patience);
    client.list_games().await.is_ok()
}

#[tokio::test]
async fn who_trusts_the_authority_is_answered_and_nobody_else() {
    let authority = Authority::new();
    let instance = Files::new(&authority.certify("localhost")).start(&[]);
    assert!(is_answered(&instance, &Trust::only(authority.pem())).await);
    assert!(!is_answered(&instance, &Trust::only(Authority::new().pem())).await);
    assert!(!is_answered(&instance, &Trust::default()).await);

    let elsewhere = Files::new(&authority.certify("elsewhere")).start(&[]);
    assert!(!is_answered(&elsewhere, &Trust::only(authority.pem())).await);
}

#[tokio::test]
async fn callers_show_a_certificate_where_one_is_asked_for() {
    let (authority, of_callers) = (Authority::new(), Authority::new());
    let files = Files::new(&authority.certify("localhost"));
    files.write("callers.pem", &of_callers.pem());
    let flag = format!("--tls-client-ca={}", files.path("callers.pem").display());
    let instance = files.start(&[&flag]);

    let trust = Trust::only(authority.pem());
    let showing = |(certificate, key): (String, String)| trust.clone().showing(certificate, key);
    assert!(is_answered(&instance, &showing(of_callers.certify("caller"))).await);
    assert!(!is_answered(&instance, &showing(authority.certify("caller"))).await);
    assert!(!is_answered(&instance, &trust).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_show_a_certificate_too() {
    let (authority, of_callers) = (Authority::new(), Authority::new());
    let files = Files::new(&authority.certify("localhost"));
    files.write("authority.pem", &authority.pem());
    files.write("callers.pem", &of_callers.pem());
    let (certificate, key) = of_callers.certify("caller");
    files.write("caller.pem", &certificate);
    files.write("caller-key.pem", &key);
    let flag = |name: &str, file: &str| format!("--{name}={}", files.path(file).display());
    let instance = files.start(&[&flag("tls-client-ca", "callers.pem")]);

    let server = instance.url.replace("http://127.0.0.1", "--server=https://localhost");
    let trust = [server, flag("ca", "authority.pem")];
    let show = [flag("cert", "caller.pem"), flag("key", "caller-key.pem")];
    let run = async |words: &[&str], flags: &[&[String]]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parlor"));
        command.args(words).args(flags.concat());
        tokio::task::spawn_blocking(move || command.output().expect("it runs")).await.unwrap()
    };
    let played = run(&["play"], &[&trust, &show]).await;
    assert!(played.status.success(), "{played:?}");
    let told = String::from_utf8_lossy(&played.stdout);
    let id = told.lines().find_map(|line| line.strip_prefix("match ")).expect("its id");
    let verified = run(&["verify", id], &[&trust, &show]).await;
    assert!(verified.status.success(), "{verified:?}");

    let alone = run(&["verify", id], &[&trust, &show[..1]]).await;
    assert!(String::from_utf8_lossy(&alone.stderr).contains("--key"), "{alone:?}");
    let missing = run(&["verify", id, "--ca=/nowhere"], &[]).await;
    assert!(String::from_utf8_lossy(&missing.stderr).contains("/nowhere"), "{missing:?}");
}

#[tokio::test]
async fn a_collector_that_encrypts_is_sent_what_it_is_trusted_with() {
    let authority = Authority::new();
    let folder = tempfile::tempdir().unwrap();
    for (trusted, of) in [(true, authority.pem()), (false, Authority::new().pem())] {
        let collector = Collector::encrypted(authority.certify("localhost")).await;
        let path = folder.path().join("authority.pem");
        std::fs::write(&path, of).unwrap();
        let process = Process::start(&[
            &format!("--otlp-endpoint={}", collector.url),
            &format!("--otlp-ca={}", path.display()),
            "--trace-sampling=1",
        ]);
        process.client().list_games().await.expect("whether or not it can be traced");
        let log = process.stop().await;
        let sent = (!collector.spans().is_empty(), !collector.metrics().is_empty());
        assert_eq!(sent, (trusted, trusted), "{log}");
    }
}

#[tokio::test]
async fn a_new_certificate_is_shown_without_a_restart_and_one_that_is_broken_never() {
    let (old, new) = (Authority::new(), Authority::new());
    let files = Files::new(&old.certify("localhost"));
    let instance = files.start(&[]);
    let (trust_old, trust_new) = (Trust::only(old.pem()), Trust::only(new.pem()));
    assert!(is_answered(&instance, &trust_old).await);

    // For a while, the certificate does not fit its key.
    let (certificate, key) = new.certify("localhost");
    files.write("cert.pem", &certificate);
    for _ in 0..5 {
        assert!(is_answered(&instance, &trust_old).await);
    }
    files.write("key.pem", &key);
    eventually("the new certificate is shown", async || {
        is_answered(&instance, &trust_new).await.then_some(())
    })
    .await;
    assert!(!is_answered(&instance, &trust_old).await);
}

#[tokio::test]
async fn who_does_not_agree_on_tls_is_closed_and_keeps_nobody_waiting() {
    let authority = Authority::new();
    let flags = ["--preface=200ms", "--first-request=10s"];
    let instance = Files::new(&authority.certify("localhost")).start(&flags);
    let mut silent = TcpStream::connect(instance.address()).await.unwrap();
    let mut plain = TcpStream::connect(instance.address()).await.unwrap();
    plain.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    assert!(is_answered(&instance, &Trust::only(authority.pem())).await);
    for socket in [&mut silent, &mut plain] {
        let mut rest = Vec::new();
        let closed = tokio::time::timeout(Duration::from_secs(5), socket.read_to_end(&mut rest));
        // A reset is an end, too.
        let _ = closed.await.expect("it is closed");
    }
}

#[tokio::test]
async fn who_agrees_on_tls_and_then_asks_nothing_is_reset() {
    let authority = Authority::new();
    let flags = ["--preface=2s", "--first-request=2s"];
    let instance = Files::new(&authority.certify("localhost")).start(&flags);
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let socket = TcpStream::connect(instance.address()).await.unwrap();
    let name = "localhost".try_into().unwrap();
    let agreed = TlsConnector::from(Arc::new(config)).connect(name, socket).await;
    let read = agreed.unwrap().read_to_end(&mut Vec::new()).await;
    assert_eq!(read.expect_err("it is ended").kind(), ErrorKind::ConnectionReset);
}
