//! Secrets of every kind, planted all over an input: no output shows one.

use crate::process::{Done, Folder};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Values that a variable, an annotation or a key of a ConfigMap may hold; `@@` is the secret.
const VALUES: &[&str] = &[
    "postgres://app:@@@db:5432/x",
    "http://user:@@@proxy:3128",
    "redis://:@@@redis:6379/0",
    "https://@@@github.com/x/y.git",
    "https://b.s3.amazonaws.com/x?X-Amz-Signature=@@&a=1",
    "https://a.blob.core.windows.net/x?sv=1&sig=@@",
    "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=@@==;EndpointSuffix=y",
    "https://hooks.slack.com/services/T0/B0/@@",
    "https://discord.com/api/webhooks/1/@@",
    "Authorization: Bearer @@",
    "Bearer @@",
    "Basic @@",
    r#"{"auths":{"ghcr.io":{"auth":"@@"}}}"#,
    r#"{"auths":{"ghcr.io":{"username":"u","password":"@@"}}}"#,
    "sk-proj-@@",
    "sk-ant-api03-@@",
    "xoxb-1234-@@",
    "AIzaSy@@",
    "ghs_@@",
    "gho_@@",
    "hf_@@",
    "glpat-@@",
    "nvapi-@@",
    "dckr_pat_@@",
    "npm_@@",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx@@.c2ln",
    "-----BEGIN PRIVATE KEY-----\n@@\n-----END PRIVATE KEY-----\n",
    "jdbc:postgresql://h/x?user=u&password=@@",
    r#"{"clientSecret":"@@","x":1}"#,
    "password: @@\nuser: x",
    "export API_KEY=@@; run",
    "api_key = \"@@\"",
    "password = @@",
    "{'token': '@@'}",
    "user=x password=@@",
    "aws_secret_access_key = @@",
    "curl -H 'Authorization: Bearer @@' https://x",
    "curl -u me:@@ https://x",
    "X-Api-Key: @@",
    "https://x-access-token:@@@github.com",
    "machine h login u password @@",
    r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"blob":"@@"}}"#,
];
/// Names of variables.
const NAMES: &[&str] = &[
    "HF_TOKEN",
    "PGPASSWORD",
    "hfToken",
    "apiKey",
    "dbPassword",
    "HFTOKEN",
    "GITHUBTOKEN",
    "OPENAI_APIKEY",
    "WANDB_API_KEY",
    "BASIC_AUTH",
    "REDISCLI_AUTH",
    "JWT",
    "SESSION_COOKIE",
    "SMTP_PASS",
    "MYSQL_PWD",
    "SECRETS",
    "API_KEYS",
    "ACCESS_TOKENS",
    "PASSWORDS",
    "VAULT_SECRET_ID",
    "TOKEN_1",
    "DB_PASSWORD_1",
    "SASL_PASSWORD",
    "LITELLM_MASTER_KEY",
    "LICENSE",
    "api_key",
    "hf_token",
    "PRIVATE_KEY_PEM",
    "KEYSTORE_PASS",
    "DBPASS",
    "DB_PASSWORD_FILE",
    "SIGNING_SALT",
    "MYSECRET",
    "my.token",
    "AWS_SESSION_TOKEN",
    "CONN_PASSPHRASE",
];
/// Arguments, parted by ` | `.
const ARGUMENTS: &[&str] = &[
    "--api-key=@@",
    "--api-key | @@",
    "--apiKey=@@",
    "--hfToken | @@",
    "--redis-password=@@",
    "--hf-token=@@",
    "-p=@@",
    "--auth=@@",
    "--auth-token=@@",
    "--apikey=@@",
    "--secret=@@",
    "--pass=@@",
    "--password-file=/x/@@",
    "--api_key=@@",
    "--ssl-keyfile-password=@@",
    "--admin-api-key=@@",
    "--header=Authorization: Bearer @@",
    "--env=HF_TOKEN=@@",
    "-e | HF_TOKEN=@@",
    "-Dpassword=@@",
    "--credential=@@",
    "--token:@@",
    "--api-key  @@",
    "--master-key=@@",
    "-u | me:@@",
];
/// Annotations.
const TAGS: &[&str] = &[
    "example.com/api-token",
    "example.com/password",
    "example.com/auth",
    "secret-note",
    "example.com/db-pass",
];

/// Secrets by their marks, for a state of the input.
struct Planter {
    state: &'static str,
    places: BTreeMap<String, String>,
}

impl Planter {
    /// A secret of its own, in a place.
    fn plant(&mut self, place: impl Into<String>) -> String {
        let mark = format!("zq{}{:04}kkkkkkkkkkkkkkkkkkkk", self.state, self.places.len());
        self.places.insert(mark.clone(), place.into());
        mark
    }

    fn fill(&mut self, place: &str, text: &str) -> String {
        let secret = self.plant(format!("{place}: {text}"));
        text.replace("@@", &secret)
    }

    fn variables(&mut self, place: &str) -> Value {
        let named = NAMES
            .iter()
            .map(|name| json!({"name": name, "value": self.plant(format!("{place}: {name}"))}));
        let named: Vec<Value> = named.collect();
        let values = VALUES
            .iter()
            .enumerate()
            .map(|(at, value)| json!({"name": format!("V{at}"), "value": self.fill(place, value)}));
        named.into_iter().chain(values.collect::<Vec<_>>()).collect()
    }

    fn arguments(&mut self, place: &str) -> Value {
        let mut all = Vec::new();
        for argument in ARGUMENTS {
            all.extend(self.fill(place, argument).split(" | ").map(ToOwned::to_owned));
        }
        all.into()
    }

    fn annotations(&mut self, place: &str) -> Value {
        let mut all = serde_json::Map::new();
        for name in TAGS {
            all.insert((*name).to_owned(), self.plant(format!("{place}: {name}")).into());
        }
        for (at, value) in VALUES.iter().enumerate() {
            all.insert(format!("example.com/v{at}"), self.fill(place, value).into());
        }
        let copy = json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"a": self.plant(format!("{place}: last applied"))}});
        all.insert(
            "kubectl.kubernetes.io/last-applied-configuration".into(),
            copy.to_string().into(),
        );
        all.into()
    }

    /// The objects of a state.
    fn objects(&mut self) -> Vec<Value> {
        let runner = json!({
            "name": "ome-container", "image": "r.example/x:1",
            "env": self.variables("service"), "args": self.arguments("service"),
            "command": ["sh", "-c", format!("run --password {}; HF_TOKEN={} x", self.plant("command"), self.plant("command"))],
            "livenessProbe": {"httpGet": {"path": format!("/h?token={}", self.plant("probe")), "port": 8080, "httpHeaders": [
                {"name": "Authorization", "value": format!("Bearer {}", self.plant("header"))},
                {"name": "X-Auth", "value": self.plant("header X-Auth")},
                {"name": "Cookie", "value": format!("sid={}", self.plant("header Cookie"))},
            ]}},
            "lifecycle": {"postStart": {"exec": {"command": ["curl", "-u", format!("u:{}", self.plant("lifecycle")), "http://x"]}}},
        });
        let replicas = if self.state == "a" { 1 } else { 2 };
        let service = json!({
            "apiVersion": "ome.io/v1beta1", "kind": "InferenceService",
            "metadata": {"name": "svc", "namespace": "default", "annotations": self.annotations("service"), "labels": {"token": self.plant("label")}},
            "spec": {"model": {"name": "m"}, "engine": {"minReplicas": replicas, "annotations": {"x.io/api-key": self.plant("engine")}, "runner": runner}},
        });
        let runtime = json!({
            "apiVersion": "ome.io/v1beta1", "kind": "ClusterServingRuntime", "metadata": {"name": "r"},
            "spec": {
                "supportedModelFormats": [{"modelFormat": {"name": "safetensors", "version": "1.0.0"}, "modelArchitecture": "LlamaForCausalLM", "autoSelect": true, "priority": 1}],
                "modelSizeRange": {"min": "1B", "max": "9B"},
                "engineConfig": {"runner": {"name": "ome-container", "image": "r.example/x:1", "env": self.variables("runtime"), "args": self.arguments("runtime")}},
            },
        });
        let model = json!({
            "apiVersion": "ome.io/v1beta1", "kind": "ClusterBaseModel", "metadata": {"name": "m", "annotations": self.annotations("model")},
            "spec": {"modelFormat": {"name": "safetensors", "version": "1.0.0"}, "modelArchitecture": "LlamaForCausalLM", "modelParameterSize": "7B",
                "storage": {"storageUri": format!("hf://u:{}@example/m?token={}", self.plant("storageUri"), self.plant("storageUri")), "key": "hf-secret",
                    "parameters": {"secret_access_key": self.plant("parameter"), "sas": self.plant("parameter"), "account_key": self.plant("parameter"), "region": "x"}}},
        });
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {"name": "hf-secret", "namespace": "default", "annotations": self.annotations("Secret")},
            "data": {"x": self.plant("data")}, "stringData": {"plain": self.plant("stringData"), "b@d key": self.plant("stringData")},
        });
        // A Secret with mistakes, so that findings quote it.
        let wrong = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson",
            "metadata": {"name": "bad_name", "namespace": "default"},
            "data": {".dockerconfigjson": self.plant("data that is no base64")},
            "sttringData": {"typo": self.plant("sttringData")}, "stringdata": {"typo": self.plant("stringdata")},
        });
        let mut data = serde_json::Map::new();
        for (at, value) in VALUES.iter().enumerate() {
            data.insert(format!("v{at}"), self.fill("ConfigMap", value).into());
        }
        data.insert("token".into(), self.plant("ConfigMap token").into());
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cfg", "namespace": "default"}, "data": data});
        let kserve = json!({
            "apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService",
            "metadata": {"name": "ks", "namespace": "default", "annotations": self.annotations("KServe")},
            "spec": {"predictor": {"containers": [{"name": "kserve-container", "image": "r.example/x:1", "env": self.variables("KServe"), "args": self.arguments("KServe")}]}},
        });
        vec![service, runtime, model, secret, wrong, map, kserve]
    }
}

/// An object of YAML in the block style, so that a finding draws a few lines and not all.
fn yaml(objects: &[Value]) -> String {
    let text = |object: &Value| serde_yaml::to_string(object).expect("YAML");
    objects.iter().map(text).collect::<Vec<_>>().join("---\n")
}

fn calls() -> Vec<String> {
    let mut calls = Vec::new();
    let mut each = |call: &str, formats: &[&str]| {
        calls.extend(formats.iter().map(|format| format!("{call} -o {format}")));
    };
    let pages = ["table", "json", "markdown", "html"];
    let all = ["human", "json", "html", "sarif", "github", "junit", "gitlab", "rdjson"];
    for input in ["a", "syntax", "fields", "flow"] {
        each(&format!("validate {input} --min-severity info"), &all);
        each(&format!("plan -f {input}"), &pages);
        each(&format!("explain -f {input} --merge --all"), &["table", "json", "markdown"]);
        each(&format!("explain -f {input}"), &["html", "mermaid"]);
        each(&format!("catalog list -f {input}"), &["table", "json"]);
        each(&format!("plan -f {input} --semantics controller"), &["table", "json"]);
    }
    for name in ["m", "r"] {
        each(&format!("catalog show {name} -f a"), &["table", "json"]);
    }
    each("diff --base a -f b --all", &pages);
    each("diff --base b -f a", &pages);
    each("diff --base a -f fields", &pages);
    each("drift -f a --live a", &pages);
    each("rollout svc --from a -f b", &["table", "json"]);
    each("rollout --all --from a -f b", &["table", "json"]);
    each("matrix -f a", &["table", "json"]);
    each("endpoints svc -f a", &["table", "json"]);
    for object in ["Deployment/svc-engine", "ConfigMap/modelconfig-svc", "Service/svc"] {
        each(&format!("why {object} ** -f a"), &["table", "json"]);
        each(&format!("why {object} spec.template.spec.containers[0].* -f a"), &["table", "json"]);
    }
    calls.push("kueue export -f a -o json".to_owned());
    calls.push("discover -f a".to_owned());
    calls.push("render --check out -f b --diff".to_owned());
    calls.push("test t.ome-test.yaml -f a".to_owned());
    calls
}

#[test]
fn no_output_shows_a_planted_secret() {
    let mut planters = ["a", "b"].map(|state| Planter { state, places: BTreeMap::new() });
    let [a, b] = planters.each_mut().map(|planter| yaml(&planter.objects()));
    let planted: usize = planters.iter().map(|planter| planter.places.len()).sum();
    assert!(planted >= 2 * 239, "{planted} secrets");
    let fields =
        a.replace("    env:", "    enw:").replace("args:", "arggs:").replace("  data:", "  dta:");
    let syntax =
        a.replace("  runner:\n", "  runner:\n  x: y: z\n").replace("stringData:", "stringData: [");
    // The same on one line: an excerpt is cut to what is to be seen.
    let objects = Planter { state: "a", places: BTreeMap::new() }.objects();
    let flow = objects.iter().map(Value::to_string).collect::<Vec<_>>().join("\n---\n");
    let folder = Folder::new(&[
        ("a/in.yaml", &a),
        ("b/in.yaml", &b),
        ("fields/in.yaml", &fields),
        ("syntax/in.yaml", &syntax),
        ("flow/in.yaml", &flow),
        (
            "t.ome-test.yaml",
            "cases:\n- name: c\n  services:\n    default/svc: {env.HF_TOKEN: other, env.V0: other, arg: --api-key=other}\n",
        ),
    ]);
    folder.ome("render -f a -o dir=out --no-builtin --no-config");
    let leaks: Vec<String> = calls()
        .par_iter()
        .flat_map(|call| {
            let Done { exit, stdout, stderr } =
                folder.ome(&format!("{call} --no-builtin --no-config"));
            assert!(!stderr.contains("unexpected argument"), "{call}: {stderr}");
            assert!(exit.is_some_and(|exit| exit < 3), "{call}: {stderr}");
            let text = format!("{stdout}{stderr}");
            let places = planters.iter().flat_map(|planter| &planter.places);
            let shown = places.filter(|(mark, _)| text.contains(mark.as_str()));
            shown.map(|(_, place)| format!("{call}: {place}")).collect::<Vec<_>>()
        })
        .collect();
    assert!(leaks.is_empty(), "{} shown:\n{}", leaks.len(), leaks.join("\n"));
}
