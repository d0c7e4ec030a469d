//! `ome import hf://…` against a Hub on this machine: its requests, accepted answers, and the
//! errors for all other answers.

use super::process::{Call, Done, run};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Codes that only an answer of a Hub makes; the tests below see each of them.
pub(crate) const ANSWERED: [&str; 2] = ["hub-unreachable", "hub-refused"];

/// A Hub: how each file of a repository is answered.
struct Hub {
    port: u16,
    /// Requests, as `PATH` or `PATH with TOKEN`.
    asked: Arc<Mutex<Vec<String>>>,
}

const CONFIG: &str = r#"{"architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 22, "num_attention_heads": 32,
  "num_key_value_heads": 4, "vocab_size": 32000, "max_position_embeddings": 2048,
  "torch_dtype": "bfloat16", "transformers_version": "4.35.0"}"#;

const INDEX: &str =
    r#"{"metadata": {"total_size": 2200119296}, "weight_map": {"a": "x.safetensors"}}"#;

/// `{"model_type": "llama", "architectures": ["Zipped"]}`, as gzip packs it.
const ZIPPED: &[u8] = &[
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xab, 0x56, 0xca, 0xcd, 0x4f, 0x49,
    0xcd, 0x89, 0x2f, 0xa9, 0x2c, 0x48, 0x55, 0xb2, 0x52, 0x50, 0xca, 0xc9, 0x49, 0xcc, 0x4d, 0x54,
    0xd2, 0x51, 0x50, 0x4a, 0x2c, 0x4a, 0xce, 0xc8, 0x2c, 0x49, 0x4d, 0x2e, 0x29, 0x2d, 0x4a, 0x2d,
    0x06, 0xca, 0x44, 0x2b, 0x45, 0x65, 0x16, 0x14, 0xa4, 0xa6, 0x28, 0xc5, 0xd6, 0x02, 0x00, 0x97,
    0xf2, 0x2c, 0xd7, 0x34, 0x00, 0x00, 0x00,
];

impl Hub {
    /// A Hub that answers in the clear.
    fn open() -> Self {
        Self::answering(answer)
    }

    /// A Hub behind TLS with the certificate of the tests.
    fn open_with_tls() -> Self {
        let certificates: Vec<_> = CertificateDer::pem_slice_iter(CERTIFICATE.as_bytes())
            .collect::<Result<_, _>>()
            .expect("it is a certificate");
        let key = PrivatePkcs8KeyDer::from(&include_bytes!("../../testdata/hub/key.der")[..]);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the versions are known")
            .with_no_client_auth()
            .with_single_cert(certificates, key.into())
            .expect("the key is the certificate's");
        let config = Arc::new(config);
        Self::answering(move |stream, log| {
            let session = rustls::ServerConnection::new(Arc::clone(&config)).expect("a session");
            answer(rustls::StreamOwned::new(session, stream), log);
        })
    }

    /// A Hub that gives each connection to `answer`, in a thread of its own.
    fn answering(answer: impl Fn(TcpStream, &Mutex<Vec<String>>) + Send + Sync + 'static) -> Self {
        let answer = Arc::new(answer);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                std::thread::spawn(move || answer(stream, &log));
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        let mut asked = self.asked.lock().expect("no thread panics").clone();
        asked.sort();
        asked
    }
}

/// A certificate that signed itself, for 127.0.0.1, valid from 2020 to 2120.
const CERTIFICATE: &str = include_str!("../../testdata/hub/certificate.pem");

/// Answers one request, by the name of the repository.
fn answer(mut stream: impl Read + Write, log: &Mutex<Vec<String>>) {
    let mut head = [0; 4096];
    let read = stream.read(&mut head).unwrap_or(0);
    let head = String::from_utf8_lossy(&head[..read]).into_owned();
    let Some(path) = head.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()) else {
        // Somebody begins with TLS here.
        drop(stream.write_all(b"no TLS here\r\n\r\n"));
        return;
    };
    let token = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("authorization").then(|| value.to_owned())
    });
    let shown = token.as_ref().map_or(path.to_owned(), |token| format!("{path} with {token}"));
    log.lock().expect("no thread panics").push(shown);
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let (repository, file) = (parts[1], parts[parts.len() - 1]);
    let mut say = |status: &str, headers: &str, body: &[u8]| {
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n",
            body.len()
        );
        drop(stream.write_all(head.as_bytes()));
        drop(stream.write_all(body));
    };
    match (repository, file) {
        ("tiny" | "other" | "gated", "config.json")
            if repository != "gated" || token.as_deref() == Some("Bearer s3cret") =>
        {
            say("200 OK", "", CONFIG.as_bytes());
        }
        ("tiny", "model.safetensors.index.json") => say("200 OK", "", INDEX.as_bytes()),
        ("gated", "model.safetensors.index.json") => say("404 Not Found", "", b""),
        ("moved", _) => {
            let to = path.replace("/moved/", "/tiny/");
            say("307 Temporary Redirect", &format!("Location: {to}\r\n"), b"");
        }
        ("circle", _) => say("302 Found", &format!("Location: {path}\r\n"), b""),
        ("zipped", "config.json") => say("200 OK", "Content-Encoding: gzip\r\n", ZIPPED),
        ("pipeline", "model_index.json") => {
            say("200 OK", "", br#"{"_class_name": "FluxPipeline", "_diffusers_version": "0.30"}"#);
        }
        ("gated", _) => say("403 Forbidden", "X-Error-Code: GatedRepo\r\n", b"no"),
        ("expired", _) if token.is_some() => {
            say("401 Unauthorized", "X-Error-Message: Invalid credentials\r\n", b"no");
        }
        ("private", _) => say("401 Unauthorized", "X-Error-Code: RepoNotFound\r\n", b"no"),
        ("unborn", _) => say("404 Not Found", "X-Error-Code: RevisionNotFound\r\n", b"no"),
        ("busy", _) => say("429 Too Many Requests", "", b"wait"),
        ("broken", _) => say("500 Internal Server Error", "", b"oh"),
        ("prose", "config.json") => say("200 OK", "", b"<html>sign in</html>"),
        ("binary", "config.json") => say("200 OK", "", b"\xff\xfe\x00"),
        ("half", _) => {
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"model_"));
        }
        ("slow", _) => {
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"));
            std::thread::sleep(Duration::from_secs(20));
        }
        ("mute", _) => std::thread::sleep(Duration::from_secs(20)),
        ("vast", _) => {
            let head = b"HTTP/1.1 200 OK\r\nContent-Length: 2147483648\r\n\r\n";
            drop(stream.write_all(head));
            let block = vec![b' '; 1 << 20];
            while stream.write_all(&block).is_ok() {}
        }
        _ => say("404 Not Found", "X-Error-Code: EntryNotFound\r\n", b""),
    }
}

/// A directory of its own for one test, removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("ome-hub-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&path));
        std::fs::create_dir_all(&path).expect("a folder can be made");
        for (file, text) in files {
            let file = path.join(file);
            std::fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
            std::fs::write(file, text).expect("a file can be written");
        }
        Self(path)
    }

    fn ome(&self, hub: &str, args: &str, more: &[(&str, &str)]) -> Done {
        let home = self.0.join("home").display().to_string();
        let mut env = BTreeMap::from([
            ("HF_ENDPOINT".to_owned(), hub.to_owned()),
            ("HF_HOME".to_owned(), home),
        ]);
        env.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let args = args.split_whitespace().map(ToOwned::to_owned).collect();
        let call =
            Call { args, stdin: "", directory: &self.0, env: &env, time: Duration::from_secs(15) };
        run(&call).expect("it ends in time")
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.join(file)).expect("the file is there")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn http(hub: &Hub) -> String {
    format!("http://127.0.0.1:{}", hub.port)
}

fn json(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("JSON: {done:?}"))
}

#[test]
fn import_reads_the_config_and_the_weight_index() {
    let (hub, folder) = (Hub::open(), Folder::new("read", &[]));
    let done = folder.ome(&http(&hub), "import hf://acme/tiny -o json", &[]);
    assert_eq!(done.exit, Some(0), "{done:?}");
    let found = json(&done);
    assert_eq!(found["model"]["metadata"]["name"], "tiny");
    assert_eq!(found["model"]["spec"]["storage"]["storageUri"], "hf://acme/tiny");
    assert_eq!(found["model"]["spec"]["modelParameterSize"], "1.10B");
    assert_eq!(found["storedElements"], 1_100_059_648_u64);
    let file = |path: &str| {
        let facts = found["facts"].as_array().expect("a list");
        facts.iter().find(|fact| fact["path"] == path).map(|fact| fact["file"].clone())
    };
    assert_eq!(file("modelArchitecture"), Some("hf://acme/tiny/config.json".into()));
    assert_eq!(
        file("modelParameterSize"),
        Some("hf://acme/tiny/model.safetensors.index.json".into())
    );
    assert_eq!(
        hub.asked(),
        [
            "/acme/tiny/resolve/main/config.json",
            "/acme/tiny/resolve/main/model.safetensors.index.json"
        ]
    );
}

#[test]
fn import_supports_revisions_redirects_pipelines_and_gzip() {
    let (hub, folder) = (Hub::open(), Folder::new("kinds", &[]));
    for (id, field, value) in [
        ("acme/tiny@refs/pr/1", "storage", "hf://acme/tiny@refs/pr/1"),
        ("acme/moved", "modelArchitecture", "LlamaForCausalLM"),
        ("acme/zipped", "modelArchitecture", "Zipped"),
        ("acme/pipeline", "modelArchitecture", "FluxPipeline"),
    ] {
        let done = folder.ome(&http(&hub), &format!("import hf://{id} --size 1B -o json"), &[]);
        assert_eq!(done.exit, Some(0), "{id}: {done:?}");
        let spec = json(&done)["model"]["spec"].clone();
        let found = if field == "storage" { &spec[field]["storageUri"] } else { &spec[field] };
        assert_eq!(found, value, "{id}");
    }
    let asked = hub.asked();
    assert!(
        asked.contains(&"/acme/tiny/resolve/refs%2Fpr%2F1/config.json".to_owned()),
        "{asked:?}"
    );
}

#[test]
fn a_token_is_sent_and_never_shown() {
    let (hub, folder) = (Hub::open(), Folder::new("token", &[("home/token", "s3cret\n")]));
    let without = folder.ome(&http(&hub), "import hf://acme/gated", &[("HF_TOKEN", "wr0ng")]);
    assert_eq!(without.exit, Some(1), "{without:?}");
    assert!(without.stderr.contains("hub-refused") && !without.stderr.contains("wr0ng"));
    // The variable counts before the file of `hf auth login`.
    let with = folder.ome(&http(&hub), "import hf://acme/gated", &[]);
    assert_eq!(with.exit, Some(0), "{with:?}");
    assert!(!format!("{with:?}").contains("s3cret"));
    let asked = hub.asked();
    assert!(asked.iter().any(|line| line.ends_with("with Bearer wr0ng")), "{asked:?}");
    assert!(asked.iter().any(|line| line.ends_with("with Bearer s3cret")), "{asked:?}");
}

#[test]
fn failed_hub_requests_are_reported_and_write_nothing() {
    let mut seen = BTreeSet::new();
    let model = "apiVersion: ome.io/v1beta1\nkind: ClusterBaseModel\nmetadata: {name: m}\nspec:\n  storage: {storageUri: hf://a/b}\n";
    let (hub, folder) = (Hub::open(), Folder::new("refused", &[("m.yaml", model)]));
    for (repository, code, words) in [
        ("circle", "hub-unreachable", "redirects"),
        ("gated", "hub-refused", "without a token"),
        ("private", "hub-not-found", "has no repository acme/private"),
        ("unborn", "hub-not-found", "has no revision `main`"),
        ("nothing", "hub-not-found", "neither config.json nor model_index.json"),
        ("busy", "hub-unreachable", "429"),
        ("broken", "hub-unreachable", "500"),
        ("half", "hub-unreachable", "cannot be read"),
        ("slow", "hub-unreachable", "within 1 s"),
        ("mute", "hub-unreachable", "within 1 s"),
        ("vast", "hub-unreachable", "larger than 8388608 bytes"),
        ("binary", "hub-unreachable", "not UTF-8"),
        ("prose", "invalid-yaml", ""),
    ] {
        let args = format!("import hf://acme/{repository} --into m.yaml --timeout 1");
        let done = folder.ome(&http(&hub), &args, &[]);
        assert_eq!(done.exit, Some(1), "{repository}: {done:?}");
        if repository != "prose" {
            assert!(done.stderr.contains(code), "{repository}: {done:?}");
        }
        assert!(done.stderr.contains(words), "{repository}: {done:?}");
        assert_eq!(folder.text("m.yaml"), model, "{repository}");
        seen.insert(code);
    }
    assert!(ANSWERED.iter().all(|code| seen.contains(code)), "{seen:?}");
    for (endpoint, words) in [
        (format!("https://127.0.0.1:{}", hub.port), "cannot be read"),
        ("http://127.0.0.1:1".to_owned(), "cannot be read"),
        ("ftp://hub".to_owned(), "no address"),
        (format!("http://me:s3cret@127.0.0.1:{}/none", hub.port), "has neither"),
    ] {
        let done = folder.ome(&endpoint, "import hf://acme/none --timeout 2", &[]);
        assert_eq!(done.exit, Some(1), "{endpoint}: {done:?}");
        assert!(done.stderr.contains(words) && !done.stderr.contains("s3cret"), "{done:?}");
    }
}

/// A token that the Hub no longer takes: the token is named as the cause, and not shown.
#[test]
fn a_refused_token_is_a_finding_and_nothing_is_written() {
    let model = "apiVersion: ome.io/v1beta1\nkind: ClusterBaseModel\nmetadata: {name: m}\nspec:\n  storage: {storageUri: hf://acme/expired}\n";
    let (hub, folder) = (Hub::open(), Folder::new("expired", &[("m.yaml", model)]));
    for args in ["import hf://acme/expired --into m.yaml", "import --all -f m.yaml"] {
        let done = folder.ome(&http(&hub), args, &[("HF_TOKEN", "st4le")]);
        assert_eq!(done.exit, Some(1), "{done:?}");
        assert!(done.stderr.contains("hub-refused") && done.stderr.contains("401"), "{done:?}");
        assert!(!format!("{done:?}").contains("st4le"), "{done:?}");
        assert_eq!(folder.text("m.yaml"), model);
    }
    assert!(hub.asked().iter().all(|line| line.ends_with("with Bearer st4le")));
}

/// An untrusted certificate: no request and no token is sent. One in `SSL_CERT_FILE` is trusted.
#[test]
fn a_certificate_of_its_own_is_trusted_where_it_is_named() {
    let model = "apiVersion: ome.io/v1beta1\nkind: ClusterBaseModel\nmetadata: {name: m}\nspec:\n  storage: {storageUri: hf://acme/tiny}\n";
    let hub = Hub::open_with_tls();
    let files = [("m.yaml", model), ("hub.pem", CERTIFICATE)];
    let folder = Folder::new("tls", &files);
    let endpoint = format!("https://127.0.0.1:{}", hub.port);
    let args = "import hf://acme/tiny --into m.yaml --timeout 5";
    let token = ("HF_TOKEN", "s3cret");
    let done = folder.ome(&endpoint, args, &[token]);
    assert_eq!(done.exit, Some(1), "{done:?}");
    assert!(done.stderr.contains("hub-unreachable"), "{done:?}");
    assert!(done.stderr.to_lowercase().contains("certificate"), "{done:?}");
    assert_eq!((folder.text("m.yaml").as_str(), hub.asked()), (model, Vec::new()));
    let trusted = folder.0.join("hub.pem").display().to_string();
    let done = folder.ome(&endpoint, args, &[token, ("SSL_CERT_FILE", &trusted)]);
    assert_eq!(done.exit, Some(0), "{done:?}");
    assert!(folder.text("m.yaml").contains("LlamaForCausalLM"), "{}", folder.text("m.yaml"));
}

const CATALOG: &str = "\
# ours
apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata: {name: tiny}
spec:
  vendor: acme # who
  storage: {storageUri: hf://acme/tiny}
---
apiVersion: ome.io/v1beta1
kind: BaseModel
metadata: {name: lost, namespace: team}
spec:
  storage: {storageUri: hf://acme/private}
---
apiVersion: ome.io/v1beta1
kind: BaseModel
metadata: {name: other, namespace: team}
spec:
  modelArchitecture: LlamaForCausalLM
  storage: {storageUri: hf://acme/other}
---
apiVersion: ome.io/v1beta1
kind: ClusterBaseModel
metadata: {name: ours}
spec:
  storage: {storageUri: pvc://models/ours}
";

#[test]
fn a_catalog_is_completed_in_place_and_one_failure_stops_no_other() {
    let files = [
        ("models/a.yaml", CATALOG),
        ("home/hub/models--acme--other/refs/main", "abc"),
        ("home/hub/models--acme--other/snapshots/abc/config.json", CONFIG),
    ];
    let (hub, folder) = (Hub::open(), Folder::new("all", &files));
    let done = folder.ome(&http(&hub), "import --all -f models -o json", &[]);
    assert_eq!(done.exit, Some(1), "{done:?}");
    let found = json(&done);
    let states: Vec<(&str, &str)> = found["models"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| {
            (row["model"].as_str().unwrap_or_default(), row["state"].as_str().unwrap_or_default())
        })
        .collect();
    assert_eq!(
        states,
        [
            ("ClusterBaseModel/tiny", "completed"),
            ("BaseModel/lost", "failed"),
            ("BaseModel/other", "completed"),
            ("ClusterBaseModel/ours", "skipped")
        ]
    );
    assert_eq!(found["findings"][0]["code"], "hub-not-found");
    assert_eq!(found["findings"][0]["line"], 13);
    let text = folder.text("models/a.yaml");
    assert!(text.starts_with("# ours\n") && text.contains("vendor: acme # who"), "{text}");
    assert_eq!(text.matches("modelParameterSize: 1.10B").count(), 2, "{text}");
    // Files in the cache are not requested.
    assert!(hub.asked().iter().all(|path| !path.contains("/other/")), "{:?}", hub.asked());
    // A second run finds nothing to do.
    let again = folder.ome(&http(&hub), "import --all -f models", &[]);
    assert_eq!(again.exit, Some(1));
    assert_eq!(folder.text("models/a.yaml"), text);
    assert!(
        again.stdout.ends_with("0 of 4 models completed, 2 complete before, 1 failed, 1 skipped\n"),
        "{}",
        again.stdout
    );
}

#[test]
fn offline_import_sends_no_requests() {
    let files = [
        ("models/a.yaml", CATALOG),
        ("configs/acme/tiny/config.json", CONFIG),
        ("configs/acme--private.json", CONFIG),
        ("configs/acme--other.json", CONFIG),
    ];
    let (hub, folder) = (Hub::open(), Folder::new("offline", &files));
    let done = folder.ome(&http(&hub), "import hf://acme/tiny --offline", &[]);
    assert!(done.exit == Some(1) && done.stderr.contains("hub-not-found"), "{done:?}");
    let done = folder.ome(&http(&hub), "import hf://acme/tiny", &[("HF_HUB_OFFLINE", "1")]);
    assert!(done.exit == Some(1) && done.stderr.contains("hub-not-found"), "{done:?}");
    let done =
        folder.ome(&http(&hub), "import --all -f models --model-configs configs --offline", &[]);
    assert_eq!(done.exit, Some(0), "{done:?}");
    assert!(done.stdout.ends_with("3 of 4 models completed, 1 skipped\n"), "{}", done.stdout);
    assert!(hub.asked().is_empty(), "{:?}", hub.asked());
}
