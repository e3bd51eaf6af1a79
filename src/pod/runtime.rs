//! How the runtime writes what the kubelet hands to it.
//!
//! Source: containerd `parseDNSOptions`, CRI-O `ParseDNSOptions`, cri-dockerd
//! `rewriteResolvFile`.

use crate::pod::rules::{Rules, WhenEmpty};
use crate::pod::{Makers, PodError, PodFile, RuntimeKind, Seen, Word, WordOrigin, kubelet_file};

/// The file with its bytes.
pub(super) fn write(mut file: PodFile, makers: &Makers<'_>) -> Result<PodFile, PodError> {
    let runtime = makers.runtime;
    if let Some(most) = runtime.max_searches()
        && file.searches.len() > most
    {
        return Err(PodError::NotStarted(format!(
            "DNSOption.Searches has more than {most} domains (this version of {} takes no more)",
            runtime.kind.name()
        )));
    }
    let is_empty = file.servers.is_empty() && file.searches.is_empty() && file.options.is_empty();
    if is_empty {
        return without_words(file, makers);
    }
    file.bytes = text(&file, runtime.kind);
    Ok(file)
}

fn text(file: &PodFile, kind: RuntimeKind) -> Vec<u8> {
    let mut search = Vec::new();
    line(b"search", &file.searches, &mut search);
    let mut servers = Vec::new();
    for server in &file.servers {
        line(b"nameserver", std::slice::from_ref(server), &mut servers);
    }
    let mut options = Vec::new();
    line(b"options", &file.options, &mut options);
    match kind {
        RuntimeKind::Docker => [servers, search, options].concat(),
        RuntimeKind::Containerd | RuntimeKind::CriO => [search, servers, options].concat(),
    }
}

fn line(keyword: &[u8], words: &[Word], text: &mut Vec<u8>) {
    let Some((first, rest)) = words.split_first() else {
        return;
    };
    text.extend_from_slice(keyword);
    for word in std::iter::once(first).chain(rest) {
        text.push(b' ');
        text.extend_from_slice(&word.text);
    }
    text.push(b'\n');
}

/// The kubelet has handed over nothing.
fn without_words(mut file: PodFile, makers: &Makers<'_>) -> Result<PodFile, PodError> {
    let name = makers.runtime.kind.name();
    match makers.runtime.when_empty() {
        WhenEmpty::Empty => {
            file.remarks.push(format!(
                "the kubelet hands over no servers, searches and options, and {name} writes an \
                 empty file"
            ));
            Ok(file)
        }
        WhenEmpty::OwnFile => Err(PodError::Unknown {
            what: "the kubelet hands over no servers, searches and options, and Docker leaves the \
                   file that it made itself",
            why: "what that has depends on Docker's own settings".to_owned(),
        }),
        WhenEmpty::Copy => match makers.node_file {
            Seen::Read(conf) => {
                file.remarks.push(format!(
                    "the kubelet hands over no servers, searches and options, and {name} copies \
                     the node's own file"
                ));
                let copied = kubelet_file::read(conf, &Rules::of(None)).unwrap_or_default();
                file.servers = of_node_file(copied.servers);
                file.searches = of_node_file(copied.searches);
                file.options = of_node_file(copied.options);
                file.draws_options = false;
                file.bytes.clone_from(&conf.source.bytes);
                Ok(file)
            }
            Seen::Missing => Err(PodError::NotStarted(format!(
                "open /etc/resolv.conf: no such file or directory ({name} copies the node's own \
                 file when the kubelet hands over nothing)"
            ))),
            Seen::Unknown(why) => Err(PodError::Unknown {
                what: "the kubelet hands over no servers, searches and options, and the runtime \
                       copies the node's own /etc/resolv.conf",
                why: why.to_owned(),
            }),
        },
    }
}

fn of_node_file(mut words: Vec<Word>) -> Vec<Word> {
    for word in &mut words {
        if let WordOrigin::KubeletFile(place) = &word.origin {
            word.origin = WordOrigin::NodeFile(place.clone());
        }
    }
    words
}
