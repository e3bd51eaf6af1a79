//! A text that is put together from values: what the values say keeps its
//! places.

use crate::config::yaml::Node;
use crate::lint::embedded::Layer;

/// A text in pieces.
#[derive(Clone, Debug)]
pub struct Pieces<'n> {
    whole: &'n Node,
    text: String,
    /// Where the text of each value and key begins.
    parts: Vec<Piece<'n>>,
}

/// What stands in the document.
#[derive(Clone, Copy, Debug)]
struct Piece<'n> {
    start: usize,
    node: &'n Node,
    is_key: bool,
}

impl<'n> Pieces<'n> {
    /// An empty text, made from the values in `whole`.
    pub fn new(whole: &'n Node) -> Self {
        Self {
            whole,
            text: String::new(),
            parts: Vec::new(),
        }
    }

    /// Appends what stands nowhere.
    pub fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends what a scalar says; nothing for another value.
    pub fn scalar(&mut self, node: &'n Node) {
        self.piece(node, false);
    }

    /// Appends a key, whose text is not to be changed.
    pub fn key(&mut self, node: &'n Node) {
        self.piece(node, true);
    }

    fn piece(&mut self, node: &'n Node, is_key: bool) {
        let Some(scalar) = node.as_scalar() else {
            return;
        };
        let start = self.text.len();
        self.parts.push(Piece {
            start,
            node,
            is_key,
        });
        self.text.push_str(&scalar.text);
    }

    /// The text.
    pub fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// How it stands in the document whose bytes are `outer`.
    pub fn layer(&self, outer: &[u8]) -> Layer {
        let pieces = self.parts.iter().filter_map(|it| {
            let layer = Layer::of_scalar(outer, it.node)?;
            Some((it.start, if it.is_key { layer.fixed() } else { layer }))
        });
        Layer::of_pieces(self.whole.span, pieces)
    }
}
