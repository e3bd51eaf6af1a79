//! `kdns path --format json`.

use schemars::{JsonSchema, Schema};
use serde::Serialize;

/// The document.
#[derive(Serialize, JsonSchema)]
struct Document {}

/// The schema of the document.
pub fn schema() -> Schema {
    crate::render::json::schema::<Document>()
}
