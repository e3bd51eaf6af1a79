//! A Corefile in the manifest of a ConfigMap.

use crate::config::yaml::{self, Node, Style};
use crate::text::Source;

/// The Corefile of the first ConfigMap in `manifest` that has one, as a
/// source in which every line stands where it stands in the manifest. `None`:
/// there is none, or it is written in quotes, which would move its lines.
pub fn in_manifest(manifest: &Source) -> Option<Source> {
    let documents = yaml::documents(manifest);
    let roots = documents.iter().filter_map(|it| it.root.as_ref().ok());
    let corefile = roots.into_iter().find_map(of_config_map)?;
    let scalar = corefile.as_scalar()?;
    if scalar.style != Style::Block {
        return None;
    }
    let end = corefile.span.end as usize;
    let first = yaml::first_line_of_block(&manifest.bytes, corefile.span)?;
    let mut bytes: Vec<u8> = manifest.bytes.get(..first)?.to_vec();
    bytes.retain(|&byte| byte == b'\n');
    bytes.extend(manifest.bytes.get(first..end.max(first))?);
    Some(Source::new(manifest.name.clone(), bytes))
}

fn of_config_map(root: &Node) -> Option<&Node> {
    let kind = root.get("kind")?.as_scalar()?;
    let data = root.get("data").filter(|_| kind.text == "ConfigMap")?;
    data.get("Corefile")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::corefile::parse;

    fn check(manifest: &str, expected: Option<&str>) {
        let source = Source::new("f", manifest);
        let found = in_manifest(&source).map(|it| {
            let corefile = parse(it, &[]);
            let words = corefile.blocks.iter().flat_map(|it| &it.keys);
            let places: Vec<String> = words
                .map(|word| {
                    format!(
                        "{} {}",
                        word.text,
                        corefile.sources[word.at.source].place_of(word.at.span.start)
                    )
                })
                .collect();
            places.join(", ")
        });
        assert_eq!(found.as_deref(), expected, "{manifest}");
    }

    #[test]
    fn lines_stay_where_they_are() {
        check(
            "kind: Service\n---\nkind: ConfigMap\ndata:\n  Corefile: |\n    .:53 {\n        log\n    }\n    \
             x {\n    }\n  NodeHosts: a\n",
            Some(".:53 f:6:5, x f:9:5"),
        );
        check(
            "data:\n  Corefile: |\n    . {\n    }\nkind: ConfigMap\n",
            Some(". f:3:5"),
        );
        check(
            "data:\n  Corefile: !!str |\n    . {\n    }\nkind: ConfigMap\n",
            Some(". f:3:5"),
        );
        check(
            "data:\n  Corefile: |\n    . { # a: b|c\n    }\nkind: ConfigMap\n",
            Some(". f:3:5"),
        );
        check("kind: ConfigMap\ndata:\n  Corefile: \". {\\n}\"\n", None);
        check("kind: ConfigMap\ndata: []\n", None);
        check("", None);
        check("{", None);
    }
}
