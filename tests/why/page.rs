//! `docs/messages.md`: what is known, and how well messages of real reports are
//! understood. `KDNS_BLESS=1 cargo test --test why` writes it.

use std::fmt::Write as _;
use std::fs;

use kdns::why::{Catalogue, speaker};

use crate::incidents;
use crate::reports::{self, Answer};
use crate::root;

const START: &str = "# Messages

Made by `KDNS_BLESS=1 cargo test --test why` from the pages below `src/why` and from `testdata/why/reports.tsv` and
`testdata/why/incidents.tsv`.

";

const REPORTS: &str = "## Real reports

Texts of public reports, measured set by set, always in this way: neither address nor text was in this project; labels (speaker, the causes that the thread found, or that
its mechanism leaves open where it has no end, or that it is no error of DNS) were written before the first run; then the set was run once, with the program as it was. *Right* is the
right speaker and a cause of the thread among the first three or four (the first set: anywhere). A *wrong certainty* is an error of DNS that was said to be none, or the other way; all of these are corrected. What
is not right was not known and said so, had another speaker, or its cause lower in the list. What a set missed was taught afterwards, mostly, so that the table of texts below is a regression test and no measure of texts
to come. Where a set was divided by chance, the second half was run with what the first had taught. One hand looked up, labelled and taught.

| Texts | Right when first run | Wrong certainties |
| --- | --- | --- |
| 217 messages | 189 (87 %) | 1 |
| 65, 64 and 47 messages, more strictly | 48 (74 %), 52 (81 %), 42 (89 %) | 0 |
| 65 messages | 51 (78 %) | 0 |
| 93 and 86 messages | 67 (72 %), 73 (85 %) | 0, 2 |
| 67 messages | 42 (63 %) | 2 |
| 204 messages, 48 of them no DNS error | of DNS 112 of 156 (72 %); of the others 18, 29 not known | 1 |
| 55 messages | of DNS 47 of 52 (90 %) | 0 |
| 100 and 99 texts | of DNS 68 of 91 (75 %), 62 of 89 (70 %) | 1, 0 |
| 85 and 53 titles, sentences, listings | 55 (65 %), 44 (83 %) | 0 |
| 71, 41 and 27 texts | 56 (79 %), 29 (71 %), 20 (74 %) | 0 |
| 25, 40, 36 and 9 whole tickets | 12 (48 %), 34 (85 %), 27 (75 %), 5 (56 %) | 1, 0, 2, 0 |
| 53 and 26 reports: their line or title | 24 (45 %), 9 (35 %) | 1, 0 |
| the same, whole tickets | 38 (72 %), 15 (58 %) | |
| 45 and 19 reports about Podman, Docker, WSL and others: their titles | 8 (18 %), 5 (26 %) | 1, 0 |
| the same, whole tickets | 22 (49 %), 9 (47 %) | |
| 55, 30, 9 and 18 whole tickets | 39 (71 %), 24 (80 %), 4 (44 %), 14 (78 %) | 0 |
| 41 and 21 tickets or messages | 31 (76 %), 13 (62 %) | 1, 0 |
| 30 and 31 tickets or messages | 19 (63 %), 22 (71 %) | 0 |
| 30 and 38 tickets | 22 (73 %), 29 (76 %) | 0 |
| 35, 35 and 27 messages, events, titles | 25 (71 %), 26 (74 %), 12 (44 %) | 0 |
| 200 messages as people paste them, 32 of them no DNS error | of DNS 152 of 168 (90 %); of the others 18, 11 not known | 3 |
| 140 messages, events and listings, 79 of them no DNS error, 15 of those what tools print where all is well | of DNS 54 of 61 (89 %); of the others 24, 43 not known | 12 |

So of messages of programs two thirds to nine tenths are understood, of whole tickets some three quarters, of titles alone less than a half.
";

const INCIDENTS: &str = "## Reports of incidents

Texts of public reports, by kind of incident: what the author pasted, or, where that is no message, what was seen, in a few words. Counted is whether the cause that the
report or its maintainers found is among the four that are shown without `-v`, with the command that decides it and its fix.

On the first run that was so for 41 of 122 (34 %), with three wrong certainties; of the sets that were looked up after that, in the way of [real reports](#real-reports), for 43 of 79 (54 %), 17 of 28 (61 %),
12 of 28 (43 %) and 19 of 29 (66 %), with none. The pages were then extended by what these texts taught: this table is a regression test and no measure of texts to come.
";

#[test]
fn the_page_is_what_the_catalogue_says() {
    let catalogue = Catalogue::built_in();
    let mut page = START.to_owned();
    known(catalogue, &mut page);
    causes(catalogue, &mut page);
    of_incidents(catalogue, &mut page);
    of_reports(&mut page);
    let file = root().join("docs/messages.md");
    if std::env::var_os("KDNS_BLESS").is_some() {
        fs::write(&file, &page).unwrap();
    }
    let actual = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        actual == page,
        "docs/messages.md is stale: run KDNS_BLESS=1 cargo test --test why"
    );
}

fn known(catalogue: &Catalogue, page: &mut String) {
    let (messages, speakers) = (catalogue.messages.len(), speaker::ALL.len());
    writeln!(
        page,
        "## What is known\n\n{messages} messages of {speakers} speakers.\n"
    )
    .unwrap();
    *page += "| Message | Looks like | What it means |\n| --- | --- | --- |\n";
    for message in &catalogue.messages {
        let pattern = code(message.patterns[0].text);
        let meaning = text(&message.meaning);
        writeln!(page, "| {} | {pattern} | {meaning} |", message.id).unwrap();
    }
}

fn causes(catalogue: &Catalogue, page: &mut String) {
    *page += "\n## Causes\n\n| Cause | What is the case then |\n| --- | --- |\n";
    for cause in &catalogue.causes {
        writeln!(page, "| {} | {} |", cause.code, text(&cause.what)).unwrap();
    }
}

fn of_incidents(catalogue: &Catalogue, page: &mut String) {
    *page += "\n";
    *page += INCIDENTS;
    *page += "\n| Kind | On the first screen | With -v | Not |\n| --- | --- | --- | --- |\n";
    for (kind, count) in incidents::counts(catalogue) {
        let incidents::Count {
            first,
            later,
            missing,
        } = count;
        writeln!(page, "| {kind} | {first} | {later} | {missing} |").unwrap();
    }
    *page += "\n| Report | Text | kdns | The cause |\n| --- | --- | --- | --- |\n";
    for incident in incidents::all() {
        let (place, id) = incidents::place(catalogue, &incident);
        let report = report(&incident.address);
        let start = start(&incident.text);
        writeln!(page, "| {report} | {start} | {id} | {} |", place.words()).unwrap();
    }
}

fn of_reports(page: &mut String) {
    *page += "\n";
    *page += REPORTS;
    let answers = reports::answers();
    let right = answers.iter().filter(|it| it.1 == Answer::Right).count();
    writeln!(page, "\nToday {right} of {} are right.\n", answers.len()).unwrap();
    *page += "| Report | Message | kdns | |\n| --- | --- | --- | --- |\n";
    for (report, answer, id) in answers {
        let answer = format!("{answer:?}").to_lowercase();
        let (name, start) = (self::report(&report.address), start(&report.message));
        writeln!(page, "| {name} | {start} | {id} | {answer} |").unwrap();
    }
}

/// A link to a report: `[kubernetes/kubernetes#1](https://…)`.
fn report(address: &str) -> String {
    let name = address
        .trim_start_matches("https://github.com/")
        .replace("/issues/", "#")
        .replace("/pull/", "#");
    format!("[{name}]({address})")
}

/// The start of a message, as code.
fn start(message: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    let start: String = words.join(" ").chars().take(90).collect();
    code(start.trim_end())
}

/// Text in a table.
fn text(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

/// Code in a table, which may have backticks and bars in it.
fn code(code: &str) -> String {
    format!("`` {} ``", code.replace('|', "\\|"))
}
