//! `EndpointSlices` of the cluster's DNS Service, as kubectl lists, describes and prints
//! them.

use super::kubectl::{SERVICES, rows};
use crate::node::dns_pod::DNS_NAMESPACES;
use crate::node::workload::is_random;

/// The label that says of which Service a slice is.
const LABEL: &str = "kubernetes.io/service-name";

/// The slices that a text shows.
#[derive(Debug, Default)]
pub(super) struct Slices {
    all: Vec<Slice>,
}

#[derive(Debug, Default)]
struct Slice {
    /// Whether it is a slice at all, as far as the text says.
    is_told: bool,
    is_dns: bool,
    /// Whether it is in another namespace than the cluster's DNS.
    is_elsewhere: bool,
    /// What of it the next line can be of.
    part: Part,
    endpoints: usize,
    unready: usize,
    /// How many still answer while they end.
    serving: usize,
    /// Whether it has endpoints of which it is not said whether they are ready.
    is_open: bool,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Part {
    /// All that stands up to the kind, as keys are sorted.
    #[default]
    Endpoints,
    /// What stands behind the kind: labels, the namespace, the owner.
    Metadata,
    /// What follows is said of something else.
    Over,
}

impl Slices {
    /// Takes a line. True: it is a row, which says all of its slice.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_row = rows(&words).any(|it| self.row(it));
        if !is_row {
            self.see(line.trim().trim_start_matches("- "));
        }
        is_row
    }

    /// `kube-dns-8bvjp IPv4 53,9153,53 10.244.0.2,10.244.0.3 16d`, `<unset>` if it has none;
    /// endpoints that are not ready are listed, too.
    fn row(&mut self, row: &[&str]) -> bool {
        let [name, "IPv4" | "IPv6", _, endpoints, ..] = *row else {
            return false;
        };
        let name = name.rsplit('/').next().unwrap_or_default();
        let (service, own) = name.rsplit_once('-').unwrap_or_default();
        let is_dns = SERVICES.contains(&service) && is_random(own, 5..=5);
        if is_dns {
            self.all.push(Slice {
                is_told: true,
                is_dns,
                part: Part::Over,
                is_open: !["<unset>", "<none>"].contains(&endpoints),
                ..Slice::default()
            });
        }
        is_dns
    }

    /// A line of what `kubectl describe` says, or of YAML or JSON.
    fn see(&mut self, line: &str) {
        // JSON quotes its words, `describe` writes labels as `key=value`.
        let is_mark = |it: char| matches!(it, '"' | ',' | ' ');
        let Some((key, value)) = line.split_once(':') else {
            if line == "---" {
                self.all.push(Slice::default());
            }
            return self.label(line);
        };
        let (key, value) = (key.trim_matches(is_mark), value.trim_matches(is_mark));
        if matches!(key, "Name" | "addressType") {
            // Those of other Services say nothing.
            self.all.pop_if(|it| !it.is_dns);
            self.all.push(Slice::default());
        }
        match key {
            "Labels" => self.label(value),
            LABEL => self.label(&format!("{LABEL}={value}")),
            _ => {}
        }
        let Some(slice) = self.current() else {
            return;
        };
        match (key, value) {
            ("namespace" | "Namespace", _) => {
                slice.is_elsewhere |= !DNS_NAMESPACES.contains(&value);
            }
            // Of another object, or the owner's.
            ("kind", _) if slice.part == Part::Metadata => slice.part = Part::Over,
            ("kind", "EndpointSlice") => (slice.is_told, slice.part) = (true, Part::Metadata),
            ("Events", _) => slice.part = Part::Over,
            _ if slice.part == Part::Metadata => {}
            ("AddressType", _) => slice.is_told = true,
            ("addresses" | "Addresses", _) => slice.endpoints += 1,
            ("ready" | "Ready", "false") => slice.unready += 1,
            ("serving" | "Serving", "true") => slice.serving += 1,
            _ => {}
        }
    }

    /// The slice of which the next line can be.
    fn current(&mut self) -> Option<&mut Slice> {
        self.all.last_mut().filter(|it| it.part != Part::Over)
    }

    fn label(&mut self, label: &str) {
        let service = label.trim().strip_prefix(LABEL);
        let service = service.and_then(|it| it.strip_prefix('='));
        if let (Some(service), Some(slice)) = (service, self.current()) {
            slice.is_dns = SERVICES.contains(&service);
        }
    }

    /// Whether the DNS Service has a ready endpoint; `None`: it is not told.
    pub(super) fn are_ready(&self) -> Option<bool> {
        let its = self
            .all
            .iter()
            .filter(|it| it.is_told && it.is_dns && !it.is_elsewhere);
        let ready = its.map(|it| {
            let is_any = it.endpoints > it.unready;
            (!it.is_open && (is_any || it.serving == 0)).then_some(is_any)
        });
        ready.reduce(|one, other| match (one, other) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        })?
    }
}
