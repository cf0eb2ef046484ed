//! Exactly one JSON document for scripts, described in `docs/json.md`.

use crate::analysis::{Comparison, Qualification};
use crate::load::Stored;
use crate::recording::Recording;
use crate::report::{ImportedFile, audit};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The version of these documents. Names may be added to one; a name is never changed or taken away.
pub const SCHEMA: u32 = 1;

/// `{"schema":1,"runs":[…],"imported":[…]}`
pub fn stored(all: &[Stored]) -> Value {
    let mut runs = Vec::new();
    let mut imported = Vec::new();
    for stored in all {
        match stored {
            Stored::Measured(run) => runs.push(&**run),
            Stored::Imported(run) => imported.push(run),
        }
    }
    json!({ "schema": SCHEMA, "runs": runs, "imported": imported })
}

/// `{"schema":1,"files":[…],"imported":[…],"resolution":[…]}`
pub fn imports(files: &[ImportedFile]) -> Value {
    let heads: Vec<Value> = files
        .iter()
        .map(|file| {
            json!({
                "file": file.file,
                "format": file.imported.format.name(),
                "runs": file.imported.runs.len(),
                "there_already": file.there_already,
                "notes": file.imported.notes,
            })
        })
        .collect();
    let runs: Vec<_> = files.iter().flat_map(|file| &file.imported.runs).collect();
    json!({ "schema": SCHEMA, "files": heads, "imported": runs, "resolution": audit(files) })
}

/// `{"schema":1,"comparisons":[…],…}`, one comparison a metric.
pub fn comparison(comparison: &Comparison) -> Value {
    let same: Map<String, Value> =
        comparison.key.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
    json!({
        "schema": SCHEMA,
        "comparisons": comparison.metrics,
        "base": comparison.base,
        "new": comparison.new,
        "same": same,
        "emulated": comparison.emulated,
        "hops": comparison.hops,
        "left_out": comparison.left_out,
        "notes": comparison.notes,
    })
}

/// `{"schema":1,"qualification":{…}}`
pub fn qualification(qualification: &Qualification) -> Value {
    let mut document = json!(qualification);
    let same: Map<String, Value> =
        qualification.key.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
    if let Value::Object(document) = &mut document {
        document.remove("key");
        document.insert("same".to_owned(), same.into());
    }
    json!({ "schema": SCHEMA, "qualification": document })
}

/// `{"schema":1,"probes":[…]}`, one probe a device.
pub fn probe(device: &str, recording: &Recording) -> Value {
    let (facts, unavailable) = recording.facts.as_ref().map(plain).unwrap_or_default();
    let mut probe = json!({
        "device": device,
        "agent": recording.hello.as_ref().map(|hello| format!("{} {}", hello.agent_version, hello.build)),
        "unavailable": unavailable,
    });
    if let (Some(probe), Value::Object(facts)) = (probe.as_object_mut(), facts) {
        probe.extend(facts);
    }
    json!({ "schema": SCHEMA, "probes": [probe] })
}

/// A value of the wire with each reading turned into its figure, or into `null` and a reason under its name,
/// such as `disks.0.size_bytes`.
pub(super) fn plain(value: &impl Serialize) -> (Value, BTreeMap<String, String>) {
    let mut missing = BTreeMap::new();
    let mut value = serde_json::to_value(value).unwrap_or_default();
    flatten_readings(&mut value, "", &mut missing);
    (value, missing)
}

fn flatten_readings(value: &mut Value, name: &str, missing: &mut BTreeMap<String, String>) {
    let below = |part: &str| if name.is_empty() { part.to_owned() } else { format!("{name}.{part}") };
    match value {
        Value::Object(object) if object.len() == 1 && object.contains_key("Ok") => {
            *value = object.remove("Ok").unwrap_or_default();
            flatten_readings(value, name, missing);
        }
        Value::Object(object) if object.len() == 1 && object.contains_key("Err") => {
            let reason = object["Err"]["reason"].as_str().unwrap_or("no reason was given");
            missing.insert(name.to_owned(), reason.to_owned());
            *value = Value::Null;
        }
        Value::Object(object) => {
            for (part, inner) in object.iter_mut() {
                flatten_readings(inner, &below(part), missing);
            }
        }
        Value::Array(list) => {
            // A pair of a name and a reading is called by that name.
            let pair_name = match list.as_slice() {
                [Value::String(part), _] => Some(part.clone()),
                _ => None,
            };
            for (at, inner) in list.iter_mut().enumerate() {
                let part = pair_name.clone().unwrap_or_else(|| at.to_string());
                flatten_readings(inner, &below(&part), missing);
            }
        }
        _ => {}
    }
}
