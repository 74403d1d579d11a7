//! The second reading, by a grammar.

use std::{cell::RefCell, ops::ControlFlow};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree, TreeCursor};

use super::Opaque;

/// How often the parser may report progress; a line of the greatest length does so a tenth as often.
const MAX_STEPS: usize = 20_000;

thread_local! {
    /// Making a parser costs more than most lines.
    static PARSER: RefCell<Option<Parser>> = RefCell::new(parser());
}

fn parser() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    Some(parser)
}

/// Where the grammar sees simple commands start. Only ASCII and no here-documents, please: its
/// scanner is written in C and looks up other characters where there is nothing.
pub(super) fn starts(line: &str) -> Result<Vec<usize>, Opaque> {
    let tree = PARSER.with_borrow_mut(|parser| tree(parser.as_mut()?, line));
    let Some(tree) = tree else { return Err(Opaque("it takes the grammar too long".to_owned())) };
    if tree.root_node().has_error() {
        return Err(Opaque("the grammar cannot read it".to_owned()));
    }
    let mut starts = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        starts.extend(start(node));
        // What backticks hold is unescaped first and read as a text of its own.
        let descends = !is_backtick(node, line) && cursor.goto_first_child();
        if !descends && !next(&mut cursor) {
            return Ok(starts);
        }
    }
}

/// The tree of `line`, unless it takes far longer than lines do.
fn tree(parser: &mut Parser, line: &str) -> Option<Tree> {
    let mut steps = 0_usize;
    let mut progress = |_: &ParseState| {
        steps += 1;
        if steps > MAX_STEPS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut text = |at: usize, _| line.as_bytes().get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut text, None, Some(options));
    if tree.is_none() {
        parser.reset();
    }
    tree
}

/// The next node that is not below this one; not recursive, because trees can be deep.
fn next(cursor: &mut TreeCursor<'_>) -> bool {
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}

fn start(node: Node<'_>) -> Option<usize> {
    match node.kind() {
        "command_name" | "declaration_command" | "unset_command" => Some(node.start_byte()),
        "test_command" => {
            let first = node.child(0)?;
            (first.kind() == "[").then(|| node.start_byte())
        }
        _ => None,
    }
}

fn is_backtick(node: Node<'_>, line: &str) -> bool {
    node.kind() == "command_substitution"
        && line.get(node.start_byte()..).is_some_and(|text| text.starts_with('`'))
}
