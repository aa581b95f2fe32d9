//! JSON documents with a format and a version, for work and results that go to other processes.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What can be written down as a JSON object and read again, here or elsewhere.
///
/// ```
/// use dally_core::{Document, Ended, Report};
///
/// let mut report = Report::new("ping-pong", "per-send");
/// report.ended = Ended::Time;
/// assert_eq!(Report::read(&report.write())?, report);
///
/// let later = report.write().replace(r#""version":3"#, r#""version":9"#);
/// assert_eq!(
///     Report::read(&later).unwrap_err().to_string(),
///     "this document `dally-run` is of version 9; this Dally reads version 3",
/// );
/// # Ok::<(), dally_core::ReadError>(())
/// ```
pub trait Document: Serialize + DeserializeOwned {
    /// What it is, in the field `format`.
    const FORMAT: &'static str;

    /// The version of its form, in the field `version`. Fields may be added without a new version;
    /// a field that goes or changes its meaning makes one.
    const VERSION: u32;

    /// The document, in one line.
    fn write(&self) -> String {
        let document = Headed { format: Self::FORMAT, version: Self::VERSION, content: self };
        // Writing to memory cannot fail, and all keys of a document are strings.
        serde_json::to_string(&document).unwrap_or_default()
    }

    /// Reads a document.
    fn read(text: &str) -> Result<Self, ReadError> {
        let head: Head = serde_json::from_str(text).map_err(ReadError::NotADocument)?;
        let (wanted, version) = (Self::FORMAT, Self::VERSION);
        if head.format != wanted {
            return Err(ReadError::OtherFormat { wanted, found: head.format });
        }
        if head.version != u64::from(version) {
            return Err(ReadError::OtherVersion { wanted, version, found: head.version });
        }
        serde_json::from_str(text).map_err(|why| ReadError::Damaged { wanted, why })
    }
}

#[derive(Serialize)]
struct Headed<'a, T> {
    format: &'static str,
    version: u32,
    #[serde(flatten)]
    content: &'a T,
}

#[derive(Deserialize)]
struct Head {
    format: String,
    version: u64,
}

/// A text is not the document that was to be read, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is not a JSON object with the fields that every document has.
    #[error("this is not a document of Dally: {0}")]
    NotADocument(serde_json::Error),
    /// It is something else.
    #[error("this is a document `{found}`, and `{wanted}` is wanted")]
    OtherFormat {
        /// What was to be read.
        wanted: &'static str,
        /// What it is.
        found: String,
    },
    /// It was written by another version of Dally.
    #[error("this document `{wanted}` is of version {found}; this Dally reads version {version}")]
    OtherVersion {
        /// What was to be read.
        wanted: &'static str,
        /// The version that can be read.
        version: u32,
        /// The version that it has.
        found: u64,
    },
    /// A part of it is missing or not what it should be.
    #[error("this document `{wanted}` is damaged: {why}")]
    Damaged {
        /// What was to be read.
        wanted: &'static str,
        /// What is wrong with it.
        why: serde_json::Error,
    },
}

/// Writes a type as the text that its `Display` makes and its `FromStr` reads.
macro_rules! written_as_text {
    ($type:ident) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string" })
            }
        }
    };
}

pub(crate) use written_as_text;
