use crate::rules::nft::{Comparison, Set};
use crate::rules::rule::{Action, Match, Part, Rule};
use crate::rules::{Rules, View};
use crate::text::Source;

const NOWHERE: View = View {
    text: 0,
    start: 0,
    end: 0,
    line: 0,
};

/// Recorded from nftables 1.0.6: the text and the JSON of the same rules.
fn recorded() -> (Rules, Rules) {
    let text = include_bytes!("../../../../testdata/rules/statements.nft");
    let json = include_bytes!("../../../../testdata/rules/statements.json");
    (
        of_bytes("text", text.to_vec()),
        of_bytes("json", json.to_vec()),
    )
}

fn of_bytes(name: &str, bytes: Vec<u8>) -> Rules {
    let name = name.to_owned();
    Rules::parse(vec![Box::new(Source::new(name, bytes))]).unwrap()
}

/// A rule without where it stands and the words of what is not known.
fn bare(rule: Rule) -> Rule {
    let part = |it| match it {
        Part::If(mut test) => {
            test.what = match test.what {
                Match::Unknown(_) => Match::Unknown("".into()),
                Match::Compare(it) => Match::Compare(Box::new(Comparison {
                    words: "".into(),
                    ..*it
                })),
                other => other,
            };
            Part::If(test)
        }
        Part::Do(Action::Unknown(_)) => Part::Do(Action::Unknown("".into())),
        other @ Part::Do(_) => other,
    };
    Rule {
        view: NOWHERE,
        parts: rule.parts.into_iter().map(part).collect(),
        ..rule
    }
}

fn chain(rules: &Rules, table: usize, name: &str) -> Vec<Rule> {
    let rules = rules.rules(table, name).unwrap();
    rules.into_iter().map(bare).collect()
}

#[test]
fn a_listing_says_what_its_json_says() {
    let (text, json) = recorded();
    assert_eq!(text.tables.len(), json.tables.len());
    let mut seen = 0;
    for (index, (one, two)) in text.tables.iter().zip(&json.tables).enumerate() {
        assert_eq!((&one.name, one.family), (&two.name, two.family));
        let bases = |it: &crate::rules::table::Table| {
            let bare = |it: &crate::rules::table::Base| crate::rules::table::Base {
                view: NOWHERE,
                ..it.clone()
            };
            it.bases.iter().map(bare).collect::<Vec<_>>()
        };
        assert_eq!(bases(one), bases(two));
        for name in ["own", "pre", "post", "f", "raw", "out", "k", "odd-name_1.x"] {
            if one.chain(name).is_none() {
                assert!(two.chain(name).is_none());
                continue;
            }
            let (one, two) = (chain(&text, index, name), chain(&json, index, name));
            for (at, (one, two)) in one.iter().zip(&two).enumerate() {
                assert_eq!(one, two, "{name} {at}");
                seen += 1;
            }
            assert_eq!(one.len(), two.len(), "{name}");
        }
    }
    assert!(seen > 170, "{seen}");
    assert_eq!(text.notes, json.notes);
}

#[test]
fn sets_of_a_listing_are_those_of_its_json() {
    let (text, json) = recorded();
    let names = |it: &Rules| it.nft_sets.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&text), names(&json));
    let sets = |it: &Rules| {
        let set = |(table, name): &(usize, Box<str>)| it.nft_set(*table, name);
        it.nft_sets.keys().map(set).collect::<Vec<Option<Set>>>()
    };
    assert_eq!(sets(&text), sets(&json));
    assert!(sets(&text).iter().all(Option::is_some));
}

/// A stranger's rule can be of any depth and length: it is unknown then.
#[test]
fn a_rule_that_goes_deeper_than_any_ends() {
    for piece in [
        "( ",
        "(",
        "jhash ",
        "& 1 ",
        "xor 1 ",
        "xor 1 and 1 ",
        "1 . ",
        "ip saddr . ",
        "{ ",
    ] {
        for field in ["", "meta mark ", "meta mark set "] {
            let many = piece.repeat(10_000);
            let text =
                format!("table ip t {{\n\tchain own {{\n\t\t{field}{many}accept\n\t}}\n}}\n");
            let rules = of_bytes("text", text.into_bytes());
            let own = rules.rules(0, "own").unwrap_or_default();
            let is_unknown = |it: &Part| {
                let test = matches!(it, Part::If(test) if matches!(test.what, Match::Unknown(_)));
                test || matches!(it, Part::Do(Action::Unknown(_)))
            };
            let parts: Vec<&Part> = own.iter().flat_map(|it| &it.parts).collect();
            assert!(
                parts.is_empty() || parts.iter().any(|it| is_unknown(it)),
                "{field}{piece}: {} parts, {:?}",
                parts.len(),
                parts.first()
            );
        }
    }
}

/// iptables' own words for `CONNMARK --set-xmark 0x2/0xff`.
#[test]
fn xor_and_of_connmark_is_the_mask_first() {
    let parts = |action: &str| {
        let text = format!("table ip t {{\n\tchain own {{\n\t\tct mark set {action}\n\t}}\n}}\n");
        let rules = of_bytes("text", text.into_bytes());
        chain(&rules, 0, "own").pop().unwrap().parts
    };
    let masked_first = parts("(ct mark & 0xffffff00) ^ 0x2");
    assert_eq!(parts("ct mark xor 0x2 and 0xffffff00"), masked_first);
    assert_ne!(parts("ct mark ^ 0x2 & 0xffffff00"), masked_first);
}
