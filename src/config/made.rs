//! What was made of a file once, for those who need it again and again.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A value of each type that somebody has made of a file: a lookup is played a
/// dozen times, and its files stay the same. Copies of the file share it.
#[derive(Clone, Default)]
pub struct Made(Arc<Mutex<Vec<Arc<dyn Any + Send + Sync>>>>);

impl Made {
    /// The value of this type, made now if there is none yet.
    pub fn once<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let found = self.all().iter().find(|it| (***it).is::<T>()).cloned();
        found.and_then(|it| it.downcast().ok()).unwrap_or_else(|| {
            let new = Arc::new(make());
            self.all().push(Arc::<T>::clone(&new));
            new
        })
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<dyn Any + Send + Sync>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Eq for Made {}

/// They follow from the file, and change nothing.
impl PartialEq for Made {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Made")
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_value_of_each_type_is_made_once() {
        let file = Made::default();
        let count = Cell::new(0);
        let make = || {
            count.set(count.get() + 1);
            7_u8
        };
        assert_eq!(*file.once(make), 7);
        let copy = file.clone();
        assert_eq!((*copy.once(make), *file.once(make)), (7, 7));
        assert_eq!(*file.once(|| "other"), "other");
        assert_eq!(count.get(), 1);
    }
}
