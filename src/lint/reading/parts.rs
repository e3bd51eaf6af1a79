//! What can be read of templates.

use std::sync::Arc;

use super::Embedded;
use crate::config::{corefile, env_file, unit_file};
use crate::lint::document::Syntax;
use crate::lint::embedded::Layer;
use crate::lint::form::Form;
use crate::lint::{recognise, template};
use crate::text::{Source, Span};

/// What can be read of a template: its plain parts, and each of its conditions that
/// says something of DNS, as if it were met. Nothing, where it is none.
pub(super) fn parts_of(text: &Embedded) -> Vec<Embedded> {
    let whole = &text.source.bytes;
    let part = |bytes: Vec<u8>, condition: Option<Span>| {
        let layer = Layer::slice(Span::new(0, bytes.len())).fixed();
        let name = text.source.name.clone();
        Embedded {
            gaps: gaps_of(text, &bytes),
            source: Arc::new(Source { name, bytes }),
            layers: text.layers.within(layer),
            is_partial: true,
            condition: condition.map(|it| text.layers.outer(it)),
            ..text.clone()
        }
    };
    let plain = template::plain(whole).map(|it| part(it, text.condition));
    let is_wanted = |it: &[u8]| text.condition.is_none() && recognise::has_dns_setting(it);
    let ways = template::ways(whole, &is_wanted).into_iter();
    let ways = ways.map(|it| part(it.bytes, Some(it.inside)));
    plain.into_iter().chain(ways).collect()
}

/// A Corefile without the words in whose place `sed` puts something.
pub(super) fn filled_in(text: &Embedded) -> Embedded {
    let bytes = corefile::without_filled_in(&text.source.bytes);
    let name = text.source.name.clone();
    Embedded {
        is_partial: true,
        gaps: gaps_of(text, &bytes),
        source: Arc::new(Source { name, bytes }),
        ..text.clone()
    }
}

/// Where something of a text is left out in these bytes of it, as bytes of the file.
fn gaps_of(text: &Embedded, plain: &[u8]) -> Arc<[Span]> {
    let own = template::gaps(&text.source.bytes, plain);
    let own = own.into_iter().map(|it| text.layers.outer(it));
    text.gaps.iter().copied().chain(own).collect()
}

/// A unit or a file of variables, or what can be read of a template of one.
pub(super) fn units_of(text: &Embedded) -> Vec<Embedded> {
    let is_made = text.depth == 0 && recognise::made_of_template(&text.source.name).is_some();
    let mut parts = if is_made || text.is_open {
        parts_of(text)
    } else {
        Vec::new()
    };
    for part in &mut parts {
        let bytes = template::joined(&text.source.bytes, part.source.bytes.clone());
        let name = text.source.name.clone();
        part.source = Arc::new(Source { name, bytes });
    }
    if parts.is_empty() {
        parts.push(Embedded {
            is_partial: text.is_partial || is_made,
            ..text.clone()
        });
    }
    parts
}

/// A unit or a file of variables in its syntax.
pub(super) fn syntax(text: &Embedded, form: Form) -> Syntax {
    let bytes = &text.source.bytes;
    match form {
        Form::Unit => Syntax::Unit(unit_file::entries(bytes, 0)),
        _ => Syntax::Environment(env_file::variables(bytes, 0)),
    }
}
