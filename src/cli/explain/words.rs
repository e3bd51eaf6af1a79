//! The words of `--resolver`: ids, short names, and what people call them.

use crate::cli::streams::Streams;
use crate::render;
use crate::resolver::{self, Resolver};
use crate::text::escaped;
use crate::text::nearest::nearest;

/// The resolvers of a run without `--resolver`.
const DEFAULT: &[&str] = &["glibc", "musl", "go"];

/// Takes a word that names a resolver, or says what is near it.
pub(in crate::cli) fn parse(word: &str) -> Result<String, String> {
    let is_known = word == "all" || resolver::find(word).is_some();
    if is_known || resolver::alias(word).is_some() {
        return Ok(word.to_owned());
    }
    let shown = escaped(word.as_bytes());
    let lower = word.to_ascii_lowercase();
    if lower.starts_with("win") {
        return Err("there is no model of Windows: its resolver reads no resolv.conf".to_owned());
    }
    if lower.starts_with("uclibc") {
        return Err("there is no model of uClibc".to_owned());
    }
    if lower.starts_with("bionic") || lower.starts_with("android") {
        let why = "there is no model of bionic, Android's C library (Ubuntu 18.04 has glibc)";
        return Err(why.to_owned());
    }
    let known = std::iter::once("all").chain(resolver::names());
    // An image can have a tag.
    let bare = lower.split(':').next().unwrap_or_default();
    let near = nearest(bare, known.chain(resolver::aliases()));
    let hint = match near {
        Some(near) => format!("did you mean {near}?"),
        None => {
            "write glibc, musl, go, all, or another one of those in kdns explain --help".to_owned()
        }
    };
    Err(format!("no resolver is called `{shown}`; {hint}"))
}

fn ids() -> Vec<&'static str> {
    resolver::ALL.iter().map(|it| it.id).collect()
}

/// The help of `--resolver` with every word that it takes.
pub(super) fn help() -> String {
    let ids = ids();
    let short: Vec<&str> = resolver::names().skip(ids.len()).collect();
    let aliases: Vec<&str> = resolver::aliases().collect();
    format!(
        "Resolvers to explain: ids or short names, comma-separated, or all [default: the target's \
         own, else glibc,musl,go]\n\nIds: {}.\n\nShort names mean the newest version: {}.\n\n\
         Images, languages and programs give the one that they have: {}.",
        ids.join(", "),
        short.join(", "),
        aliases.join(", ")
    )
}

/// Says why a word that is no resolver's means the one that it does, and when
/// a daemon's own resolver is asked.
pub(super) fn tell(words: &[String], streams: &mut Streams<'_>) {
    for word in words {
        let alias = resolver::alias(word);
        if let Some(alias) = alias {
            let (resolver, why) = (alias.resolver, alias.why);
            streams.tell(format_args!("{word} is explained as {resolver}: {why}"));
        }
        let word = alias.map_or(word.as_str(), |it| it.resolver);
        if let Some((resolver, likeness)) = resolver::stands_for(word) {
            let how_well = render::resolver::likeness(likeness);
            if resolver.id == word {
                streams.tell(format_args!("{word}: {how_well}"));
            } else {
                let id = resolver.id;
                streams.tell(format_args!("{word} is explained as {id}: {how_well}"));
            }
        }
        if let Some(condition) = resolver::find(word).and_then(Resolver::condition) {
            streams.tell(format_args!("{word} is explained for {condition}"));
        }
    }
}

/// The resolvers of these words, in the order given, each once; without words
/// the target's own. A family's name is that of the version the target has.
pub(super) fn resolvers(
    words: &[String],
    own: Option<&'static str>,
    versions: &[&'static str],
) -> Vec<&'static Resolver> {
    let mut found: Vec<&'static Resolver> = Vec::new();
    let given = words.iter().map(String::as_str);
    let words: Vec<&str> = match own {
        _ if !words.is_empty() => given.collect(),
        Some(own) => vec![own],
        None => DEFAULT.to_vec(),
    };
    for word in words {
        let word = resolver::alias(word).map_or(word, |it| it.resolver);
        let named = resolver::usual()
            .filter(|_| word == "all")
            .chain(resolver::find_among(word, versions));
        for resolver in named {
            if !found.iter().any(|other| other.id == resolver.id) {
                found.push(resolver);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn what_has_no_model_is_not_taken_for_its_neighbour() {
        for word in ["uclibc", "uClibc-ng", "bionic", "Android", "windows"] {
            let error = parse(word).unwrap_err();
            assert!(error.starts_with("there is no model of"), "{error}");
        }
        assert!(parse("glibc").is_ok());
    }
}
