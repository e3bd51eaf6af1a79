//! The first look at a file: what it is, and what others must know of it.
//!
//! What is kept is small, whatever the number of files: their bytes and
//! documents up to a sum, and facts where another file can ask for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::config::yaml;
use crate::lint::document::{Documents, FileId};
use crate::lint::egress::LetOut;
use crate::lint::facts::Facts;
use crate::lint::form::Form;
use crate::lint::recognise;
use crate::lint::run::{Content, Input, Origin};
use crate::lint::workspace::File;
use crate::lint::{extract, reading, suppress};
use crate::text::{MAX_READ, Source};

/// So many bytes of files are kept between the first look and the second.
const MAX_KEPT: usize = 4 << 20;

/// Of so many bytes the documents themselves are kept: they are ten times as
/// large as their text.
const MAX_PARSED: usize = 1 << 20;

/// What the first look at a file leaves.
#[derive(Default)]
pub(super) struct Look {
    pub(super) file: File,
    /// Its bytes.
    pub(super) kept: Option<Arc<Source>>,
    /// Its documents.
    pub(super) found: Option<Box<Documents>>,
    pub(super) form: Option<Form>,
    /// Whether what cannot be parsed is said: somebody named it, or its name says
    /// what it is.
    pub(super) must_parse: bool,
    /// Whether there is nothing to look at twice.
    pub(super) is_done: bool,
    /// Whether it can have comments for kdns.
    pub(super) has_comments: bool,
    pub(super) unread: Option<Unread>,
    /// Whether its facts were left out, because only a file that names it asks
    /// for them: [`deferred_facts`].
    pub(super) is_deferred: bool,
}

/// How many bytes the looks keep together, so that it does not grow with the
/// number of files.
#[derive(Debug, Default)]
pub(super) struct KeptBytes {
    /// Of files whose bytes are kept.
    bytes: AtomicUsize,
    /// Of files whose documents are kept.
    parsed: AtomicUsize,
}

/// Looks at a file.
pub(super) fn first_look<I: Input>(number: FileId, input: &I, kept: &KeptBytes) -> Look {
    let mut look = Look::default();
    look.file.path = input.path();
    let path = Arc::clone(&look.file.path);
    let Content { source, is_cut } = match input.content() {
        Ok(content) => content,
        Err(reason) => {
            look.unread = Some(Unread::Refused(reason));
            look.is_done = true;
            return look;
        }
    };
    // What the caller names, or a node's files name, needs no name that tells it.
    let is_chosen = input.origin() != Origin::Found;
    look.form = recognise::form(&path, &source.bytes, is_chosen);
    look.must_parse = is_chosen || look.form != Some(Form::Yaml) || recognise::must_be_yaml(&path);
    if is_cut {
        let is_ours = look.form.is_some()
            || recognise::can_be_long(&path, &source.bytes)
                && input.any_piece(&recognise::has_subject);
        look.unread = is_ours.then(|| Unread::TooLarge(path.to_string()));
        look.is_done = true;
        return look;
    }
    let Some(form) = look.form else {
        look.is_done = true;
        return look;
    };
    if source.bytes.len() > MAX_DOCUMENT && !has_short_documents(form, &source.bytes) {
        look.unread = Some(Unread::TooLarge(path.to_string()));
        look.is_done = true;
        return look;
    }
    look.has_comments = suppress::is_possible(&source.bytes);
    look.is_deferred = form == Form::ResolvConf;
    let length = source.bytes.len();
    if recognise::can_have_facts(form, &source.bytes) {
        let found = reading::documents(number, &source, Some(form));
        let mut facts = extract::facts(&found);
        let is_open = !found.broken.is_empty() && recognise::has_dns_policy(&source.bytes);
        facts.let_out.extend(is_open.then(LetOut::anything));
        look.file.facts = facts.kept();
        look.is_done = found.documents.is_empty() && found.broken.is_empty();
        let is_kept = !look.is_done && takes(&kept.parsed, length, MAX_PARSED);
        look.found = is_kept.then(|| Box::new(found));
    }
    let is_kept = !look.is_done && takes(&kept.bytes, length, MAX_KEPT);
    look.kept = is_kept.then_some(source);
    look
}

/// A document, or a file of one, longer than this is not judged.
pub(super) const MAX_DOCUMENT: usize = MAX_READ;

/// Why nothing of a file, or of standard input, is judged.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Unread {
    /// It cannot be read: a sentence.
    #[error("{0}")]
    Refused(String),
    /// It is not read to its end; the path.
    #[error("cannot read {0}: it is longer than 1 MiB")]
    TooLarge(String),
}

impl Unread {
    /// What it is called in JSON. It is no rule's, so that nothing silences it.
    pub fn code(&self) -> Option<&'static str> {
        matches!(self, Self::TooLarge(_)).then_some("too-large")
    }
}

impl From<String> for Unread {
    fn from(sentence: String) -> Self {
        Self::Refused(sentence)
    }
}

/// Whether each document of a stream that says anything of ours can be judged.
fn has_short_documents(form: Form, bytes: &[u8]) -> bool {
    let mut parts = yaml::parts(bytes).into_iter().map(|it| it.slice(bytes));
    form == Form::Yaml
        && parts.all(|it| it.len() <= MAX_DOCUMENT || !recognise::is_wanted_long_document(it))
}

/// Whether `length` more bytes can be kept.
fn takes(sum: &AtomicUsize, length: usize, most: usize) -> bool {
    sum.load(Ordering::Relaxed) < most && sum.fetch_add(length, Ordering::Relaxed) + length <= most
}

/// Whether a file can name others in the syntax of resolv.conf, so that rules
/// ask for what they say.
pub(super) fn names_others(facts: &Facts) -> bool {
    !(facts.kubelets.is_empty() && facts.corefiles.is_empty() && facts.dns_pods.is_empty())
}

/// The facts of a file whose look left them out.
pub(super) fn deferred_facts<I: Input>(
    number: FileId,
    input: &I,
    look: &Look,
) -> Option<Box<Facts>> {
    if !look.is_deferred {
        return None;
    }
    let kept = look.kept.as_ref().map(Arc::clone);
    let source = kept.or_else(|| Some(input.content().ok()?.source))?;
    let found = reading::documents(number, &source, look.form);
    extract::facts(&found).kept()
}
