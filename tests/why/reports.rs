//! Messages of real reports that were in no page when the catalogue was written.

use std::fs;
use std::sync::OnceLock;

use kdns::why::{Catalogue, recognise};

use crate::root;

/// A message of a report.
pub(crate) struct Report {
    pub(crate) speakers: Vec<String>,
    pub(crate) causes: Vec<String>,
    pub(crate) address: String,
    pub(crate) message: String,
}

/// What became of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Answer {
    /// The right speaker, and the cause is among its hypotheses; or it is said
    /// to be no error of DNS, and is none.
    Right,
    /// Another speaker, or the cause is not among the hypotheses.
    Other,
    /// Not known, and said so.
    Unknown,
    /// An error of DNS that is said to be none, or the other way.
    Wrong,
}

fn all() -> Vec<Report> {
    let text = fs::read_to_string(root().join("testdata/why/reports.tsv")).unwrap();
    let words = |list: &str| list.split('|').map(str::to_owned).collect();
    text.lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.splitn(4, '\t').collect();
            Report {
                speakers: words(fields[0]),
                causes: words(fields[1]),
                address: fields[2].to_owned(),
                message: fields[3].replace('␤', "\n").replace('⇥', "\t"),
            }
        })
        .collect()
}

/// All of them, each with what kdns says of it, and the id of the message that it sees.
pub(crate) fn answers() -> &'static [(Report, Answer, &'static str)] {
    static ANSWERS: OnceLock<Vec<(Report, Answer, &str)>> = OnceLock::new();
    ANSWERS.get_or_init(|| {
        let catalogue = Catalogue::built_in();
        let with_answer = |report: Report| {
            let (answer, id) = answer(catalogue, &report);
            (report, answer, id)
        };
        all().into_iter().map(with_answer).collect()
    })
}

fn answer(catalogue: &Catalogue, report: &Report) -> (Answer, &'static str) {
    let Ok(found) = recognise(catalogue, &report.message, None) else {
        return (Answer::Unknown, "");
    };
    let is_dns = report.causes != ["none"];
    let id = found.message.id;
    if found.message.is_dns() != is_dns {
        return (Answer::Wrong, id);
    }
    let is_speaker = report
        .speakers
        .iter()
        .any(|it| it == found.message.speaker.id);
    let has = |code: &String| found.causes.iter().any(|it| it.1.code == code);
    let has_cause = !is_dns || report.causes.iter().any(has);
    if is_speaker && has_cause {
        (Answer::Right, id)
    } else {
        (Answer::Other, id)
    }
}

#[test]
fn reports_are_understood() {
    let reports = answers();
    let mut counts = [0; 4];
    let mut others = Vec::new();
    for (report, answer, id) in reports {
        counts[*answer as usize] += 1;
        if *answer != Answer::Right {
            others.push(format!("{answer:?} {id}: {}", report.message));
        }
    }
    let others = others.join("\n");
    assert_eq!(counts[Answer::Wrong as usize], 0, "{others}");
    assert!(reports.len() >= 200);
    let enough = counts[0] * 100 >= reports.len() * 85;
    assert!(enough, "{} of {}:\n{others}", counts[0], reports.len());
}
