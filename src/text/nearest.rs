//! Words like others.

/// The word that is most likely meant by one that is not among them: the one
/// with the fewest letters that differ, if these are few beside its length.
pub fn nearest<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let distances = words
        .into_iter()
        .map(|it| (strsim::osa_distance(word, it), it));
    let (distance, near) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance * 3 <= near.len().max(word.len())).then_some(near)
}
