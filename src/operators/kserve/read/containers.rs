//! Keys of the ConfigMap inferenceservice-config that describe the containers KServe adds to pods.
//!
//! In: the text of one key. Out: the settings in it, or the controller's error message.

use crate::api::{Amounts, ImageConfig, KServeConfig, LoggerStore, ModelImages, ProxyConfig};
use crate::quantity::Quantity;
use crate::quantity::go_json_text::{boolean, fields, string};
use ecow::{EcoString, eco_format};
use serde_json::Value as Json;

/// Fields that size a container which KServe adds to pods. They have no defaults: if the ConfigMap
/// has the key of the container, all four are required.
const SIZES: [&str; 4] = ["memoryRequest", "memoryLimit", "cpuRequest", "cpuLimit"];

/// The first of these fields that is not a quantity, with the error.
fn no_quantity<'n>(
    found: &serde_json::Map<String, Json>,
    names: &[&'n str],
) -> Option<(&'n str, String)> {
    names.iter().find_map(|&name| {
        // Go's decoder ignores the case of keys.
        let same = found.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        // A size that is absent is the empty text, which is no quantity.
        let text = same.and_then(|(_, value)| value.as_str()).unwrap_or_default();
        Some((name, Quantity::parse(text).err()?.to_string()))
    })
}

/// Checks that the key of a container sets all of [`SIZES`].
fn sized(key: &str, text: &str) -> Result<(), EcoString> {
    match no_quantity(&fields(text, key)?, &SIZES) {
        Some((_, error)) => {
            Err(eco_format!("failed to parse resource configuration for \"{key}\": {error}"))
        }
        None => Ok(()),
    }
}

pub(super) fn amounts(what: &str, amounts: &mut Amounts, value: &Json) -> Result<(), EcoString> {
    let names = [
        ("cpuRequest", &mut amounts.cpu_request),
        ("cpuLimit", &mut amounts.cpu_limit),
        ("memoryRequest", &mut amounts.memory_request),
        ("memoryLimit", &mut amounts.memory_limit),
    ];
    for (name, field) in names {
        if let Some(value) = value.get(name) {
            string(field, value, what, name)?;
        }
    }
    Ok(())
}

pub(super) fn agent(config: &mut KServeConfig, text: &str) -> Result<(), EcoString> {
    image("agent config", &mut config.agent, text)?;
    sized("agent", text)
}

/// The key of the proxy that OpenShift AI adds to pods.
pub(super) fn proxy(config: &mut KServeConfig, text: &str) -> Result<(), EcoString> {
    const WHAT: &str = "oauthProxy config";
    let mut proxy = ProxyConfig::default();
    image(WHAT, &mut proxy.container, text)?;
    if let Some(seconds) = fields(text, WHAT)?.get("upstreamTimeoutSeconds") {
        string(&mut proxy.timeout, seconds, WHAT, "upstreamTimeoutSeconds")?;
        proxy.timeout = proxy.timeout.trim().into();
    }
    config.proxy = Some(proxy);
    Ok(())
}

fn image(what: &str, image: &mut ImageConfig, text: &str) -> Result<(), EcoString> {
    let fields = fields(text, what)?;
    if let Some(value) = fields.get("image") {
        string(&mut image.image, value, what, "image")?;
    }
    amounts(what, &mut image.resources, &Json::Object(fields))
}

pub(super) fn storage_initializer(config: &mut KServeConfig, text: &str) -> Result<(), EcoString> {
    const WHAT: &str = "storageInitializer config";
    image(WHAT, &mut config.storage_initializer, text)?;
    // The key replaces all defaults of its own.
    config.images = ModelImages::default();
    config.ca_mount.clear();
    let mut enabled = false;
    for (key, value) in fields(text, WHAT)? {
        let name = format!("StorageInitializerConfig.{key}");
        match key.as_str() {
            "caBundleConfigMapName" => string(&mut config.ca_bundle, &value, WHAT, &name)?,
            "caBundleVolumeMountPath" => string(&mut config.ca_mount, &value, WHAT, &name)?,
            "ociModelMode" => string(&mut config.images.mode, &value, WHAT, &name)?,
            "cpuModelcar" => string(&mut config.images.cpu, &value, WHAT, &name)?,
            "memoryModelcar" => string(&mut config.images.memory, &value, WHAT, &name)?,
            "uidModelcar" => config.images.user = value.as_i64(),
            "ociInsecureRegistry" => boolean(&mut config.images.insecure, &value, WHAT, &name)?,
            "enableModelcar" | "enableOciModelSupport" => {
                let mut one = false;
                boolean(&mut one, &value, WHAT, &name)?;
                enabled |= one;
                config.images.modelcar |= one && key == "enableModelcar";
            }
            _ => {}
        }
    }
    let modelcar = ["cpuModelcar", "memoryModelcar"];
    let modelcar = modelcar.into_iter().zip([&config.images.cpu, &config.images.memory]);
    // The amounts of modelcars are optional, but must be quantities if they are there.
    let quantities: Vec<&str> = SIZES
        .into_iter()
        .chain(modelcar.filter(|(_, written)| !written.is_empty()).map(|(name, _)| name))
        .collect();
    if let Some((name, error)) = no_quantity(&fields(text, WHAT)?, &quantities) {
        return Err(eco_format!(
            "failed to parse resource configuration for \"storageInitializer\".\"{name}\": {error}"
        ));
    }
    match config.images.mode.as_str() {
        // The former switch means the only delivery that there was.
        "" if enabled => config.images.mode = "modelcar".into(),
        "" | "modelcar" | "native" | "fetch" => {}
        other => {
            return Err(ecow::eco_format!(
                "invalid \"storageInitializer\".ociModelMode \"{other}\": must be one of \"modelcar\", \"native\", \"fetch\""
            ));
        }
    }
    Ok(())
}

pub(super) fn logger(config: &mut KServeConfig, text: &str) -> Result<(), EcoString> {
    const WHAT: &str = "logger config";
    for (key, value) in fields(text, WHAT)? {
        let name = format!("LoggerConfig.{key}");
        match key.as_str() {
            "defaultUrl" => string(&mut config.logger.url, &value, WHAT, &name)?,
            "caBundle" => string(&mut config.logger.ca_bundle, &value, WHAT, &name)?,
            "caCertFile" => string(&mut config.logger.ca_file, &value, WHAT, &name)?,
            "tlsSkipVerify" => boolean(&mut config.logger.skip_verify, &value, WHAT, &name)?,
            "marshallerUrl" => string(&mut config.logger.marshaller, &value, WHAT, &name)?,
            "batchSize" => config.logger.batch_size = value.as_i64().unwrap_or_default(),
            "batchInterval" => string(&mut config.logger.batch_interval, &value, WHAT, &name)?,
            "storage" => config.logger.store = logger_store(&value)?,
            _ => {}
        }
    }
    sized("logger", text)
}

fn logger_store(value: &Json) -> Result<Option<LoggerStore>, EcoString> {
    const WHAT: &str = "logger config";
    if value.is_null() {
        return Ok(None);
    }
    let mut store = LoggerStore::default();
    let parameters = value.get("parameters").unwrap_or(&Json::Null);
    for (field, from, key) in [
        (&mut store.path, value, "path"),
        (&mut store.format, parameters, "format"),
        (&mut store.account, value, "serviceAccountName"),
    ] {
        let written = from.get(key).unwrap_or(&Json::Null);
        string(field, written, WHAT, &format!("LoggerConfig.storage.{key}"))?;
    }
    Ok(Some(store))
}

/// Reads the key `batcher`, of which only the sizes are checked.
pub(super) fn batcher(_: &mut KServeConfig, text: &str) -> Result<(), EcoString> {
    sized("batcher", text)
}
