//! Names out of a short list, such as those of passes and hops, which take no memory of their own.

use super::Hop;
use serde::{Deserialize, Deserializer, de::Error};
use std::borrow::Cow;

/// A name that this program is written with. An alias, because serde takes a `&'static str` that it sees in a
/// struct for one that is borrowed from what is read.
pub(super) type Name = &'static str;

/// Those beside [`Hop::NAMES`]: engines, patterns, passes.
const NAMES: [Name; 5] = ["psync", "random", "sequential", "timed", "hops"];

/// Reads a name back. One that is not known was written by another version.
pub(super) fn known_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
    let name = Cow::<'de, str>::deserialize(deserializer)?;
    let known = NAMES.into_iter().chain(Hop::NAMES).find(|known| *known == name);
    known.ok_or_else(|| D::Error::custom(format!("{name} is no name of this version")))
}
