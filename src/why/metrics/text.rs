//! The text format of Prometheus, as far as counters, gauges and histograms go.
//!
//! The crates that read it bring more than the format is: `prometheus-parse` a
//! regular expression engine and a calendar, `prometheus-scraper` protobuf, and
//! `openmetrics-parser` another licence. A line is `NAME{LABEL="VALUE",…} NUMBER`.
//!
//! Source: Prometheus, `docs/instrumenting/exposition_formats.md`.

/// A line with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// What is measured.
    pub name: String,
    /// Labels and their values, in the order of the line.
    pub labels: Vec<(String, String)>,
    /// The value; can be infinite or no number.
    pub value: f64,
}

impl Sample {
    /// The value of a label.
    pub fn label(&self, name: &str) -> Option<&str> {
        let label = self.labels.iter().find(|it| it.0 == name)?;
        Some(&label.1)
    }
}

/// The samples of a page, and how many lines are none and no comment either.
pub fn samples(text: &str) -> (Vec<Sample>, usize) {
    let mut samples = Vec::new();
    let mut wrong = 0;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match sample(line) {
            Some(sample) => samples.push(sample),
            None => wrong += 1,
        }
    }
    (samples, wrong)
}

fn sample(line: &str) -> Option<Sample> {
    let is_end = |c: char| c == '{' || c.is_ascii_whitespace();
    let end = line.find(is_end)?;
    let (name, mut rest) = line.split_at_checked(end)?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let mut labels = Vec::new();
    if let Some(inside) = rest.trim_start().strip_prefix('{') {
        rest = read_labels(inside, &mut labels)?;
    }
    // A time can stand behind the value.
    let value = rest.split_ascii_whitespace().next()?;
    let value = match value {
        "+Inf" => f64::INFINITY,
        "-Inf" => f64::NEG_INFINITY,
        number => number.parse().ok()?,
    };
    Some(Sample {
        name: name.to_owned(),
        labels,
        value,
    })
}

/// Reads labels, and gives what stands behind the closing brace.
fn read_labels<'t>(text: &'t str, labels: &mut Vec<(String, String)>) -> Option<&'t str> {
    let mut rest = text.trim_start();
    loop {
        if let Some(behind) = rest.strip_prefix('}') {
            return Some(behind);
        }
        let (name, behind) = rest.split_once('=')?;
        let (value, behind) = quoted(behind.trim_start())?;
        labels.push((name.trim().to_owned(), value));
        rest = behind.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
}

/// A text in quotes, and what stands behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut characters = text.strip_prefix('"')?.chars();
    let mut value = String::new();
    loop {
        match characters.next()? {
            '"' => return Some((value, characters.as_str())),
            '\\' => value.push(match characters.next()? {
                'n' => '\n',
                other => other,
            }),
            other => value.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "exact values")]
    fn lines_are_read() {
        let text = "# HELP a b\n# TYPE a counter\n\
            a 1\n\
            b{} 2.5e3 1395066363000\n\
            c{x=\"1\", y=\"a \\\"q\\\" \\\\ }\\n\",} +Inf\n\
            d{x=\"1\"\n\
            e NaN\n\
            no number here\n";
        let (found, wrong) = samples(text);
        let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "e"]);
        assert_eq!(wrong, 2);
        assert_eq!(found[1].value, 2500.0);
        assert_eq!(found[2].label("y"), Some("a \"q\" \\ }\n"));
        assert!(found[2].value.is_infinite());
        assert!(found[3].value.is_nan());
    }
}
