//! What was given of the cluster's DNS servers and of kube-proxy.

use crate::kubelet::Version;
use crate::lint::context::near::{Topic, agreed};
use crate::lint::context::{Context, Known, paths};
use crate::lint::document::{At, FileId};
use crate::lint::facts::{CorefileFacts, DnsPod, Network, Text};

impl<'w> Context<'w> {
    /// The version of CoreDNS: the one that was given, else that of the images
    /// of the DNS pods beside a file or below its directory, if they agree: those
    /// further away are of other clusters.
    pub fn coredns_version(&self, near: FileId) -> Option<Known<Version>> {
        if let Some(value) = self.options().coredns_version {
            return Some(Known { value, at: None });
        }
        let images = self.coredns_images(near).into_iter();
        let versions: Vec<(Version, At)> = images
            .filter_map(|it| Some((of_image(&it.text)?, it.at)))
            .collect();
        let (value, at) = *agreed(&versions.iter().collect::<Vec<_>>(), |it| it.0)?;
        let at = Some(at);
        Some(Known { value, at })
    }

    /// Where an image of the DNS pods beside a file stands that has a version which it
    /// does not tell, as it is filled in, or not alone (`true`): another has another one.
    pub fn untold_coredns(&self, near: FileId) -> Option<(At, bool)> {
        let has_version = |it: &&&Text| {
            let name = it.text.rsplit('/').next().unwrap_or_default();
            name.contains(':') && !name.ends_with(":latest")
        };
        let images = self.coredns_images(near);
        let image = images.iter().find(has_version)?;
        Some((image.at, of_image(&image.text).is_some()))
    }

    /// Where an image of a CoreDNS before `version` stands, in the nearest directory that
    /// tells any version, and none of another one: it can be the one that reads the file.
    pub fn older_coredns(&self, near: FileId, version: Version) -> Option<At> {
        let known = self.near(near, Topic::DnsPods, |it| {
            let images = it.dns_pods.iter().filter_map(|it| it.image.as_ref());
            let known = images.filter_map(|it| Some((of_image(&it.text)?, it.at)));
            known.collect()
        });
        let (_, at) = known.first()?;
        known.iter().all(|it| it.0 < version).then_some(*at)
    }

    /// The images of the DNS pods beside a file or below its directory.
    fn coredns_images(&self, near: FileId) -> Vec<&'w Text> {
        let directory = paths::parents(self.path(near)).next().unwrap_or_default();
        let pods: Vec<&DnsPod> = self.near(near, Topic::DnsPods, |it| it.dns_pods.iter().collect());
        let images = pods.iter().filter_map(|it| it.image.as_ref());
        let is_here = |it: &&Text| self.path(it.at.file).starts_with(directory);
        images.filter(is_here).collect()
    }

    /// The networks of the cluster: those of pods that were given, else what the
    /// files near a file say.
    pub fn networks(&self, near: FileId) -> Vec<Known<Network>> {
        let given = self.options().pod_cidr.iter();
        let given = given.map(|&(address, length)| Known {
            value: Network {
                address,
                length,
                is_of_services: false,
            },
            at: None,
        });
        let mut networks: Vec<Known<Network>> = given.collect();
        if networks.is_empty() {
            let own = paths::parents(self.path(near)).next().unwrap_or_default();
            // Files below other directories are of other clusters.
            let is_of_it = |it: &At| {
                let path = self.path(it.file);
                let directory = paths::parents(path).next().unwrap_or_default();
                path.starts_with(own) || own.starts_with(directory)
            };
            let mut near = self.near(near, Topic::Networks, |it| it.networks.iter().collect());
            near.retain(|it: &&(Network, At)| is_of_it(&it.1));
            networks.extend(near.into_iter().map(|&(value, at)| Known {
                value,
                at: Some(at),
            }));
        }
        networks
    }

    /// The Corefiles near one that begins at `own`, without itself: those of
    /// the same file, else those of the nearest others.
    pub fn other_corefiles(&self, near: FileId, own: At) -> Vec<&'w CorefileFacts> {
        self.near(near, Topic::Corefiles, |facts| {
            let others = facts.corefiles.iter();
            others.filter(|it| it.at != own).collect()
        })
    }

    /// Where it is said that kube-proxy works in IPVS mode, if all that is said
    /// of it near a file agrees.
    pub fn ipvs(&self, near: FileId) -> Option<At> {
        let modes = self.near(near, Topic::ProxyModes, |facts| {
            facts.proxy_modes.iter().collect()
        });
        let mode = agreed(&modes, |it| &it.text)?;
        (mode.text == "ipvs").then_some(mode.at)
    }
}

/// The version in the tag of an image: `registry.k8s.io/coredns/coredns:v1.11.1`. Those
/// before 1.0 had one number: `coredns/coredns:010`.
fn of_image(image: &str) -> Option<Version> {
    let name = image.split('@').next()?;
    let (name, tag) = name.rsplit_once(':')?;
    name.contains("coredns").then_some(())?;
    let before = || Some(Version::release(0, tag.strip_prefix('0')?.parse().ok()?, 0));
    Version::find(tag).or_else(before)
}

#[cfg(test)]
mod tests {
    use super::of_image;

    #[test]
    fn images_tell_versions() {
        for (image, expected) in [
            ("registry.k8s.io/coredns/coredns:v1.11.1", Some((11, 1))),
            ("coredns:1.9.3@sha256:00", Some((9, 3))),
            ("host:5000/eks/coredns:v1.8.7-eksbuild.3", Some((8, 7))),
            ("host:5000/coredns", None),
            ("coredns/coredns:latest", None),
            ("coredns/coredns:010", Some((10, 0))),
            ("registry.k8s.io/dns/k8s-dns-node-cache:1.22.28", None),
        ] {
            let found = of_image(image).map(|it| (it.minor, it.patch.unwrap()));
            assert_eq!(found, expected, "{image}");
        }
    }
}
