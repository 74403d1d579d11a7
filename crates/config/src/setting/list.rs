//! Lists.

use super::Scalar;
use crate::{
    Kind, Spanned,
    node::{Node, Value},
    problems::Problems,
    setting::Setting,
};

impl<T: Scalar> Setting for Vec<Spanned<T>> {
    const KIND: Kind = Kind::List(&T::KIND);

    fn read(node: &Node, key: &str, problems: &mut Problems) -> Option<Self> {
        let Value::List(items) = &node.value else {
            problems.unexpected(node, key, Self::KIND, &Self::KIND.how());
            return None;
        };
        // All items are read before one fails the list, so that all problems are reported.
        let items: Vec<_> = items.iter().map(|item| read_item(item, key, problems)).collect();
        items.into_iter().collect()
    }
}

fn read_item<T: Scalar>(item: &Node, key: &str, problems: &mut Problems) -> Option<Spanned<T>> {
    let value = <T as Setting>::read(item, key, problems)?;
    Some(problems.spanned(value, item))
}
