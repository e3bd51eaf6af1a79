//! Texts that values of YAML and JSON, scripts and Terraform's files hold: which
//! value, what it is called, and how it is written there.
//!
//! The files of an Ignition or cloud-init file, the keys of a `ConfigMap`, the
//! patches of a kustomization, heredocs. What is written there as it is keeps its places;
//! what is encoded has that of the whole value.

pub mod ansible;
mod cloud_init;
mod command;
pub mod decode;
mod hcl;
pub mod heredoc;
mod ignition;
mod installer;
mod kubespray;
pub mod mime;
mod objects;
pub mod operations;
pub mod pieces;
mod printed;
pub mod provisioner;
mod resource;
mod talos;
pub mod terraform;

pub(super) use cloud_init::kubeadm_spec;
pub use objects::chart_values;
pub use talos::is_talos;

use crate::config::yaml::Node;
use crate::lint::form::Form;
use crate::lint::inner::pieces::Pieces;

/// A text inside a document.
#[derive(Clone, Debug)]
pub struct Inner<'n> {
    /// The path it is to have, or its key.
    pub path: String,
    /// How its bytes are found.
    pub content: Content<'n>,
    /// What it is, if that is said.
    pub form: Option<Form>,
    /// Whether the file has more than this.
    pub is_part: bool,
    /// Whether a tool puts something into it.
    pub is_open: bool,
    /// Whether a task writes it, on whatever machine.
    pub is_of_task: bool,
}

/// The bytes of a text inside a document.
#[derive(Clone, Debug)]
pub enum Content<'n> {
    /// What the scalar says.
    Scalar(&'n Node),
    /// What stands encoded in the scalar.
    Decoded(&'n Node, Vec<u8>),
    /// Put together from values.
    Made(Pieces<'n>),
}

/// The texts inside a document whose root is given, in file order.
pub fn texts(root: &Node) -> Vec<Inner<'_>> {
    let mut texts = objects::texts(root, 0);
    texts.extend(ignition::texts(root));
    texts.extend(cloud_init::texts(root));
    texts
}

impl<'n> Inner<'n> {
    /// The scalar as it is, if it is one and says anything.
    fn scalar(path: &str, node: &'n Node) -> Option<Self> {
        let is_text = node.as_scalar().is_some_and(|it| !it.text.is_empty());
        is_text.then(|| Self::new(path, Content::Scalar(node)))
    }

    /// What stands encoded in a scalar.
    fn decoded(path: &str, node: &'n Node, bytes: Vec<u8>) -> Self {
        Self::new(path, Content::Decoded(node, bytes))
    }

    /// What is put together.
    fn made(path: &str, pieces: Pieces<'n>, form: Form) -> Self {
        Self::new(path, Content::Made(pieces)).of_form(form)
    }

    fn new(path: &str, content: Content<'n>) -> Self {
        Self {
            path: path.to_owned(),
            content,
            form: None,
            is_part: false,
            is_open: false,
            is_of_task: false,
        }
    }

    fn of_form(self, form: Form) -> Self {
        Self {
            form: Some(form),
            ..self
        }
    }
}

/// Whether it is a text into which Ansible puts nothing.
pub(super) fn is_plain(node: &Node) -> bool {
    let is_open = |it: &str| it.contains("{{") || it.contains("{%");
    node.as_scalar().is_some_and(|it| !is_open(&it.text))
}

#[cfg(test)]
mod tests;
