//! The kinds of secrets, as docs/secrets.md lists them: what is hidden of each, and what stays.
//!
//! `@@` is the secret. A row of a kind is an object, or a text within one.

use super::{MASK, masked, redacted, shown};
use crate::source::SourceId;
use crate::yaml::{Limits, parse};

/// Where a text is.
enum In {
    /// A variable: `NAME=VALUE`.
    Variable,
    /// An argument, or two of them parted by ` | `.
    Argument,
    /// A text by itself, as the value of any field.
    Text,
    /// A field: `NAME: VALUE`.
    Field,
    /// An annotation: `NAME: VALUE`.
    Annotation,
    /// A whole object.
    Object,
}

struct Kind {
    /// As docs/secrets.md names it.
    name: &'static str,
    within: In,
    hidden: &'static [&'static str],
    shown: &'static [&'static str],
}

const KINDS: &[Kind] = &[
    Kind {
        name: "Secrets",
        within: In::Object,
        hidden: &[
            "{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: @@}}",
            "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: @@}}",
            "{apiVersion: v1, kind: Secret, metadata: {name: s}, sttringData: {a: @@}}",
            "{apiVersion: v1, kind: Secret, metadata: {name: s}, spec: {a: [@@]}}",
            "{apiVersion: v1, kind: secrets, metadata: {name: s}, dta: {a: @@}}",
            "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, data: {a: @@}}]}",
        ],
        shown: &[
            "{apiVersion: v1, kind: Secret, metadata: {name: s}, type: Opaque, immutable: true}",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: s}, data: {a: b}}",
            "{spec: {certificateRefs: [{group: '', kind: Secret, name: tls}]}}",
            "{spec: {ignoreDifferences: [{kind: Secret, name: a, jsonPointers: [/data]}]}}",
            "{metadata: {ownerReferences: [{apiVersion: v1, kind: Secret, name: a, uid: b}]}}",
        ],
    },
    Kind {
        name: "Copies of Secrets in a text",
        within: In::Annotation,
        hidden: &[
            r#"kubectl.kubernetes.io/last-applied-configuration: {"apiVersion":"v1","kind":"Secret","data":{"blob":"@@"}}"#,
            "example.com/copy: kind: Secret\nstringData:\n  a: @@\n",
        ],
        shown: &[r#"example.com/copy: {"kind":"ConfigMap","data":{"blob":"a"}}"#],
    },
    Kind {
        name: "Variables",
        within: In::Variable,
        hidden: &[
            "HF_TOKEN=@@",
            "PGPASSWORD=@@",
            "hfToken=@@",
            "apiKey=@@",
            "HFTOKEN=@@",
            "GITHUBTOKEN=@@",
            "OPENAI_APIKEY=@@",
            "BASIC_AUTH=@@",
            "REDISCLI_AUTH=bot:@@",
            "JWT=@@",
            "SESSION_COOKIE=@@",
            "MYSQL_PWD=@@",
            "SECRETS=@@",
            "API_KEYS=@@",
            "ACCESS_TOKENS=@@",
            "PASSWORDS=@@",
            "VAULT_SECRET_ID=@@",
            "TOKEN_1=@@",
            "KEYSTORE_PASS=@@",
            "DBPASS=@@",
            "SIGNING_SALT=@@",
            "my.token=@@",
            "CONN_PASSPHRASE=@@",
            "DB_PASSWORD_FILE=4f8b2c0d9e1a7b6c5d4e@@",
            "LICENSE=4f8b2c0d9e1a7b6c5d4e@@",
        ],
        shown: &[
            "TOKENIZERS_PARALLELISM=abc",
            "MAX_TOKENS=abc",
            "EOS_TOKEN=</s>",
            "PWD=/srv",
            "DB_PASSWORD_FILE=/run/secrets/db.txt",
            "LICENSE=Apache-2.0",
            "AWS_ACCESS_KEY_ID=abc",
            "TOKEN_URL=https://issuer.example/token",
            "ENABLE_AUTH=oidc",
            "MLFLOW_TRACKING_AUTH=kubernetes-namespaced",
            "JWT_ISSUER=https://issuer.example",
            "JWT_AUDIENCE=flowise",
            "NODE_LABEL_KEY=passed",
            "IMAGE_PULL_SECRET=registry",
            "SESSION_COOKIE_SAME_SITE=lax",
            "BLOOM_TOKEN_LOG=error",
            "HF_TOKEN=$(OTHER)",
        ],
    },
    Kind {
        name: "Flags",
        within: In::Argument,
        hidden: &[
            "--api-key=@@",
            "--api-key | @@",
            "--api-key  @@",
            "--hfToken | @@",
            "--dbPassword=@@",
            "--auth=bot:@@",
            "--pass=@@",
            "--requirepass | @@",
            "--masterauth=bot:@@",
            "-Dpassword=@@",
            "-p=@@",
            "--token:@@",
            "--header=Authorization: Bearer @@",
            "--env=HF_TOKEN=@@",
            "-e | HF_TOKEN=@@",
            "-u | me:@@",
            "run --password @@; HF_TOKEN=@@ x",
            "sshpass -p @@ ssh host",
        ],
        shown: &[
            "--max-num-batched-tokens=8192",
            "--tokenizer=abc",
            "-p=8080",
            "--auth=oidc",
            "--user=1000:1000",
            "--api-key | --port",
            "--mysql-native-password=ON",
            "--public-key=abc",
            "--password-file=/run/db.txt",
        ],
    },
    Kind {
        name: "Fields and parameters",
        within: In::Field,
        hidden: &[
            "secret_access_key: @@",
            "secretAccessKey: @@",
            "sas: @@",
            "account_key: @@",
            "azurestorageaccountkey: @@",
            "clientSecret: @@",
            "dbpassword: @@",
            "auth: @@",
        ],
        shown: &[
            "topologyKey: zone",
            "secretName: abc",
            "maxTokens: abc",
            "license: mit",
            "auth: none",
        ],
    },
    Kind {
        name: "Annotations and labels",
        within: In::Annotation,
        hidden: &[
            "example.com/api-token: @@",
            "example.com/auth: @@",
            "example.com/db-pass: @@",
            "secret-note: @@",
            r#"example.com/cfg: {"token":"@@"}"#,
        ],
        shown: &[
            "example.com/secret-name: abc",
            "token-expiration: abc",
            "example.com/tokenizer: abc",
            "checksum/secrets: 4f8b2c0d9e1a7b6c5d4e3f2a",
        ],
    },
    Kind {
        name: "Assignments",
        within: In::Text,
        hidden: &[
            "aws_secret_access_key = @@",
            "password = @@",
            "api_key = \"@@\"",
            "export API_KEY=@@; run",
            "user=x password=@@",
            "password: @@\nuser: x",
            "remote_url: redis://:@@@cache:6379\nsecret_key: @@\n",
            r#"{"clientSecret":"@@","x":1}"#,
            "{'token': '@@'}",
            r#"[{"value":"@@","name":"HF_TOKEN"}]"#,
            "machine h login u password @@",
        ],
        shown: &["max_tokens = 8", "a = b", "x == y"],
    },
    Kind {
        name: "Headers",
        within: In::Text,
        hidden: &[
            "Bearer @@1",
            "Basic @@1=",
            "Authorization: Bearer @@",
            "curl -H 'Authorization: Bearer @@' https://x",
            "X-Api-Key: @@",
            "Cookie: sid=@@",
            "curl -u me:@@ https://x",
        ],
        shown: &[
            "Basic authentication is off",
            "route_prefix: /basic\nruntime_env: a",
            "docker run --user 1000:1000 x",
        ],
    },
    Kind {
        name: "Addresses",
        within: In::Text,
        hidden: &[
            "postgres://app:@@@db:5432/x",
            "redis://:@@@redis:6379/0",
            "https://@@@git.example/x.git",
            "https://@@:x-oauth-basic@git.example",
            "jdbc:postgresql://h/x?user=u&password=@@",
            "https://b.example/x?X-Amz-Signature=@@&a=1",
            "https://b.example/x?sv=1&sig=@@",
            "https://maps.example/api?key=@@",
            "https://hooks.slack.com/services/T0/B0/@@",
            "https://discord.com/api/webhooks/1/@@",
            "https://acme.webhook.office.com/webhookb2/@@",
            "https://api.telegram.org/bot1:@@/send",
            "https://a.logic.azure.com/workflows/@@/triggers",
            "https://events.pagerduty.com/integration/@@/enqueue",
            "https://maker.ifttt.com/trigger/a/with/@@",
            "https://f.example/api/a?code=@@",
            "https://f.example/api/a?hmac=@@",
        ],
        shown: &[
            "https://models.example/a?b=c",
            "ssh://git@git.example/x",
            "https://git@git.example/x",
            "oci://n/ns/b/shelf/o/m",
            "hf://acme/m@main",
        ],
    },
    Kind {
        name: "Connection strings",
        within: In::Text,
        hidden: &[
            "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=@@==;EndpointSuffix=y",
            "Endpoint=sb://x/;SharedAccessKeyName=r;SharedAccessKey=@@=",
        ],
        shown: &["AccountName=x;EndpointSuffix=y"],
    },
    Kind {
        name: "Private keys",
        within: In::Text,
        hidden: &[
            "-----BEGIN PRIVATE KEY-----\n@@\n-----END PRIVATE KEY-----\n",
            "-----BEGIN OPENSSH PRIVATE KEY-----\\n@@\\n-----END OPENSSH PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----\n@@",
        ],
        shown: &["-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n"],
    },
    Kind {
        name: "Registry credentials",
        within: In::Text,
        hidden: &[
            r#"{"auths":{"ghcr.io":{"auth":"@@"}}}"#,
            r#"{"auths":{"ghcr.io":{"username":"u","password":"@@"}}}"#,
            r#"{"auths":{"ghcr.io":{"identitytoken":"@@"}}}"#,
        ],
        shown: &[r#"{"auths":{"ghcr.io":{}}}"#],
    },
    Kind {
        name: "Tokens of a known shape",
        within: In::Text,
        hidden: &[
            "hf_abcdefghijklmnop@@",
            "ghs_abcdefghijklmnop@@",
            "github_pat_abcdefghijkl@@",
            "glpat-abcdefghijklmnop@@",
            "nvapi-abcdefghijklmnop@@",
            "sk-proj-abcdefghijkl1@@",
            "sk-ant-api03-abcdefg@@",
            "xoxb-1234-abcdefghij@@",
            "AIzaSyabcdefghijklmn@@",
            "dckr_pat_abcdefghij@@",
            "npm_abcdefghijklmno1@@",
            "gsk_abcdefghijklmnop@@",
            "hvs.abcdefghijklmnop@@",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx@@.c2ln",
        ],
        shown: &["sk-learn-is-a-library-of-python", "hf_short", "npm_config_loglevel_silent"],
    },
];

/// Every kind of secret as it is shown in a tree, in a text and in a line of a source.
#[test]
fn every_kind_of_secret_is_hidden_and_its_neighbors_are_shown() {
    // Without any hint of a secret: what is beside it has to tell that it is one.
    const SECRET: &str = "zqWORD12";
    let quoted = |text: &str| serde_json::to_string(text).expect("a string");
    let pair = |text: &str, separator: &str| {
        let (name, value) = text.split_once(separator).expect("a name and a value");
        (name.to_owned(), quoted(value))
    };
    for kind in KINDS {
        let rows = kind.hidden.iter().map(|row| (row, true));
        for (row, hidden) in rows.chain(kind.shown.iter().map(|row| (row, false))) {
            let row = row.replace("@@", SECRET);
            let object = match kind.within {
                In::Object => row.clone(),
                In::Text => format!("{{spec: {{text: {}}}}}", quoted(&row)),
                In::Variable => {
                    let (name, value) = pair(&row, "=");
                    format!("{{env: [{{name: {name}, value: {value}}}]}}")
                }
                In::Argument => {
                    let items: Vec<String> = row.split(" | ").map(quoted).collect();
                    format!("{{args: [{}]}}", items.join(", "))
                }
                In::Field => {
                    let (name, value) = pair(&row, ": ");
                    format!("{{storage: {{parameters: {{{name}: {value}}}}}}}")
                }
                In::Annotation => {
                    let (name, value) = pair(&row, ": ");
                    format!("{{metadata: {{annotations: {{{name}: {value}}}}}}}")
                }
            };
            let node = parse(SourceId(0), &object, 0..object.len(), &Limits::default());
            let node = node.value.expect("YAML");
            let tree = shown(&node).to_json().to_string();
            let of = kind.name;
            if hidden {
                assert!(!tree.contains(SECRET) && tree.contains(MASK), "{of}: {row}: {tree}");
                let lines = masked(&object);
                assert!(!lines.contains(SECRET), "{of}: {row}: {lines}");
                if matches!(kind.within, In::Text) {
                    let text = redacted(&row);
                    assert!(!text.contains(SECRET), "{of}: {row}: {text}");
                }
            } else {
                assert!(!tree.contains(MASK), "{of}: {row}: {tree}");
                assert_eq!(masked(&object), object, "{of}: {row}");
            }
        }
    }
}

#[test]
fn the_page_names_every_kind() {
    let page = include_str!("../../docs/secrets.md");
    for kind in KINDS {
        assert!(page.contains(&format!("| {} |", kind.name)), "{}", kind.name);
    }
}
