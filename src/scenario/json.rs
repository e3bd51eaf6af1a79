//! The JSON form of a scenario.

use serde::Serialize;

use super::Scenario;
use super::form::Form;

/// Why a text is no scenario.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ScenarioError {
    /// What is wrong, as a sentence without a full stop. Can have text of the
    /// scenario in it.
    pub message: String,
    /// Line in the text, from 1.
    pub line: usize,
    /// Column in bytes, from 1.
    pub column: usize,
}

impl ScenarioError {
    /// What is wrong at an offset of `text`.
    fn new(message: &str, text: &[u8], at: usize) -> Self {
        let before = text.get(..at).unwrap_or_default();
        let line_start = before.iter().rposition(|&byte| byte == b'\n');
        Self {
            message: message.to_owned(),
            line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
            column: before.len() - line_start.map_or(0, |at| at + 1) + 1,
        }
    }
}

impl From<serde_json::Error> for ScenarioError {
    fn from(error: serde_json::Error) -> Self {
        let message = error.to_string();
        // serde_json ends with the place.
        let message = message.rsplit_once(" at line ").map(|(start, _)| start);
        Self {
            message: message.unwrap_or("it cannot be read").to_owned(),
            line: error.line().max(1),
            column: error.column().max(1),
        }
    }
}

/// Reads one scenario from JSON text. `id` names it if it has no `id`.
///
/// # Errors
///
/// Malformed JSON, an unknown key, a value of the wrong kind: with line and
/// column in `text`.
pub fn parse(text: &[u8], id: &str) -> Result<Scenario, ScenarioError> {
    // Without this an array would do: its elements in the order of the keys.
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace());
    if let Some(start) = start.filter(|at| text.get(*at) != Some(&b'{')) {
        let message = "a scenario is a JSON object, and this is none";
        return Err(ScenarioError::new(message, text, start));
    }
    // All at once: text by text is slower.
    let text = std::str::from_utf8(text)
        .map_err(|error| ScenarioError::new("it is not UTF-8", text, error.valid_up_to()))?;
    let form: Form = serde_json::from_str(text)?;
    Ok(form.into_scenario(id))
}

/// What [`parse`] reads, for writing.
pub fn form(scenario: &Scenario) -> impl Serialize {
    Form::from(scenario)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::default_nsswitch;

    #[test]
    fn code_points_up_to_255_are_bytes() {
        let scenario = parse(
            br#"{"name": "b\u00fccher", "resolv_conf": "\u00ff\u0000\u20ac"}"#,
            "1",
        )
        .unwrap();
        assert_eq!(scenario.name, "bücher");
        assert_eq!(
            scenario.resolv_conf.unwrap().source.bytes,
            b"\xff\0\xe2\x82\xac"
        );
        assert_eq!(scenario.id, "1");
    }

    #[test]
    fn an_unknown_key_is_an_error_with_its_place() {
        let error = parse(b"{\"name\": \"a\",\n \"nam\": 1}", "1").unwrap_err();
        assert_eq!((error.line, error.column), (2, 6));
        assert!(error.message.starts_with("unknown field `nam`"), "{error}");
    }

    #[test]
    fn what_is_no_object_is_no_scenario() {
        for (text, place) in [("[1]", (1, 1)), ("\n \"x\"", (2, 2)), ("5", (1, 1))] {
            let error = parse(text.as_bytes(), "1").unwrap_err();
            assert_eq!((error.line, error.column), place, "{text}");
            assert!(error.message.contains("JSON object"), "{error}");
        }
    }

    #[test]
    fn what_is_not_utf_8_has_its_place() {
        let error = parse(b"{\"name\":\n \"\xff\"}", "1").unwrap_err();
        assert_eq!((error.line, error.column), (2, 3), "{error}");
        assert!(error.message.contains("UTF-8"), "{error}");
    }

    #[test]
    fn null_is_a_missing_file_and_no_key_the_usual_one() {
        let scenario = parse(br#"{"name": "a", "hosts": null}"#, "1").unwrap();
        assert_eq!(scenario.hosts, None);
        assert_eq!(scenario.nsswitch, Some(default_nsswitch()));
        assert_eq!(scenario.resolv_conf, None);
    }
}
