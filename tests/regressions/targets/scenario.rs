//! The reader of scenarios: an error has a place, and what was read is what
//! is written, also after it was written once.

use kdns::render::{prediction, scenario_json};
use kdns::resolver;
use kdns::scenario::json;
use kdns::simulation::courses::Courses;

use super::{engine, printable_lines};

/// A scenario as JSON. Its resolver is told by its length.
pub(crate) fn run(data: &[u8]) {
    let scenario = match json::parse(data, "1") {
        Ok(scenario) => scenario,
        Err(error) => {
            let lines = 1 + data.iter().filter(|&&byte| byte == b'\n').count();
            assert!((1..=lines).contains(&error.line), "{error:?}");
            assert!(error.column >= 1 && !error.message.is_empty(), "{error:?}");
            return;
        }
    };
    let mut text = Vec::new();
    scenario_json::write(&scenario, &mut text).unwrap();
    let again = json::parse(&text, "1").expect("what is written can be read");
    let mut twice = Vec::new();
    scenario_json::write(&again, &mut twice).unwrap();
    assert_eq!(text, twice, "what is written stays as it is");
    let resolver = &resolver::ALL[data.len() % resolver::ALL.len()];
    let [before, after] = [&scenario, &again].map(|it| {
        let mut line = Vec::new();
        let run = engine::bounded(it, resolver);
        prediction::line(&it.id, resolver, (&run, &Courses::default()), &mut line).unwrap();
        line
    });
    assert_eq!(before, after, "{} asks something else", resolver.id);
    printable_lines(&before);
}
