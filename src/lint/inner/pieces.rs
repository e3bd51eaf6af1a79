//! A text that is put together from values: what the values say keeps its
//! places.

use crate::config::yaml::Node;
use crate::lint::embedded::Layer;

/// A text in pieces.
#[derive(Clone, Debug)]
pub struct Pieces<'n> {
    whole: &'n Node,
    text: String,
    /// Where the text of each value begins.
    values: Vec<(usize, &'n Node)>,
}

impl<'n> Pieces<'n> {
    /// An empty text, made from the values in `whole`.
    pub fn of(whole: &'n Node) -> Self {
        Self {
            whole,
            text: String::new(),
            values: Vec::new(),
        }
    }

    /// Appends what stands nowhere.
    pub fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends what a scalar says; nothing for another value.
    pub fn scalar(&mut self, node: &'n Node) {
        let Some(scalar) = node.as_scalar() else {
            return;
        };
        self.values.push((self.text.len(), node));
        self.text.push_str(&scalar.text);
    }

    /// The text.
    pub fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// How it stands in the document whose bytes are `outer`.
    pub fn layer(&self, outer: &[u8]) -> Layer {
        let pieces = self.values.iter().filter_map(|&(start, node)| {
            let layer = Layer::of_scalar(outer, node)?;
            Some((start, layer))
        });
        Layer::of_pieces(self.whole.span, pieces)
    }
}
